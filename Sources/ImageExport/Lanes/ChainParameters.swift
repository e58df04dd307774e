import ChunkedCompute
import Kernels

/// Rows of cells that a band of pixels goes through in a local contrast.
struct ContrastBands {
    let means: Range<Int>
    let slopes: Range<Int>
    let cells: Range<Int>

    init(_ plan: LocalContrastPlan, rows: Range<Int>) {
        means = plan.means(for: rows)
        slopes = plan.around(means)
        cells = plan.around(slopes)
    }
}

extension bg_chain_rows {
    /// Rows `rows` of a plan's levels, with source and target beginning at row `first`.
    init(_ plan: ChainPlan, first: Int, rows: Range<Int>) {
        self.init(
            width: Int32(plan.width), height: Int32(plan.height), stride: Int32(plan.stride),
            planes: Int32(plan.planes), src_first_row: Int32(first), dst_first_row: Int32(first),
            first_row: Int32(rows.lowerBound), rows: Int32(rows.count), scratch_stride: 0, clear: 0)
    }

    /// The rows of the source that a denoising of these transforms, in their own place.
    var denoised: bg_chain_rows {
        var p = self
        p.dst_first_row = src_first_row
        p.first_row = max(0, first_row - Int32(BG_DENOISE_RADIUS))
        p.rows = min(height, first_row + rows + Int32(BG_DENOISE_RADIUS)) - p.first_row
        return p
    }

    /// How many parts of rows a rotation makes.
    var rotatedParts: Int { tiles(width: Int(BG_ROTATE_COLUMNS), height: 1) }

    /// How many tiles of that size cover the rows.
    func tiles(width tileWidth: Int, height tileHeight: Int) -> Int {
        ((Int(width) + tileWidth - 1) / tileWidth) * ((Int(rows) + tileHeight - 1) / tileHeight)
    }
}

extension RowBand {
    /// Whether any of the first `width` pixels of the rows, RGBA of 16 bits each, has an alpha of 0.
    func hasClearPixels(width: Int) -> Bool {
        (firstRow..<firstRow + rowCount).contains { row in
            let pixels = pointer(row: row).assumingMemoryBound(to: UInt64.self)
            // Taking 1 from an alpha of 0 sets all bits; plain operations, for vectors of them.
            var bits: UInt64 = 0
            for x in 0..<width { bits |= (pixels[x] >> 48) &- 1 }
            return bits >> 63 != 0
        }
    }
}

extension bg_point_params {
    /// Only reading needs a source and only writing a target.
    init(_ program: PointProgram, source: RowBand?, target: RowBand?, isWide: Bool) {
        let sampleBytes = isWide ? 2 : 1
        self.init(
            segments: Int32(program.segments),
            code_stride: Int32((source?.strideBytes ?? 0) / sampleBytes), code_first_row: Int32(source?.firstRow ?? 0),
            target_stride: Int32((target?.strideBytes ?? 0) / sampleBytes),
            target_first_row: Int32(target?.firstRow ?? 0))
    }
}

extension bg_contrast_params {
    init(_ plan: LocalContrastPlan, _ bands: ContrastBands, width: Int, lineStep: Int) {
        self.init(
            cell: Int32(plan.cell), across: Int32(plan.across), down: Int32(plan.down), left: Int32(plan.left),
            top: Int32(plan.top),
            cell_stride: Int32(plan.cellStride), line_stride: Int32(plan.lineStride(width: width)),
            radius: Int32(plan.radius), first_cell: Int32(bands.cells.lowerBound),
            first_slope: Int32(bands.slopes.lowerBound), first_mean: Int32(bands.means.lowerBound),
            line_step: Int32(lineStep), epsilon: Float(LocalContrastPlan.epsilon), amount: Float(plan.amount))
    }
}

extension bg_deconvolve_params {
    init(_ plan: DeconvolvePlan) {
        self.init(
            radius: Int32(plan.radius), rounds: Int32(plan.rounds), halo: Int32(plan.halo), pitch: Int32(plan.pitch),
            amount: Float(plan.amount))
    }
}
