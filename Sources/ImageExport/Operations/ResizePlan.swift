import Kernels

/// The arithmetic a resize runs in.
package enum ResizeArithmetic: Sendable, Equatable {
    /// 8-bit codes, integer. Source and output rows are `rgbx8`.
    case codes
    /// 8-bit codes through linear light, integer. Source and output rows are `rgbx8`.
    case light
    /// Premultiplied float. Source and output rows are `rgba16`.
    case float
}

/// Tables of one resize, made once for a pair of sizes and shared by every band; the lanes may keep device copies.
package final class ResizePlan: Sendable {
    package let arithmetic: ResizeArithmetic
    package let sourceWidth: Int
    package let sourceHeight: Int
    package let width: Int
    package let height: Int
    package let rows: Resampling
    package let curves: TransferCurves?
    /// Colour that clear parts are laid over, straight 0 ... 1 in working values; nil keeps alpha.
    package let matte: [Float]?

    /// First source row of each output row, and `vTaps` weights each (even for integer arithmetic).
    package let vStart: [Int32]
    package let hStart: [Int32]
    package let vTaps: Int
    package let hTaps: Int
    package let vWeights: [Int16]
    package let hWeights: [Int16]
    package let vWeightsFloat: [Float]
    package let hWeightsFloat: [Float]

    package var hPairs: Int { hTaps / 2 }

    /// - Parameters:
    ///   - arithmetic: Decides the layout of the rows.
    ///   - columns: Horizontal resampling.
    ///   - rows: Vertical resampling.
    ///   - curves: Needed for `light` and `float`.
    ///   - matte: Lays clear parts over a colour; only for `float`.
    package init(
        arithmetic: ResizeArithmetic, columns: Resampling, rows: Resampling, curves: TransferCurves?, matte: [Float]?
    ) {
        self.arithmetic = arithmetic
        self.rows = rows
        self.curves = curves
        self.matte = matte
        sourceWidth = columns.sourceLength
        sourceHeight = rows.sourceLength
        width = columns.outputLength
        height = rows.outputLength
        vStart = rows.starts.map { Int32($0) }
        guard arithmetic != .float else {
            vTaps = rows.taps
            hTaps = columns.taps
            vWeightsFloat = rows.weights.map { Float($0) }
            hWeightsFloat = columns.weights.map { Float($0) }
            hStart = columns.starts.map { Int32($0) }
            vWeights = []
            hWeights = []
            return
        }
        vWeightsFloat = []
        hWeightsFloat = []
        let vTaps = rows.taps + rows.taps % 2
        self.vTaps = vTaps
        vWeights = (0..<rows.outputLength).flatMap { i in
            rows.quantised(i) + [Int16](repeating: 0, count: vTaps - rows.taps)
        }
        // Columns are read in pairs from an even pixel on, so an odd start needs a leading zero.
        let hTaps = (columns.taps + 2) / 2 * 2
        self.hTaps = hTaps
        hStart = columns.starts.map { Int32($0 / 2) }
        hWeights = (0..<columns.outputLength).flatMap { i in
            let lead = columns.starts[i] % 2
            return [Int16](repeating: 0, count: lead) + columns.quantised(i)
                + [Int16](repeating: 0, count: hTaps - columns.taps - lead)
        }
    }

    /// Source rows that output rows `range` read with a weight.
    package func sourceRows(for range: Range<Int>) -> Range<Int> {
        var end = 0
        for y in range { end = max(end, rows.lastSource(y) + 1) }
        return (range.map { rows.starts[$0] }.min() ?? 0)..<end
    }

    /// Whole strips of output rows that come from about that many source rows.
    package static func chunkRows(sourceRows: Int, resize: ResizePlan?) -> Int {
        let reduction = resize.map { max(1, Double($0.sourceHeight) / Double($0.height)) } ?? 1
        let strip = Int(BG_RESIZE_STRIP)
        return max(strip, Int(Double(sourceRows) / reduction) / strip * strip)
    }
}
