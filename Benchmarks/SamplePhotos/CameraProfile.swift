/// The profiles cameras embed, written as small matrix profiles (ICC.1:2010, version 4.3).
package enum CameraProfile: String, CaseIterable, Sendable {
    case srgb = "sRGB"
    case displayP3 = "Display P3"
    case adobeRGB = "Adobe RGB (1998)"

    /// Columns of the matrix to the profile connection space: the primaries adapted to D50.
    private var primaries: [[Double]] {
        switch self {
        case .srgb: [[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410]]
        case .displayP3: [[0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407]]
        case .adobeRGB: [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]]
        }
    }

    /// The profile as a file would hold it.
    package func data() -> [UInt8] {
        let curve = self == .adobeRGB ? Self.gamma(2.199_218_75) : Self.srgbCurve
        let tags: [(String, [UInt8])] = [
            ("desc", Self.text(rawValue)), ("cprt", Self.text("No copyright, use freely")),
            ("wtpt", Self.xyz([0.9642, 1, 0.8249])), ("chad", Self.adaptation),
            ("rXYZ", Self.xyz(primaries[0])), ("gXYZ", Self.xyz(primaries[1])), ("bXYZ", Self.xyz(primaries[2])),
            ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
        ]
        var table = bigEndian(UInt32(tags.count))
        var body: [UInt8] = []
        let bodyOffset = 128 + 4 + tags.count * 12
        var curveOffset: Int?
        for (name, value) in tags {
            let isCurve = name.hasSuffix("TRC")
            let offset = isCurve ? curveOffset ?? body.count : body.count
            table += Array(name.utf8) + bigEndian(UInt32(bodyOffset + offset)) + bigEndian(UInt32(value.count))
            if isCurve && curveOffset != nil { continue }
            if isCurve { curveOffset = offset }
            body += value
            while body.count % 4 != 0 { body.append(0) }
        }
        return Self.header(size: bodyOffset + body.count) + table + body
    }

    private static func header(size: Int) -> [UInt8] {
        var header = bigEndian(UInt32(size)) + [0, 0, 0, 0] + bigEndian(UInt32(0x0430_0000))
        header += Array("mntrRGB XYZ ".utf8)
        for part in [2026, 1, 1, 0, 0, 0] as [UInt16] { header += bigEndian(part) }
        header += Array("acsp".utf8) + [UInt8](repeating: 0, count: 28)
        header += fixed(0.9642) + fixed(1) + fixed(0.8249)
        return header + [UInt8](repeating: 0, count: 128 - header.count)
    }

    /// Bradford adaptation from D65 to D50.
    private static var adaptation: [UInt8] {
        let matrix = [
            1.04788, 0.02292, -0.05022, 0.02959, 0.99048, -0.01707, -0.00925, 0.01508, 0.75168,
        ]
        return Array("sf32".utf8) + [0, 0, 0, 0] + matrix.flatMap(fixed)
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + [0, 0, 0, 0] + values.flatMap(fixed)
    }

    private static func gamma(_ exponent: Double) -> [UInt8] {
        Array("para".utf8) + [0, 0, 0, 0, 0, 0, 0, 0] + fixed(exponent)
    }

    /// IEC 61966-2-1, parametric curve type 3.
    private static var srgbCurve: [UInt8] {
        let parameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        return Array("para".utf8) + [0, 0, 0, 0, 0, 3, 0, 0] + parameters.flatMap(fixed)
    }

    private static func text(_ text: String) -> [UInt8] {
        let units = text.utf16.flatMap { bigEndian($0) }
        return Array("mluc".utf8) + [0, 0, 0, 0] + bigEndian(UInt32(1)) + bigEndian(UInt32(12))
            + Array("enUS".utf8) + bigEndian(UInt32(units.count)) + bigEndian(UInt32(28)) + units
    }

    private static func fixed(_ value: Double) -> [UInt8] { bigEndian(Int32((value * 65_536).rounded())) }
}

private func bigEndian<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
