import ImageExport

extension OutputSpec {
    /// Names of the operations, as flags and as keys.
    static let operationNames = [
        "exposure", "white-balance", "contrast", "saturation", "curve", "denoise", "local-contrast", "deconvolve",
        "grain",
    ]

    /// Reads one operation by the name of its flag; nil for another name.
    static func operation(_ name: String, _ text: String) throws(Mistake) -> ImageOperation? {
        switch name {
        case "exposure":
            return .exposure(try numbers(name, text, [-10...10])[0])
        case "contrast":
            return .contrast(try numbers(name, text, [-1...1])[0])
        case "saturation":
            return .saturation(try numbers(name, text, [-1...4])[0])
        case "curve":
            return .curve(try curve(text))
        case "white-balance":
            let values = try numbers(name, text, [-1...1, -1...1], defaults: [0])
            return .whiteBalance(WhiteBalance(temperature: values[0], tint: values[1]))
        case "denoise":
            let values = try numbers(name, text, [0...1, 0...1], defaults: [.nan])
            return .denoise(Denoising(luma: values[0], chroma: values[1].isNaN ? values[0] : values[1]))
        case "local-contrast":
            let values = try numbers(name, text, [-1...3, 0.1...2], defaults: [1])
            return .localContrast(LocalContrast(amount: values[0], reach: values[1]))
        case "deconvolve":
            let values = try numbers(name, text, [0...1, 0.3...1.6, 1...10], defaults: [0.8, 5])
            return .deconvolve(Deconvolution(amount: values[0], sigma: values[1], rounds: Int(values[2])))
        case "grain":
            let values = try numbers(name, text, [0...1, 1...16, 0...4_294_967_295], defaults: [1, 0])
            return .grain(Grain(amount: values[0], size: values[1], seed: UInt32(values[2])))
        default:
            return nil
        }
    }

    /// Numbers between colons, each in its range; what may be left out at the end has a default.
    private static func numbers(
        _ name: String, _ text: String, _ ranges: [ClosedRange<Double>], defaults: [Double] = []
    ) throws(Mistake) -> [Double] {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        let least = ranges.count - defaults.count
        let fit = zip(parts, ranges).allSatisfy { value, range in value.map(range.contains) ?? false }
        guard (least...ranges.count).contains(parts.count), fit else {
            let texts = ranges.map { "\(short($0.lowerBound)) to \(short($0.upperBound))" }
            let optional = texts.dropFirst(least).map { "[:\($0)]" }.joined()
            let wanted = texts.prefix(least).joined(separator: ":") + optional
            throw Mistake(description: "\(name) takes \(wanted), not \"\(text)\"")
        }
        return parts.compactMap { $0 } + defaults.suffix(ranges.count - parts.count)
    }

    private static func curve(_ text: String) throws(Mistake) -> ToneCurve {
        let points = text.split(separator: "/", omittingEmptySubsequences: false).map { point -> ToneCurve.Point? in
            let parts = point.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
            guard parts.count == 2, let x = parts[0], let y = parts[1] else { return nil }
            return ToneCurve.Point(x, y)
        }
        guard points.allSatisfy({ $0 != nil }), let curve = ToneCurve(points.compactMap { $0 }) else {
            throw Mistake(
                description:
                    "a curve is two points or more of 0 to 1 by rising x, e.g. 0:0/0.25:0.2/0.75:0.8/1:1, not \"\(text)\""
            )
        }
        return curve
    }

    private static func short(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\(value)"
    }
}
