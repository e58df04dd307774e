package import ChunkedCompute
import Kernels
import OpenCLKit

/// Device copies of what a chain's kernels read; holds the plan so that its identity stays its own.
struct ChainTables {
    let plan: ChainPlan
    let first: Buffer
    let last: Buffer
    /// Of each level: limits of a denoising, weights of a deconvolution or a rotation.
    let levels: [Buffer?]
    /// Of the changes of each level, those of the rows that were read first.
    let changes: [[Buffer?]]
}

extension OpenCLLane {
    // Neighbouring chunks make what they share twice.
    package var chunkChainRows: Int { 4 * Int(BG_DENOISE_ROWS) }
    // The form of GPUs takes no more memory than tiles at once would.
    package var runsTilesAtOnce: Bool { true }

    package func develop(_ plan: ChainPlan, source: RowBand, output: RowBand) throws(LaneError) {
        do {
            try developRows(plan, source: source, output: output)
        } catch {
            throw LaneError("\(error)")
        }
    }

    /// One upload, all kernels in the order of the queue, one download.
    private func developRows(_ plan: ChainPlan, source: RowBand, output: RowBand) throws(OpenCLError) {
        let tables = try chainTables(for: plan)
        let range = output.firstRow..<output.firstRow + output.rowCount
        let needed = plan.needed(for: range)
        let rows = source.rows(needed[0].lowerBound, count: needed[0].count)
        let codes = try upload(rows)
        let rowBytes = plan.width * (plan.isWide ? 8 : 4)
        let result = try buffer(.output, bytes: rowBytes * range.count)
        let target = RowBand(
            base: output.base, strideBytes: rowBytes, firstRow: output.firstRow, rowCount: output.rowCount)
        let bits = plan.isWide ? 16 : 8
        if plan.isPointwise {
            let q = bg_point_params(plan.first, source: rows, target: target, isWide: plan.isWide)
            let p = bg_chain_rows(plan, first: range.lowerBound, rows: range)
            try run(
                "points_codes\(bits)", p,
                [.buffer(codes), .buffer(result), .buffer(tables.first), .points(q), .rows(p)])
            try download(result, into: output, rowBytes: rowBytes)
            return
        }
        var level = try buffer(.even, bytes: needed[0].count * plan.rowFloats * 4)
        let clear: Int32 = plan.isWide && rows.hasClearPixels(width: plan.width) ? 1 : 0
        var p = bg_chain_rows(plan, first: needed[0].lowerBound, rows: needed[0])
        let q = bg_point_params(plan.first, source: rows, target: nil, isWide: plan.isWide)
        try run(
            "points_load\(bits)", p,
            [.buffer(codes), .buffer(level), .buffer(tables.first), .points(q), .rows(p)])
        try change(plan.changes, tables.changes[0], level, p)
        for (index, step) in plan.levels.enumerated() {
            let made = needed[index + 1]
            let next = try buffer(index % 2 == 0 ? .odd : .even, bytes: made.count * plan.rowFloats * 4)
            p = bg_chain_rows(plan, first: made.lowerBound, rows: made)
            p.src_first_row = Int32(needed[index].lowerBound)
            p.clear = clear
            try surroundings(step.surroundings, tables.levels[index], from: level, to: next, p)
            p.src_first_row = p.dst_first_row
            try change(step.changes, tables.changes[index + 1], next, p)
            level = next
        }
        try run(
            "points_store\(bits)", p,
            [
                .buffer(level), .buffer(result), .buffer(tables.last),
                .points(bg_point_params(plan.last, source: nil, target: target, isWide: plan.isWide)), .rows(p),
            ])
        try download(result, into: output, rowBytes: rowBytes)
    }

    /// Runs a kernel that changes every pixel of the rows by itself.
    private func run(_ name: String, _ rows: bg_chain_rows, _ arguments: [Argument]) throws(OpenCLError) {
        switch form {
        case .strips: try run(name, count: Int(rows.rows), arguments)
        case .pixels: try run("\(name)_pixel", (Int(rows.width), Int(rows.rows)), arguments)
        }
    }

    private func surroundings(
        _ kind: Surroundings, _ table: Buffer?, from source: Buffer, to target: Buffer, _ rows: bg_chain_rows
    ) throws(OpenCLError) {
        guard case .denoise(let plan) = kind else {
            return try upright(kind, table, from: source, to: target, rows)
        }
        if rows.clear != 0 { try run("denoise_fill", rows.denoised, [.buffer(source), .rows(rows.denoised)]) }
        guard plan.orientation.value != 1 else { return try upright(kind, table, from: source, to: target, rows) }
        let band = TurnedBand(rows, plan)
        let (before, after) = try (buffer(.turned, bytes: band.floats * 4), buffer(.made, bytes: band.floats * 4))
        try turn(source, to: before, band.there)
        try upright(kind, table, from: before, to: after, band.rows)
        try turn(after, to: target, band.back)
    }

    private func turn(_ source: Buffer, to target: Buffer, _ q: bg_turn_params) throws(OpenCLError) {
        let arguments: [Argument] = [.buffer(source), .buffer(target), .turn(q)]
        switch form {
        case .strips: try run("turn_rows", count: (Int(q.rows) + Int(BG_TURN_ROWS) - 1) / Int(BG_TURN_ROWS), arguments)
        case .pixels: try run("turn_pixel", (Int(q.columns), Int(q.rows)), arguments)
        }
    }

