import CImageCodecs

/// The tone curves of a matrix profile as tables, and its matrix.
package struct ProfileCurves: Sendable {
    /// For R, G and B: linear light at evenly spaced coded values 0 ... 1.
    package let linear: [[Float]]
    /// For R, G and B: coded value at evenly spaced linear light 0 ... 1.
    package let coded: [[Float]]
    /// From linear R, G, B to XYZ under D50, row by row.
    package let matrix: [Float]

    /// Fails for profiles that are not a matrix and three curves, or one curve for gray; `icc` nil is sRGB.
    package init?(of icc: [UInt8]?, entries: Int, inverseEntries: Int) {
        precondition(entries >= 2 && inverseEntries >= 2, "a table needs both of its ends")
        var forward = [Float](repeating: 0, count: entries * 3)
        var inverse = [Float](repeating: 0, count: inverseEntries * 3)
        var matrix = [Float](repeating: 0, count: 9)
        let isMatrixProfile = withSpace(icc ?? BuiltInProfile.sRGB.bytes) { space in
            ic_color_curves(&space, &forward, Int32(entries), &inverse, Int32(inverseEntries), &matrix)
        }
        guard isMatrixProfile != 0 else { return nil }
        linear = (0..<3).map { Array(forward[$0 * entries..<($0 + 1) * entries]) }
        coded = (0..<3).map { Array(inverse[$0 * inverseEntries..<($0 + 1) * inverseEntries]) }
        self.matrix = matrix
    }

    /// Whether equal R, G and B mean the same gray as in sRGB, as they do in Display P3.
    static func isNeutralSRGB(_ icc: [UInt8]) -> Bool {
        guard let curves = ProfileCurves(of: icc, entries: 64, inverseEntries: 2),
            let own = ProfileCurves(of: nil, entries: 64, inverseEntries: 2)
        else { return false }
        return zip(curves.linear.joined(), own.linear.joined()).allSatisfy { abs($0 - $1) < 0.002 }
    }
}
