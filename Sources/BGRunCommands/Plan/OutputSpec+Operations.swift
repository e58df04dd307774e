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
            return .exposure(try numbers(name, text)[0])
        case "contrast":
            return .contrast(try numbers(name, text)[0])
        case "saturation":
            return .saturation(try numbers(name, text)[0])
        case "curve":
            return .curve(try curve(text))
        case "white-balance":
            let values = try numbers(name, text)
            return .whiteBalance(WhiteBalance(temperature: values[0], tint: values[1]))
        case "denoise":
            let values = try numbers(name, text)
            return .denoise(Denoising(luma: values[0], chroma: values[1].isNaN ? values[0] : values[1]))
        case "local-contrast":
            let values = try numbers(name, text)
            return .localContrast(LocalContrast(amount: values[0], reach: values[1]))
        case "deconvolve":
            let values = try numbers(name, text)
            return .deconvolve(Deconvolution(amount: values[0], sigma: values[1], rounds: Int(values[2])))
        case "grain":
            let values = try numbers(name, text)
            return .grain(Grain(amount: values[0], size: values[1], seed: UInt32(values[2])))
        default:
            return nil
        }
    }

    /// Numbers between colons, each in its range.
    private struct NumberForm {
        var ranges: [ClosedRange<Double>]
        /// What numbers are that were left out at the end; NaN stands for one that follows another.
        var defaults: [Double] = []

        var least: Int { ranges.count - defaults.count }

        /// What it takes, for people.
        var text: String {
            let texts = ranges.map { "\(OutputSpec.short($0.lowerBound)) to \(OutputSpec.short($0.upperBound))" }
            return texts.prefix(least).joined(separator: ":") + texts.dropFirst(least).map { "[:\($0)]" }.joined()
        }
    }

    /// The numbers that each operation takes; the curve takes none.
    private static let numberForms: [String: NumberForm] = [
        "exposure": NumberForm(ranges: [-10...10]), "contrast": NumberForm(ranges: [-1...1]),
        "saturation": NumberForm(ranges: [-1...4]),
        "white-balance": NumberForm(ranges: [-1...1, -1...1], defaults: [0]),
        "denoise": NumberForm(ranges: [0...1, 0...1], defaults: [.nan]),
        "local-contrast": NumberForm(ranges: [-1...3, 0.1...2], defaults: [1]),
        "deconvolve": NumberForm(ranges: [0...1, 0.3...1.6, 1...10], defaults: [0.8, 5]),
        "grain": NumberForm(ranges: [0...1, 1...16, 0...4_294_967_295], defaults: [1, 0]),
    ]

    /// What an operation takes, for people; numbers in brackets may be left out.
    static func values(of operation: String) -> String {
        numberForms[operation]?.text ?? "x:y points of 0 to 1 by rising x, between slashes"
    }

    /// What holds for numbers that are left out; empty where none may be.
    static func defaults(of operation: String) -> String {
        (numberForms[operation]?.defaults ?? []).map { $0.isNaN ? "as luma" : short($0) }.joined(separator: ":")
    }

    private static func numbers(_ name: String, _ text: String) throws(Mistake) -> [Double] {
        guard let form = numberForms[name] else { preconditionFailure("an operation without numbers: \(name)") }
        let (ranges, defaults, least) = (form.ranges, form.defaults, form.least)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        let fit = zip(parts, ranges).allSatisfy { value, range in value.map(range.contains) ?? false }
        guard (least...ranges.count).contains(parts.count), fit else {
            throw Mistake(description: "\(name) takes \(form.text), not \"\(text)\"")
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