    /// As ``surroundings(_:_:from:to:_:)``, of rows that lie as the operation's grid has them.
    private func upright(
        _ kind: Surroundings, _ table: Buffer?, from source: Buffer, to target: Buffer, _ rows: bg_chain_rows
    ) throws(OpenCLError) {
        guard form == .strips else { return try surroundingsByPixels(kind, table, from: source, to: target, rows) }
        var p = rows
        switch (kind, table) {
        case (.denoise, let limits?):
            let tiles = p.tiles(width: Int(BG_DENOISE_COLUMNS), height: Int(BG_DENOISE_ROWS))
            p.scratch_stride = Int32(BG_DENOISE_SCRATCH)
            let scratch = try buffer(.columns, bytes: tiles * Int(BG_DENOISE_SCRATCH) * 4)
            try run(
                "denoise_tile", count: tiles,
                [.buffer(source), .buffer(target), .buffer(limits), .buffer(scratch), .rows(p)])
        case (.deconvolve(let plan), let weights?):
            let tiles = p.tiles(width: Int(BG_DECONVOLVE_COLUMNS), height: Int(BG_DECONVOLVE_ROWS))
            let floats = plan.scratchFloats(planes: Int(p.planes))
            p.scratch_stride = Int32(floats)
            let scratch = try buffer(.columns, bytes: tiles * floats * 4)
            try run(
                "deconvolve_tile", count: tiles,
                [
                    .buffer(source), .buffer(target), .buffer(weights), .buffer(scratch),
                    .deconvolve(bg_deconvolve_params(plan)), .rows(p),
                ])
        case (.localContrast(let plan), _):
            try localContrast(plan, from: source, to: target, p)
        case (.rotate(let plan), let weights?):
            try run(
                "rotate_part", count: p.rotatedParts,
                [.buffer(source), .buffer(target), .buffer(weights), .rotate(plan.params), .rows(p)])
        case (.denoise, nil), (.deconvolve, nil), (.rotate, nil):
            preconditionFailure("an operation without its table")
        }
    }

    private func localContrast(
        _ plan: LocalContrastPlan, from source: Buffer, to target: Buffer, _ p: bg_chain_rows
    ) throws(OpenCLError) {
        let bands = ContrastBands(plan, rows: Int(p.first_row)..<Int(p.first_row + p.rows))
        let lineStep = 3 * plan.lineStride(width: Int(p.width))
        let lines = max(bands.cells.count, bands.slopes.count, Int(p.rows))
        let cells = try buffer(.light, bytes: 2 * bands.cells.count * plan.cellStride * 4)
        let slopes = try buffer(.slopes, bytes: 3 * bands.slopes.count * plan.cellStride * 4)
        let means = try buffer(.means, bytes: 2 * bands.means.count * plan.cellStride * 4)
        let line = try buffer(.columns, bytes: lines * lineStep * 4)
        let q = bg_contrast_params(plan, bands, width: Int(p.width), lineStep: lineStep)
        try run(
            "contrast_cells", count: bands.cells.count,
            [.buffer(source), .buffer(cells), .buffer(line), .contrast(q), .rows(p)])
        try run(
            "contrast_slopes", count: bands.slopes.count,
            [.buffer(cells), .buffer(slopes), .buffer(line), .contrast(q), .rows(p)])
        try run(
            "contrast_means", count: bands.means.count,
            [.buffer(slopes), .buffer(means), .buffer(line), .contrast(q)])
        try run(
            "contrast_apply", count: Int(p.rows),
            [.buffer(source), .buffer(target), .buffer(means), .buffer(line), .contrast(q), .rows(p)])
    }

    private func change(
        _ changes: [ChainPlan.Change], _ tables: [Buffer?], _ level: Buffer, _ p: bg_chain_rows
    ) throws(OpenCLError) {
        for (change, table) in zip(changes, tables) {
            switch (change, table) {
            case (.points(let program), let values?):
                let q = bg_point_params(program, source: nil, target: nil, isWide: false)
                try run("points_rows", p, [.buffer(level), .buffer(values), .points(q), .rows(p)])
            case (.grain(let grain), _):
                try run("grain_rows", p, [.buffer(level), .grain(grain), .rows(p)])
            case (.points, nil):
                preconditionFailure("a program without its table")
            }
        }
    }

    private func chainTables(for plan: ChainPlan) throws(OpenCLError) -> ChainTables {
        if let known = chainTables[ObjectIdentifier(plan)] { return known }
        // Plans are made per picture; older ones are not coming back.
        if chainTables.count >= 8 { chainTables.removeAll() }
        var levels: [Buffer?] = []
        for level in plan.levels {
            switch level.surroundings {
            case .denoise(let plan): levels.append(try table(plan.limits))
            case .deconvolve(let plan): levels.append(try table(plan.weights))
            case .rotate(let plan): levels.append(try table(plan.weights))
            case .localContrast: levels.append(nil)
            }
        }
        var changes: [[Buffer?]] = []
        for each in [plan.changes] + plan.levels.map(\.changes) {
            var tables: [Buffer?] = []
            for change in each {
                if case .points(let program) = change {
                    tables.append(try table(program.values))
                } else {
                    tables.append(nil)
                }
            }
            changes.append(tables)
        }
        let made = ChainTables(
            plan: plan, first: try table(plan.first.values), last: try table(plan.last.values), levels: levels,
            changes: changes)
        chainTables[ObjectIdentifier(plan)] = made
        return made
    }
}
