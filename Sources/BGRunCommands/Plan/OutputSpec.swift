import ImageCodecs
import ImageExport

/// One output of every input, as the command line describes it.
struct OutputSpec: Hashable, Sendable {
    var settings = OutputSettings()
    /// Template of the path below the output folder; nil is the default for the number of outputs.
    var name: String?
    /// What is said about a text on top, whatever comes first; see ``complete()``.
    var text = TextParts()

    /// What a command line got wrong, one sentence.
    struct Mistake: Error, Hashable, CustomStringConvertible {
        var description: String
        /// There is no option of the name that was given.
        var namesNoOption = false
    }

    /// Reads `key=value,key=value` over these settings, which are the defaults. Operations and presets are a chain, in which one
    /// may come again.
    func applying(_ text: String) throws(Mistake) -> OutputSpec {
        var spec = self
        var seen: Set<String> = []
        for (index, part) in Self.parts(of: text).enumerated() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard seen.insert(pair[0]).inserted || pair[0] == "preset" || Self.operationNames.contains(pair[0]) else {
                throw Mistake(description: "\(pair[0]) is given twice in \"\(text)\"")
            }
            do throws(Mistake) {
                try spec.set(pair[0], to: pair.count > 1 ? pair[1] : nil)
            } catch {
                guard error.namesNoOption, index > 0 else { throw error }
                throw Mistake(description: error.description + #"; a comma within a value is written \,"#)
            }
        }
        spec.leaveOutDefaults(beside: seen)
        return spec
    }

