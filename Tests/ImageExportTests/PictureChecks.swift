import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import RandomPictures
import SeededNumbers

/// What has to hold of any picture exported with any settings; what does not is told in sentences.
final class PictureChecks {
    /// Files lie in memory where the system has such a folder: their flushing is not what is tested.
    private let folder: String
    private let exporter = ImageExporter()
    private let opencl: LaneChoice?
    private var count = 0

    /// Every value of the picture's file stays in a vicinity of the other's.
    struct Tolerance {
        /// Levels of 255.
        var worst: Double
        /// Share of samples that may be farther off.
        var share = 0.0
    }

    /// - Parameter opencl: A device that has to give the same as the CPU.
    /// - Throws: Where there is no place for files.
    init(opencl: LaneChoice?) throws {
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
        folder = parent + "/bgrun-pictures-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.opencl = opencl
    }

    deinit {
        // What cannot be removed is left to the system.
        _ = try? FileManager.default.removeItem(atPath: folder)
    }

    /// A picture, its settings, and the checks that its seed chooses.
    ///
    /// - Returns: What does not hold.
    func check(seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed ^ 0x5EED)
        let picture = RandomPicture(seed: seed)
        let options = RandomOptions(seed: seed &+ 1, width: picture.width, height: picture.height)
        var wrong = try promises(picture, options.settings)
        for _ in 0..<3 {
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                wrong += try anotherExporter(picture, options.settings, rows: Int.random(in: 1...40, using: &random))
            case 1, 2: wrong += try otherOutputs(picture, options.settings, seed: random.next())
            case 3: wrong += try tagsAndPixels(picture, seed: random.next())
            case 4: wrong += try alphaWithoutClearParts(picture, seed: random.next())
            case 5: wrong += try grayAsColours(picture, seed: random.next())
            case 6: wrong += try neutralLooks(picture, options.settings, &random)
            case 7: wrong += try cropBefore(picture, seed: random.next())
            default: wrong += try device(picture, seed: random.next())
            }
        }
        return wrong.map { "seed \(seed), \(picture), \(options.arguments.joined(separator: " ")): \($0)" }
    }

    // MARK: What is checked

    /// What a picture whose export is good may be relied on for.
    private func promises(_ picture: RandomPicture, _ wanted: OutputSettings) throws -> [String] {
        let input = try write(picture)
        defer { remove(input) }
        let header = try Self.header(input)
        let result = export(input, [wanted])
        defer { for output in result.outputs { remove(output.path) } }
        let geometry = try? OutputGeometry(
            width: header.width, height: header.height,
            orientation: Orientation(header.orientation).turned(wanted.turns ?? 0), size: wanted.size,
            enlarge: wanted.enlarge, straighten: wanted.straighten, crop: wanted.crop,
            gravity: wanted.gravity ?? .center)
        let format = wanted.format ?? (header.format.isKeptByDefault ? header.format : .jpeg)
        guard result.status == .good else {
            let code = result.failure?.code ?? "none"
            let isMeant =
                code == "crop" && geometry == nil || code == "tooLarge" && wanted.maxBytes != nil
            return isMeant ? [] : ["\(result.status), \(code): \(result.failure?.reason ?? "")"]
        }
        guard let output = result.outputs.first, let geometry else { return ["good without an output"] }
        let data = try Data(contentsOf: URL(fileURLWithPath: output.path))
        let made = try Decoded(output.path)
        let border = 2 * (wanted.border?.pixels ?? 0)
        var wrong: [String] = []
        func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) { if !holds { wrong.append(sentence()) } }
        expect(made.damage.isEmpty, "the output is damaged: \(made.damage)")
        expect(made.header.format == format, "the output is \(made.header.format)")
        expect(made.header.orientation == 1, "the output has the orientation \(made.header.orientation)")
        expect(
            made.width == geometry.uprightWidth + border && made.height == geometry.uprightHeight + border,
            "the output is \(made.width)x\(made.height), not \(geometry.uprightWidth)x\(geometry.uprightHeight)")
        expect(
            output.width == made.width && output.height == made.height && output.bytes == data.count,
            "the report has another size")
        expect(
            data.withUnsafeBytes { Checksum.xxh3($0) } == output.checksum, "the report has another checksum")
        expect(data.count <= wanted.maxBytes ?? .max, "the output has \(data.count) bytes")
        let bits = wanted.bitsPerChannel ?? (header.bitsPerChannel > 8 ? format.writtenBits.last ?? 8 : 8)
        expect(made.header.bitsPerChannel == bits, "the output has \(made.header.bitsPerChannel) bits")
        let profile: [UInt8]? =
            switch wanted.colorSpace {
            case .srgb: picture.profile == .none ? nil : BuiltInProfile.sRGB.bytes
            case .displayP3: BuiltInProfile.displayP3.bytes
            case .keep: picture.profile.icc
            }
        expect(made.header.metadata.icc == profile, "the output has another profile")
        if picture.isFlat, picture.isOpaque, wanted.operations == nil, wanted.colorSpace == .keep, wanted.border == nil,
            format == .png || format == .tiff, picture.format != .jpeg
        {
            let scale = made.header.bitsPerChannel == 16 ? 1.0 : 257
            let worst = made.samples.indices.reduce(0.0) { worst, i in
                i % 4 == 3 ? worst : max(worst, abs(made.samples[i] * scale - Double(picture.pixels[i % 4])))
            }
            // A curve of light and back is exact to a level of 8 bits.
            expect(worst <= 257, "one colour became others, \(worst / 257) levels off")
        }
        return wrong
    }

    /// The same bytes, whatever the exporter did before, and however many rows it does at once.
    private func anotherExporter(_ picture: RandomPicture, _ wanted: OutputSettings, rows: Int) throws -> [String] {
        let input = try write(picture)
        defer { remove(input) }
        let first = try bytes(input, [wanted])
        let second = try bytes(input, [wanted], ImageExporter(chunkRows: rows))
        return first == second ? [] : ["other bytes with \(rows) rows at once"]
    }

    /// The same bytes, whichever outputs are made with it, and in whatever order.
    private func otherOutputs(_ picture: RandomPicture, _ wanted: OutputSettings, seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let input = try write(picture)
        defer { remove(input) }
        var all = [wanted]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            all.append(RandomOptions(seed: random.next(), width: picture.width, height: picture.height).settings)
        }
        let alone = try all.map { try bytes(input, [$0])[0] }
        let order = all.indices.shuffled(using: &random)
        let together = try bytes(input, order.map { all[$0] })
        return order.indices.filter { together[$0] != alone[order[$0]] }.map { place in
            "output \(place) of \(order.count) has other bytes than alone"
        }
    }

    /// The same pixels, whether they lie upright in the file or it says how they are turned.
    private func tagsAndPixels(_ picture: RandomPicture, seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let upright = picture.with {
            $0.format = .tiff
            $0.orientation = 1
        }
        let turned = upright.with { $0.orientation = Int.random(in: 2...8, using: &random) }
        let wanted = compared(picture, seed: random.next())
        return try compare(
            upright, turned, wanted, tolerance(wanted, picture, isExact: false),
            "stored with the orientation \(turned.orientation), \(told(wanted))")
    }

    /// The same pixels with an alpha channel in which nothing is clear and without one.
    private func alphaWithoutClearParts(_ picture: RandomPicture, seed: UInt64) throws -> [String] {
        let opaque = picture.with {
            $0.format = .png
            $0.alpha = .none
            for i in stride(from: 3, to: $0.pixels.count, by: 4) { $0.pixels[i] = 65535 }
        }
        let wanted = compared(picture, seed: seed)
        return try compare(
            opaque, opaque.with { $0.alpha = .full }, wanted, tolerance(wanted, picture, isExact: false),
            "with an alpha channel, \(told(wanted))")
    }

    /// The same pixels in one channel and in three equal ones.
    private func grayAsColours(_ picture: RandomPicture, seed: UInt64) throws -> [String] {
        let gray = picture.with {
            $0.format = .png
            $0.isGray = true
            $0.profile = .none
            for i in stride(from: 0, to: $0.pixels.count, by: 4) {
                ($0.pixels[i + 1], $0.pixels[i + 2]) = ($0.pixels[i], $0.pixels[i])
            }
        }
        let wanted = compared(picture, seed: seed)
        return try compare(
            gray, gray.with { $0.isGray = false }, wanted, Tolerance(worst: 0),
            "with three equal channels, \(told(wanted))")
    }

    /// The same bytes with looks that change nothing.
    private func neutralLooks(
        _ picture: RandomPicture, _ wanted: OutputSettings, _ random: inout SeededGenerator
    ) throws -> [String] {
        var neutral: [ImageOperation] = [
            .exposure(0), .contrast(0), .saturation(0), .whiteBalance(WhiteBalance(temperature: 0, tint: 0)),
            .denoise(Denoising(luma: 0, chroma: 0)), .localContrast(LocalContrast(amount: 0, reach: 1)),
            .deconvolve(Deconvolution(amount: 0, sigma: 1, rounds: 2)), .grain(Grain(amount: 0, size: 1, seed: 1)),
        ]
        neutral += ToneCurve([.init(0, 0), .init(0.25, 0.25), .init(1, 1)]).map { [.curve($0)] } ?? []
        var more = wanted
        var operations = wanted.operations ?? []
        for operation in neutral where Bool.random(using: &random) {
            operations.insert(operation, at: Int.random(in: 0...operations.count, using: &random))
        }
        more.operations = operations
        if more.sharpening == nil { more.sharpening = Sharpening(amount: 0, sigma: 1) }
        let input = try write(picture)
        defer { remove(input) }
        return try bytes(input, [wanted]) == bytes(input, [more]) ? [] : ["other bytes with looks that change nothing"]
    }

    /// A crop gives the same as a picture without what it cuts off.
    private func cropBefore(_ picture: RandomPicture, seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let (width, height) = (
            Int.random(in: 1...picture.width, using: &random), Int.random(in: 1...picture.height, using: &random)
        )
        let (x, y) = (
            Int.random(in: 0...picture.width - width, using: &random),
            Int.random(in: 0...picture.height - height, using: &random)
        )
        let whole = picture.with { $0.format = .tiff }
        let part = whole.with {
            ($0.width, $0.height) = (width, height)
            $0.pixels = (0..<height).flatMap { row -> ArraySlice<UInt16> in
                let place = 4 * ((y + row) * picture.width + x)
                return picture.pixels[place..<place + 4 * width]
            }
        }
        // Looks that work on the full picture see what is cut off.
        var wanted = compared(picture, seed: random.next())
        wanted.operations = wanted.operations?.filter { !$0.looksAround }
        (wanted.straighten, wanted.turns, wanted.crop) = (nil, nil, nil)
        var cropped = wanted
        cropped.crop = .box(width: width, height: height, x: x, y: y)
        let (all, cut) = (try write(whole), try write(part))
        defer {
            remove(all)
            remove(cut)
        }
        return try differences(
            pixels(all, cropped), pixels(cut, wanted), Tolerance(worst: 1),
            "from a file with the part alone, \(told(cropped))")
    }

    /// The same within what is said of every device.
    private func device(_ picture: RandomPicture, seed: UInt64) throws -> [String] {
        guard let opencl else { return [] }
        let wanted = compared(picture, seed: seed)
        let input = try write(picture)
        defer { remove(input) }
        var tolerance = tolerance(wanted, picture, isExact: true)
        tolerance.worst = max(tolerance.worst, 1)
        return try differences(
            pixels(input, wanted), pixels(input, wanted, lane: opencl), tolerance,
            "on an OpenCL device, \(told(wanted))")
    }

    // MARK: How it is compared

    /// Settings whose outputs can be compared pixel by pixel: of a format that keeps them, without what follows from the file.
    private func compared(_ picture: RandomPicture, seed: UInt64) -> OutputSettings {
        var wanted = RandomOptions(seed: seed, width: picture.width, height: picture.height, hasGrain: false).settings
        wanted.format = .png
        (wanted.maxBytes, wanted.quality, wanted.lossless) = (nil, nil, false)
        return wanted
    }

    /// Settings as JSON, for what does not hold.
    private func told(_ wanted: OutputSettings) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(wanted)).map { String(decoding: $0, as: UTF8.self) } ?? "\(wanted)"
    }

    /// How far a rounding of one level on the way may be seen in the result.
    private func tolerance(_ wanted: OutputSettings, _ picture: RandomPicture, isExact: Bool) -> Tolerance {
        // At the edge of the smaller space a level of one channel is up to a dozen of another, which is dark.
        let isNarrowed =
            wanted.colorSpace != .keep && (picture.profile == .displayP3 || picture.profile == .adobeRGB)
        var factor = isNarrowed ? 12.0 : 1
        // Dark codes are few units of light.
        if wanted.linearLight, !isExact { factor *= 6 }
        var flips = false
        var isRounded = !isExact
        for operation in wanted.operations ?? [] {
            switch operation {
            case .exposure(let stops): factor *= max(1, exp2(stops))
            case .whiteBalance(let balance): factor *= max(1, balance.gains.max() ?? 1)
            case .contrast(let amount): factor *= 1 + abs(amount)
            case .saturation(let amount): factor *= 1 + max(0, amount)
            case .curve: factor *= 4
            case .denoise: flips = flips || isRounded
            case .localContrast(let contrast):
                factor *= 1 + abs(contrast.amount)
                isRounded = true
            case .deconvolve(let deconvolution):
                factor *= 1 + 4 * deconvolution.amount
                isRounded = true
            case .grain: break
            }
        }
        if let sharpening = wanted.sharpening { factor *= 1 + 2 * sharpening.amount }
        // Each step that rounds to 8 bits by itself may add a level.
        let isConverted = wanted.colorSpace == .displayP3 || picture.profile != .none
        let steps = [isConverted, wanted.sharpening != nil, wanted.straighten != nil].count { $0 }
        // A coefficient of a denoising may fall to the other side of its threshold.
        return Tolerance(worst: factor.rounded(.up) + Double(isExact ? 0 : steps), share: flips ? 1 : 0)
    }

    private func compare(
        _ one: RandomPicture, _ other: RandomPicture, _ wanted: OutputSettings, _ tolerance: Tolerance, _ words: String
    ) throws -> [String] {
        let (first, second) = (try write(one), try write(other))
        defer {
            remove(first)
            remove(second)
        }
        return try differences(pixels(first, wanted), pixels(second, wanted), tolerance, words)
    }

    private func differences(_ one: Picture?, _ other: Picture?, _ tolerance: Tolerance, _ words: String) -> [String] {
        guard let one, let other else { return (one == nil) == (other == nil) ? [] : ["refused or not \(words)"] }
        guard one.width == other.width, one.height == other.height else {
            return ["\(one.width)x\(one.height), and \(other.width)x\(other.height) \(words)"]
        }
        var (worst, place, count) = (0.0, 0, 0)
        for i in one.samples.indices {
            // Colours under clear parts are nobody's.
            if one.samples[i / 4 * 4 + 3] == 0, other.samples[i / 4 * 4 + 3] == 0 { continue }
            let difference = abs(one.samples[i] - other.samples[i])
            if difference > worst { (worst, place) = (difference, i / 4) }
            if difference > tolerance.worst { count += 1 }
        }
        let isWithin = Double(count) <= tolerance.share * Double(one.samples.count)
        guard !isWithin else { return [] }
        func pixel(_ picture: Picture) -> ArraySlice<Double> { picture.samples[4 * place..<4 * place + 4] }
        return [
            """
            up to \(worst) levels off \(words), \(count) samples more than \(tolerance.worst); at \
            \(place % one.width), \(place / one.width) of \(one.width)x\(one.height): \(pixel(one)) and \(pixel(other))
            """
        ]
    }

    /// Samples in levels of 255.
    private struct Picture {
        var width: Int
        var height: Int
        var samples: [Double]
    }

    /// nil where it was refused.
    private func pixels(_ input: String, _ wanted: OutputSettings, lane: LaneChoice = .cpu) throws -> Picture? {
        let result = export(input, [wanted], lane: lane)
        guard result.status == .good, let output = result.outputs.first else { return nil }
        defer { remove(output.path) }
        let made = try Decoded(output.path)
        let scale = made.header.layout == .rgba16 ? 1.0 / 257 : 1
        return Picture(width: made.width, height: made.height, samples: made.samples.map { $0 * scale })
    }

    /// The files of outputs; empty for those that were refused.
    private func bytes(
        _ input: String, _ wanted: [OutputSettings], _ exporter: ImageExporter? = nil
    ) throws -> [Data] {
        let result = export(input, wanted, exporter)
        let paths = Dictionary(uniqueKeysWithValues: result.outputs.map { ($0.path, $0) })
        return try wanted.indices.map { index in
            let path = output(index)
            guard paths[path] != nil else { return Data() }
            defer { remove(path) }
            return try Data(contentsOf: URL(fileURLWithPath: path))
        }
    }

    // MARK: Files

    private func output(_ index: Int) -> String { "\(folder)/out-\(count)-\(index)" }

    private func export(
        _ input: String, _ wanted: [OutputSettings], _ exporter: ImageExporter? = nil, lane: LaneChoice = .cpu
    ) -> ItemResult {
        count += 1
        let outputs = wanted.enumerated().map {
            ExportItem.Output(settings: $1, path: output($0), mayReplace: false)
        }
        let item = ExportItem(input: input, outputs: outputs, lane: lane, limits: DecodeLimits())
        return (exporter ?? self.exporter).export(item) { _ in true }
    }

    private func write(_ picture: RandomPicture) throws -> String {
        count += 1
        let path = "\(folder)/in-\(count)"
        try Data(try picture.file()).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func remove(_ path: String) { unlink(path) }

    private static func header(_ path: String) throws -> ImageHeader {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try data.withUnsafeBytes { try CodecRegistry.decoder(for: $0, limits: DecodeLimits()).header }
    }
}
