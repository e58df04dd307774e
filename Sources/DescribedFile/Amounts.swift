/// Lengths of time and sizes as people write them.
package enum Amounts {
    /// `500ms`, `90s`, `15m`, `15min`, `2h`, `1d`, and several in a row as `1h30m`; `0` needs no unit.
    package static func duration(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        let factors: [String: Double] = ["ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400]
        var rest = text.filter { !$0.isWhitespace }[...]
        var seconds = 0.0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let unit = rest.dropFirst(number.count).prefix(while: \.isLetter)
            guard let value = Double(number), let factor = factors[String(unit)] else { return nil }
            seconds += value * factor
            rest = rest.dropFirst(number.count + unit.count)
        }
        return seconds < 1e9 ? .milliseconds(Int64((seconds * 1_000).rounded())) : nil
    }

    /// `1048576`, `512 MiB`, `2G`: units are powers of 1024.
    package static func bytes(_ text: String) -> Int? {
        let text = text.filter { !$0.isWhitespace }
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let value = Double(digits), value >= 0 else { return nil }
        let shifts = ["": 0, "B": 0, "K": 10, "KiB": 10, "M": 20, "MiB": 20, "G": 30, "GiB": 30, "T": 40, "TiB": 40]
        guard let shift = shifts[String(text.dropFirst(digits.count))] else { return nil }
        let bytes = value * Double(1 << shift)
        return bytes < 1e17 ? Int(bytes) : nil
    }
}