    /// What commas divide; `metadata=-gps,-camera` is one part. After a backslash a comma, or another backslash, is one of a value.
    private static func parts(of text: String) -> [String] {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if isEscaped {
                parts[parts.count - 1] += character == "," || character == "\\" ? "\(character)" : "\\\(character)"
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "," {
                parts.append("")
            } else if parts[parts.count - 1].isEmpty, "+-".contains(character), parts.count > 1 {
                parts.removeLast()
                parts[parts.count - 1] += ",\(character)"
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        if isEscaped { parts[parts.count - 1] += "\\" }
        return parts.filter { !$0.isEmpty }
    }

    /// Sets one option by the name of its flag; a flag without a value is set by nil.
    mutating func set(_ key: String, to value: String?) throws(Mistake) {
        switch key {
        case "name": name = try required(key, value)
        case "size": settings.size = try Self.size(required(key, value))
        case "gravity": settings.gravity = try Self.placement(key, required(key, value))
        case "max-bytes":
            guard let count = ByteCount(argument: try required(key, value)) else {
                throw Mistake(description: "max-bytes is a size as 500k or 2M, not \"\(value ?? "")\"")
            }
            settings.maxBytes = count.bytes
        case "format": settings.format = try Self.format(required(key, value))
        case "quality": settings.quality = try Self.number(key, required(key, value), in: 1...100)
        case "bits":
            let bits = try Self.number(key, required(key, value), in: 8...16)
            guard [8, 10, 16].contains(bits) else { throw Mistake(description: "bits is 8, 10 or 16, not \(bits)") }
            settings.bitsPerChannel = bits
        case "color": settings.colorSpace = try Self.choice(key, required(key, value))
        case "metadata": settings.metadata = try Self.selection(required(key, value))
        case "no-gain-map": settings.leavesOutGainMap = try flag(key, value) ? true : nil
        case "artist": settings.artist = try Self.text(key, required(key, value))
        case "copyright": settings.copyright = try Self.text(key, required(key, value))
        case "watermark": settings.pictureMark = try Self.pictureMark(required(key, value))
        case "watermark-text": text.text = try Self.markText(required(key, value))
        case "text-style": text.style = try Self.markStyle(key, required(key, value), from: .text)
        case "text-color": text.color = try Self.color(key, required(key, value))
        case "font": text.font = try required(key, value)
        case "sharpen": settings.sharpening = try Self.sharpening(required(key, value))
        case "matte": settings.matte = try Self.color(key, required(key, value))
        case "crop": settings.crop = try Self.crop(required(key, value))
        case "rotate": (settings.turns, settings.straighten) = try Self.rotation(required(key, value))
        case "border": settings.border = try Self.border(required(key, value))
        case "enlarge": settings.enlarge = try flag(key, value)
        case "linear": settings.linearLight = try flag(key, value)
        case "exact": settings.exact = try flag(key, value)
        case "lossless": settings.lossless = try flag(key, value)
        case "optimize": settings.optimize = try flag(key, value)
        case "progressive": settings.progressive = try flag(key, value)
        case "444": settings.fullChroma = try flag(key, value)
        case "raw": settings.raw = try Self.choice(key, required(key, value))
        case "preset":
            settings.operations = (settings.operations ?? []) + (try OperationPreset.read(required(key, value)))
        case _ where Self.operationNames.contains(key):
            let text = try required(key, value)
            if let operation = try Self.operation(key, text) {
                settings.operations = (settings.operations ?? []) + [operation]
            }
        default: throw Mistake(description: "there is no output option \"\(key)\"", namesNoOption: true)
        }
    }

    /// Leaves out defaults that an output of its format, size or text cannot have.
    ///
    /// - Parameter own: Options that were given for this very output: they are meant, and refused where they do not fit.
    mutating func leaveOutDefaults(beside own: Set<String>) {
        if let format = settings.format {
            if !own.contains("quality"), format.defaultQuality == nil { settings.quality = nil }
            if !own.contains("bits"), need(for: format) != nil { settings.bitsPerChannel = nil }
            if !own.contains("lossless"), !format.canBeLossless { settings.lossless = false }
            if !own.contains("max-bytes"), !format.hasQuality { settings.maxBytes = nil }
        }
        if settings.maxBytes != nil, settings.lossless, own.contains("max-bytes") != own.contains("lossless") {
            if own.contains("lossless") { settings.maxBytes = nil } else { settings.lossless = false }
        }
        if !own.contains("gravity"), !settings.size.cuts { settings.gravity = nil }
        if text.text == nil, own.isDisjoint(with: ["font", "text-style", "text-color"]) { text = TextParts() }
    }

    /// Which settings exclude each other, one sentence; nil when they fit.
    var contradiction: String? {
        if settings.maxBytes != nil {
            if settings.lossless { return "max-bytes needs a quality to lower; leave out lossless" }
            if let format = settings.format, !format.hasQuality {
                return "max-bytes needs a format with a quality, as jpeg and webp have, not \(format.rawValue)"
            }
        }
        if text.text == nil, text != TextParts() { return "font, text-style and text-color go with watermark-text" }
        if settings.gravity != nil, !settings.size.cuts { return "gravity goes with the size fill:WxH" }
        guard let format = settings.format else { return nil }
        if let need = need(for: format) { return "\(need), not \(format.rawValue)" }
        if settings.lossless && !format.canBeLossless {
            return "\(format.rawValue) cannot be lossless; use webp or png"
        }
        if settings.quality != nil && format.defaultQuality == nil {
            return "\(format.rawValue) has no quality; leave it out"
        }
        return nil
    }

    /// Which formats have the bits that are asked for, where this one has not.
    func need(for format: ImageFormat) -> String? {
        guard let bits = settings.bitsPerChannel, !format.writtenBits.contains(bits) else { return nil }
        let fitting = ImageFormat.allCases.filter { $0.writtenBits.contains(bits) }
        return "\(bits) bits need format \(Self.listed(fitting))"
    }

    private static func listed(_ formats: [ImageFormat]) -> String {
        let names = formats.map(\.rawValue)
        return names.count < 2
            ? names.joined() : names.dropLast().joined(separator: ", ") + " or \(names[names.count - 1])"
    }

    /// What `{size}` stands for.
    var sizeLabel: String {
        switch settings.size {
        case .original: "original"
        case .longEdge(let length): "\(length)"
        case .fit(let width, let height), .fill(let width, let height): "\(width)x\(height)"
        case .megapixels(let millions): (millions == millions.rounded() ? "\(Int(millions))" : "\(millions)") + "mp"
        }
    }

    private func required(_ key: String, _ value: String?) throws(Mistake) -> String {
        guard let value, !value.isEmpty else { throw Mistake(description: "\(key) needs a value") }
        return value
    }

    private func flag(_ key: String, _ value: String?) throws(Mistake) -> Bool {
        switch value {
        case nil, "true", "yes": return true
        case "false", "no": return false
        default: throw Mistake(description: "\(key) is true or false, not \"\(value ?? "")\"")
        }
    }
}

extension OutputSpec {
    /// Longest edge anyone may ask for, in pixels; what the output formats can hold is checked by their codecs.
    private static let maxEdge = 100_000

    static func size(_ text: String) throws(Mistake) -> OutputSize {
        if text == "original" { return .original }
        let count = text.hasPrefix("megapixels:") ? text.dropFirst(11) : text.hasSuffix("mp") ? text.dropLast(2) : nil
        if let count {
            guard let millions = Double(count), (0.000_1...10_000).contains(millions) else {
                throw Mistake(description: "megapixels are a number such as 2 or 0.5, not \"\(count)\"")
            }
            return .megapixels(millions)
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 1 || parts[0] == "long" {
            return .longEdge(try number("size", parts[parts.count - 1], in: 1...maxEdge))
        }
        let edges = parts[1].split(separator: "x", omittingEmptySubsequences: false).map(String.init)
        guard ["fit", "fill"].contains(parts[0]), edges.count == 2 else {
            throw Mistake(
                description: "a size is 2048, long:2048, fit:1920x1080, fill:800x800, 2mp or original, not \"\(text)\"")
        }
        let width = try number("size", edges[0], in: 1...maxEdge)
        let height = try number("size", edges[1], in: 1...maxEdge)
        return parts[0] == "fit" ? .fit(width: width, height: height) : .fill(width: width, height: height)
    }

    /// A place by its name, or by fractions of width and height.
    static func placement(_ key: String, _ text: String) throws(Mistake) -> Placement {
        if let place = Placement.names[text] { return place }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let x = parts[0], let y = parts[1], (0...1).contains(x), (0...1).contains(y) else {
            throw Mistake(
                description: "\(key) is top, bottom-left, center and the like, or fractions as 0.5/0.3, not \"\(text)\""
            )
        }
        return Placement(x: x, y: y)
    }

    static func format(_ text: String) throws(Mistake) -> ImageFormat {
        switch text.lowercased() {
        case "jpeg", "jpg": return .jpeg
        case "tif": return .tiff
        default: break
        }
        let written = ImageFormat.allCases.filter(\.isWritten)
        guard let format = ImageFormat(rawValue: text.lowercased()), written.contains(format) else {
            throw Mistake(description: "an output format is \(listed(written)), not \"\(text)\"")
        }
        return format
    }

    static func sharpening(_ text: String) throws(Mistake) -> Sharpening {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count <= 2, let amount = parts[0], (0...5).contains(amount),
            let sigma = parts.count == 2 ? parts[1] : 1.0, (0.3...3).contains(sigma)
        else {
            throw Mistake(
                description:
                    "sharpening is an amount of 0 to 5, or amount:sigma with a sigma of 0.3 to 3, not \"\(text)\"")
        }
        return Sharpening(amount: amount, sigma: sigma)
    }

    static func color(_ key: String, _ text: String) throws(Mistake) -> [UInt8] {
        let digits = text.hasPrefix("#") ? String(text.dropFirst()) : text
        guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
            throw Mistake(description: "\(key) is six hexadecimal digits RRGGBB, not \"\(text)\"")
        }
        return [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    static func number(_ key: String, _ text: String, in range: ClosedRange<Int>) throws(Mistake) -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw Mistake(
                description: "\(key) is a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
        }
        return value
    }

    private static func choice<T: RawRepresentable<String> & CaseIterable>(
        _ key: String, _ text: String
    ) throws(Mistake) -> T {
        guard let value = T(rawValue: text) else {
            let all = T.allCases.map(\.rawValue).joined(separator: " or ")
            throw Mistake(description: "\(key) is \(all), not \"\(text)\"")
        }
        return value
    }
}
