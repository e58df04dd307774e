import ImageCodecs
package import ImageExport
import SeededNumbers

/// Settings of an output made from a seed, and the same as options of a command line.
package struct RandomOptions: Sendable {
    package private(set) var settings = OutputSettings()
    /// Names of flags with their values, in order; nil for a flag without one.
    package private(set) var options: [(name: String, value: String?)] = []

    private static let names = Placement.names.keys.sorted()

    /// - Parameters:
    ///   - seed: Decides everything.
    ///   - width: Of the upright picture.
    ///   - height: Of the upright picture.
    ///   - hasGrain: Grain, whose noise follows from the file, is among the looks.
    package init(seed: UInt64, width: Int, height: Int, hasGrain: Bool = true) {
        var random = SeededGenerator(seed: seed)
        func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        if !one(in: 4) { addSize(width, height, &random) }
        if one(in: 4) { addTurn(&random) }
        if one(in: 3) { addCrop(width, height, &random) }
        addFormat(&random)
        if one(in: 3) { addColor(&random) }
        if one(in: 8) { flag("linear") { $0.linearLight = true } }
        if one(in: 6) { flag("exact") { $0.exact = true } }
        if one(in: 5) {
            let (amount, sigma) = (hundredths(0...150, &random), hundredths(30...200, &random))
            add("sharpen", "\(amount):\(sigma)") { $0.sharpening = Sharpening(amount: amount, sigma: sigma) }
        }
        if one(in: 6) {
            let (pixels, color) = (Int.random(in: 1...7, using: &random), Self.color(&random))
            add("border", "\(pixels):\(color.text)") { $0.border = Border(pixels: pixels, color: color.codes) }
        }
        if one(in: 4) {
            let color = Self.color(&random)
            add("matte", color.text) { $0.matte = color.codes }
        }
        if one(in: 5) { add("metadata", "strip") { $0.metadata = .strip } }
        if one(in: 2) {
            for _ in 0..<Int.random(in: 1...4, using: &random) { addOperation(hasGrain: hasGrain, &random) }
        }
    }

    private mutating func add(_ name: String, _ value: String?, _ change: (inout OutputSettings) -> Void) {
        change(&settings)
        options.append((name, value))
    }

    private mutating func flag(_ name: String, _ change: (inout OutputSettings) -> Void) { add(name, nil, change) }

    private func hundredths(_ range: ClosedRange<Int>, _ random: inout SeededGenerator) -> Double {
        Double(Int.random(in: range, using: &random)) / 100
    }

    private static func color(_ random: inout SeededGenerator) -> (codes: [UInt8], text: String) {
        let codes = (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }
        return (codes, codes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    private mutating func addSize(_ width: Int, _ height: Int, _ random: inout SeededGenerator) {
        func edge() -> Int { Int.random(in: 1...max(2, max(width, height) * 3 / 2), using: &random) }
        switch Int.random(in: 0..<7, using: &random) {
        case 0...2:
            let edge = edge()
            add("size", "\(edge)") { $0.size = .longEdge(edge) }
        case 3:
            let (across, down) = (edge(), edge())
            add("size", "fit:\(across)x\(down)") { $0.size = .fit(width: across, height: down) }
        case 4, 5:
            let (across, down) = (edge(), edge())
            add("size", "fill:\(across)x\(down)") { $0.size = .fill(width: across, height: down) }
            if Bool.random(using: &random), let name = Self.names.randomElement(using: &random) {
                add("gravity", name) { $0.gravity = Placement.names[name] }
            }
        default:
            let millions = Double(Int.random(in: 1...80, using: &random)) / 10_000
            add("size", "megapixels:\(millions)") { $0.size = .megapixels(millions) }
        }
        if Int.random(in: 0..<3, using: &random) == 0 { flag("enlarge") { $0.enlarge = true } }
    }

    private mutating func addTurn(_ random: inout SeededGenerator) {
        if Bool.random(using: &random) {
            let turns = Int.random(in: 1...3, using: &random)
            add("rotate", "\(90 * turns)") { $0.turns = turns }
        } else {
            let degrees = hundredths(1...4400, &random) * (Bool.random(using: &random) ? 1 : -1)
            add("rotate", "\(degrees)") { $0.straighten = degrees }
        }
    }

    private mutating func addCrop(_ width: Int, _ height: Int, _ random: inout SeededGenerator) {
        if Bool.random(using: &random) {
            let (across, down) = (Int.random(in: 1...9, using: &random), Int.random(in: 1...9, using: &random))
            add("crop", "\(across):\(down)") { $0.crop = .aspect(width: Double(across), height: Double(down)) }
        } else {
            let (x, y) = (
                Int.random(in: 0...width * 2 / 3, using: &random), Int.random(in: 0...height * 2 / 3, using: &random)
            )
            let (across, down) = (Int.random(in: 1...width, using: &random), Int.random(in: 1...height, using: &random))
            add("crop", "\(across)x\(down)+\(x)+\(y)") { $0.crop = .box(width: across, height: down, x: x, y: y) }
        }
    }

    private mutating func addFormat(_ random: inout SeededGenerator) {
        let formats: [ImageFormat] = [.jpeg, .jpeg, .png, .png, .tiff, .webp]
        guard Int.random(in: 0..<5, using: &random) > 0, let format = formats.randomElement(using: &random) else {
            return
        }
        add("format", format.rawValue) { $0.format = format }
        if format.hasQuality, Bool.random(using: &random) {
            let quality = Int.random(in: 1...100, using: &random)
            add("quality", "\(quality)") { $0.quality = quality }
        }
        switch format {
        case .jpeg:
            if Bool.random(using: &random) { flag("444") { $0.fullChroma = true } }
            if Bool.random(using: &random) { flag("progressive") { $0.progressive = true } }
            if Bool.random(using: &random) { flag("optimize") { $0.optimize = true } }
            if Int.random(in: 0..<8, using: &random) == 0 {
                let bytes = Int.random(in: 400...2_000, using: &random)
                add("max-bytes", "\(bytes)") { $0.maxBytes = bytes }
            }
        case .webp:
            if Bool.random(using: &random) { flag("lossless") { $0.lossless = true } }
        default:
            let bits = [8, 8, 16].randomElement(using: &random) ?? 8
            if Bool.random(using: &random) { add("bits", "\(bits)") { $0.bitsPerChannel = bits } }
        }
    }

    private mutating func addColor(_ random: inout SeededGenerator) {
        let space = OutputColorSpace.allCases.randomElement(using: &random) ?? .srgb
        add("color", space.rawValue) { $0.colorSpace = space }
    }

    private mutating func addOperation(hasGrain: Bool, _ random: inout SeededGenerator) {
        func add(_ name: String, _ numbers: [Double], _ operation: ImageOperation) {
            let text = numbers.map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" }.joined(separator: ":")
            self.add(name, text) { $0.operations = ($0.operations ?? []) + [operation] }
        }
        switch Int.random(in: 0..<(hasGrain ? 9 : 8), using: &random) {
        case 0:
            let stops = hundredths(-150...150, &random)
            add("exposure", [stops], .exposure(stops))
        case 1:
            let (warm, tint) = (hundredths(-100...100, &random), hundredths(-100...100, &random))
            add("white-balance", [warm, tint], .whiteBalance(WhiteBalance(temperature: warm, tint: tint)))
        case 2:
            let amount = hundredths(-100...100, &random)
            add("contrast", [amount], .contrast(amount))
        case 3:
            let amount = hundredths(-100...150, &random)
            add("saturation", [amount], .saturation(amount))
        case 4:
            let middle = (x: hundredths(30...70, &random), y: hundredths(20...80, &random))
            guard let curve = ToneCurve([.init(0, 0), .init(middle.x, middle.y), .init(1, 1)]) else { return }
            self.add("curve", "0:0/\(middle.x):\(middle.y)/1:1") {
                $0.operations = ($0.operations ?? []) + [.curve(curve)]
            }
        case 5:
            let (luma, chroma) = (hundredths(0...60, &random), hundredths(0...60, &random))
            add("denoise", [luma, chroma], .denoise(Denoising(luma: luma, chroma: chroma)))
        case 6:
            let (amount, reach) = (hundredths(-100...150, &random), hundredths(10...200, &random))
            add("local-contrast", [amount, reach], .localContrast(LocalContrast(amount: amount, reach: reach)))
        case 7:
            let (amount, sigma) = (hundredths(0...100, &random), hundredths(30...160, &random))
            let rounds = Int.random(in: 1...5, using: &random)
            add(
                "deconvolve", [amount, sigma, Double(rounds)],
                .deconvolve(Deconvolution(amount: amount, sigma: sigma, rounds: rounds)))
        default:
            let (amount, size) = (hundredths(0...100, &random), hundredths(100...400, &random))
            let seed = UInt32.random(in: 0...999, using: &random)
            add("grain", [amount, size, Double(seed)], .grain(Grain(amount: amount, size: size, seed: seed)))
        }
    }
}

extension RandomOptions {
    /// As flags of a command line.
    package var arguments: [String] { options.flatMap { ["--\($0.name)"] + ($0.value.map { [$0] } ?? []) } }

    /// As one value of `--output`.
    package var outputText: String {
        options.map { option in option.value.map { "\(option.name)=\($0)" } ?? option.name }.joined(separator: ",")
    }
}
