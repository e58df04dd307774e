import Kernels

/// How rows of a chain become rows of the upright picture, in which a grid begins at the first corner, and what is made of those
/// becomes rows again.
struct TurnedBand {
    /// From the rows to the upright picture's.
    let there: bg_turn_params
    /// What is made of the upright picture's rows.
    let rows: bg_chain_rows
    /// From what was made to the rows that are wanted.
    let back: bg_turn_params

    /// Floats of each of the two bands.
    let floats: Int

    /// - Parameters:
    ///   - p: The rows that are wanted, and where those that they are made of lie.
    ///   - plan: What is done to them; its blocks begin at every second upright column.
    init(_ p: bg_chain_rows, _ plan: DenoisePlan) {
        let (width, height, planes, stride) = (Int(p.width), Int(p.height), Int(p.planes), Int(p.stride))
        let (fromRight, fromBelow) = (plan.orientation.runsFromRight, plan.orientation.runsFromBelow)
        let (first, end) = (Int(p.first_row), Int(p.first_row + p.rows))
        // The rows that are read.
        var start = max(0, first - Int(BG_DENOISE_RADIUS))
        var stop = min(height, end + Int(BG_DENOISE_RADIUS))
        var turned = p
        guard plan.orientation.isTransposed else {
            let (down, along) = (fromBelow ? -planes * stride : planes * stride, fromRight ? -1 : 1)
            func turn(_ rows: Int, from: Int, to target: Int) -> bg_turn_params {
                let top = (fromBelow ? from + rows - 1 : from) * planes * stride
                return bg_turn_params(
                    columns: p.width, rows: Int32(rows), planes: p.planes,
                    first: Int32(top + (fromRight ? width - 1 : 0)), row_step: Int32(down), column_step: Int32(along),
                    plane_step: p.stride, target: Int32(target), stride: p.stride)
            }
            turned.src_first_row = Int32(fromBelow ? height - stop : start)
            turned.first_row = Int32(fromBelow ? height - end : first)
            turned.dst_first_row = turned.first_row
            there = turn(stop - start, from: start - Int(p.src_first_row), to: 0)
            back = turn(end - first, from: 0, to: (first - Int(p.dst_first_row)) * planes * stride)
            rows = turned
            floats = (stop - start) * planes * stride
            return
        }
        // Rows are the upright picture's columns; the band begins at one of the grid.
        if fromBelow, (height - stop) % 2 != 0 { stop += 1 }
        if !fromBelow, start % 2 != 0 { start -= 1 }
        let columns = stop - start
        let pitch = Self.pitch(columns)
        let (top, last) = (fromBelow ? stop - 1 : start, fromRight ? width - 1 : 0)
        there = bg_turn_params(
            columns: Int32(columns), rows: p.width, planes: p.planes,
            first: Int32((top - Int(p.src_first_row)) * planes * stride + last), row_step: fromRight ? -1 : 1,
            column_step: Int32(fromBelow ? -planes * stride : planes * stride), plane_step: p.stride, target: 0,
            stride: Int32(pitch))
        back = bg_turn_params(
            columns: p.width, rows: p.rows, planes: p.planes,
            first: Int32(last * planes * pitch + (fromBelow ? stop - 1 - first : first - start)),
            row_step: fromBelow ? -1 : 1, column_step: Int32(fromRight ? -planes * pitch : planes * pitch),
            plane_step: Int32(pitch), target: Int32((first - Int(p.dst_first_row)) * planes * stride), stride: p.stride)
        turned.width = Int32(columns)
        turned.height = p.width
        turned.stride = Int32(pitch)
        (turned.src_first_row, turned.dst_first_row) = (0, 0)
        (turned.first_row, turned.rows) = (0, p.width)
        rows = turned
        floats = width * planes * pitch
    }

    /// Floats from one plane's row to the next.
    private static func pitch(_ columns: Int) -> Int { (columns + 15) / 16 * 16 }

    /// Bytes of a band for `rows` rows with those around them, an estimate from above.
    static func bytes(planes: Int, width: Int, rows: Int, _ plan: DenoisePlan) -> Int {
        let (across, down) = (pitch(width), rows + 2 * Int(BG_DENOISE_RADIUS) + 2)
        return 4 * planes * (plan.orientation.isTransposed ? width * pitch(down) : across * down)
    }
}
