import Kernels
import OpenCLKit

/// What looks around in a chain, in the form of GPUs.
extension OpenCLLane {
    func surroundingsByPixels(
        _ kind: Surroundings, _ table: Buffer?, from source: Buffer, to target: Buffer, _ p: bg_chain_rows
    ) throws(OpenCLError) {
        switch (kind, table) {
        case (.denoise, let limits?):
            let groups = p.tiles(width: Int(BG_DENOISE_GROUP_COLUMNS), height: Int(BG_DENOISE_GROUP_ROWS))
            try run(
                "denoise_group", count: groups * Int(BG_DENOISE_GROUP), group: Int(BG_DENOISE_GROUP),
                [.buffer(source), .buffer(target), .buffer(limits), .rows(p)])
        case (.deconvolve(let plan), let weights?):
            try deconvolve(plan, weights, from: source, to: target, p)
        case (.localContrast(let plan), _):
            try localContrastByPixels(plan, from: source, to: target, p)
        case (.rotate(let plan), let weights?):
            try run(
                "rotate_part_pixel", p.size,
                [.buffer(source), .buffer(target), .buffer(weights), .rotate(plan.params), .rows(p)])
        case (.denoise, nil), (.deconvolve, nil), (.rotate, nil):
            preconditionFailure("an operation without its table")
        }
    }

    /// Luma of the rows with what lies around them; each half of a round is right in `radius` pixels less on each side. With clear
    /// pixels, the share of the blurs' weights that visible ones have comes first.
    private func deconvolve(
        _ plan: DeconvolvePlan, _ weights: Buffer, from source: Buffer, to target: Buffer, _ p: bg_chain_rows
    ) throws(OpenCLError) {
        let size = (x: Int(p.width) + 2 * plan.halo, y: Int(p.rows) + 2 * plan.halo)
        var q = bg_deconvolve_params(plan)
        q.pitch = Int32((size.x + 31) / 32 * 32)
        let bytes = Int(q.pitch) * size.y * 4
        let luma = try buffer(.light, bytes: bytes)
        let estimate = try buffer(.estimate, bytes: bytes)
        let ratio = try buffer(.ratio, bytes: bytes)
        let share = try p.clear != 0 ? buffer(.share, bytes: bytes) : ratio
        try run(
            "deconvolve_luma_pixel", size,
            [.buffer(source), .buffer(luma), .buffer(estimate), .buffer(ratio), .deconvolve(q), .rows(p)])
        let columns = Int(BG_WORK_GROUP) - 2 * plan.radius
        // `step` as in the kernel: 0 multiplies, 1 divides, 2 makes the share.
        func half(
            _ step: Int, margin: Int, _ plane: Buffer, _ factor: Buffer, to target: Buffer
        ) throws(OpenCLError) {
            let groups = (size.x - 2 * margin + columns - 1) / columns
            let steps = (size.y - 2 * margin + Int(BG_DECONVOLVE_STEP) - 1) / Int(BG_DECONVOLVE_STEP)
            try run(
                "deconvolve_half_pixel", (groups * Int(BG_WORK_GROUP), steps),
                [
                    .buffer(plane), .buffer(factor), .buffer(target), .buffer(weights), .buffer(share),
                    .deconvolve(q), .rows(p), .int(margin), .int(step),
                ])
        }
        if p.clear != 0 { try half(2, margin: plan.radius, ratio, luma, to: share) }
        for round in 0..<plan.rounds {
            try half(1, margin: (2 * round + 1) * plan.radius, estimate, luma, to: ratio)
            try half(0, margin: (2 * round + 2) * plan.radius, ratio, estimate, to: estimate)
        }
        try run(
            "deconvolve_apply_pixel", p.size,
            [.buffer(source), .buffer(target), .buffer(luma), .buffer(estimate), .deconvolve(q), .rows(p)])
    }

    private func localContrastByPixels(
        _ plan: LocalContrastPlan, from source: Buffer, to target: Buffer, _ p: bg_chain_rows
    ) throws(OpenCLError) {
        let bands = ContrastBands(plan, rows: Int(p.first_row)..<Int(p.first_row + p.rows))
        let cells = try buffer(.light, bytes: 2 * bands.cells.count * plan.cellStride * 4)
        let slopes = try buffer(.slopes, bytes: 3 * bands.slopes.count * plan.cellStride * 4)
        let means = try buffer(.means, bytes: 2 * bands.means.count * plan.cellStride * 4)
        let line = try buffer(.columns, bytes: 2 * bands.cells.count * Int(p.stride) * 4)
        var q = bg_contrast_params(plan, bands, width: Int(p.width), lineStep: 2 * Int(p.stride))
        q.line_stride = p.stride
        try run(
            "contrast_lines_pixel", (Int(p.width), bands.cells.count),
            [.buffer(source), .buffer(line), .contrast(q), .rows(p)])
        try run(
            "contrast_cells_pixel", (plan.across, bands.cells.count),
            [.buffer(line), .buffer(cells), .contrast(q), .rows(p)])
        try run(
            "contrast_slopes_pixel", (plan.across, bands.slopes.count),
            [.buffer(cells), .buffer(slopes), .contrast(q), .rows(p)])
        try run(
            "contrast_means_pixel", (plan.across, bands.means.count),
            [.buffer(slopes), .buffer(means), .contrast(q)])
        try run(
            "contrast_apply_pixel", p.size,
            [.buffer(source), .buffer(target), .buffer(means), .contrast(q), .rows(p)])
    }
}

extension bg_chain_rows {
    /// Columns and rows to make.
    fileprivate var size: (x: Int, y: Int) { (Int(width), Int(rows)) }
}
