package import ChunkedCompute
import Kernels

/// Rows of a chain between its operations, kept by the CPU lane from one chunk to the next, so that none is made twice.
final class CPUChain {
    /// Rows of cells of one local contrast.
    struct Cells {
        let luma = RowWindow()
        let slopes = RowWindow()
        let means = RowWindow()
    }

    let scratch = Scratch()
    let line = Scratch()
    /// Rows of the upright picture, before and after a denoising.
    let turned = (before: Scratch(), after: Scratch())
    private var plan: ChainPlan?
    private var output = 0..<0
    /// Whether this chunk goes on where the last one ended.
    private var goesOn = false
    /// The last row with clear pixels among those read, -1 where there is none.
    private var lastClearRow = -1
    /// The rows that were read, then those of each level.
    private var windows: [RowWindow] = []
    private var cells: [Int: Cells] = [:]

    /// To be told of each chunk first.
    func begin(_ plan: ChainPlan, output: Range<Int>) {
        goesOn = self.plan === plan && self.output.upperBound == output.lowerBound
        self.plan = plan
        self.output = output
        if !goesOn { lastClearRow = -1 }
    }

    /// To be told of fresh rows of the source in their order.
    func read(_ rows: Range<Int>, of source: RowBand, _ plan: ChainPlan) {
        guard plan.isWide else { return }
        let last = rows.last { source.rows($0, count: 1).hasClearPixels(width: plan.width) }
        lastClearRow = max(lastClearRow, last ?? -1)
    }

    /// Whether there are clear pixels in what this chunk reads, as `bg_chain_rows` has it.
    func clear(in needed: Range<Int>) -> Int32 { lastClearRow >= needed.lowerBound ? 1 : 0 }

    /// The window of a level, with what it holds of `rows` and room for the others.
    func window(_ index: Int, rows: Range<Int>, _ plan: ChainPlan) -> RowWindow {
        while windows.count <= index { windows.append(RowWindow()) }
        slide(
            windows[index], to: rows, floats: plan.rowFloats,
            capacity: min(plan.height, output.count + 2 * plan.radius))
        return windows[index]
    }

    /// The cells of a level, with room for those of `bands`.
    func cells(ofLevel index: Int, _ bands: ContrastBands, _ plan: LocalContrastPlan) -> Cells {
        let known = cells[index] ?? Cells()
        cells[index] = known
        // At the top of the picture there are fewer than later.
        let more = 2 * plan.radius + 2
        slide(known.luma, to: bands.cells, floats: 2 * plan.cellStride, capacity: bands.cells.count + more)
        slide(known.slopes, to: bands.slopes, floats: 3 * plan.cellStride, capacity: bands.slopes.count + more)
        slide(known.means, to: bands.means, floats: 2 * plan.cellStride, capacity: bands.means.count + more)
        return known
    }

    /// What the window holds of another picture or place goes.
    private func slide(_ window: RowWindow, to rows: Range<Int>, floats: Int, capacity: Int) {
        if !goesOn || rows.count > window.capacityRows || rows.lowerBound < window.firstRow
            || rows.lowerBound > window.endRow
        {
            window.reset(strideBytes: 4 * floats, capacityRows: capacity, startRow: rows.lowerBound)
        }
        window.discard(before: rows.lowerBound)
    }
}

extension RowWindow {
    fileprivate var floats: UnsafeMutablePointer<Float> { band.base.assumingMemoryBound(to: Float.self) }

    /// Has the rows up to `end` made that it lacks: `make` is given which, and the memory for them.
    fileprivate func fill(to end: Int, _ make: (Range<Int>, UnsafeMutablePointer<Float>) -> Void) {
        guard end > endRow else { return }
        let fresh = endRow..<end
        make(fresh, room(for: fresh.count).assumingMemoryBound(to: Float.self))
        appended(fresh.count)
    }
}

extension CPULane {
    package var chunkChainRows: Int { Int(BG_DENOISE_ROWS) }
    package var runsTilesAtOnce: Bool { false }

    package func develop(_ plan: ChainPlan, source: RowBand, output: RowBand) throws(LaneError) {
        if plan.isPointwise {
            developPoints(plan, source: source, output: output)
        } else {
            plan.first.values.withUnsafeBufferPointer { first in
                plan.last.values.withUnsafeBufferPointer { last in
                    var codes = bg_chain_codes()
                    (codes.first, codes.last) = (first.baseAddress, last.baseAddress)
                    codes.reading = bg_point_params(plan.first, source: source, target: nil, isWide: plan.isWide)
                    codes.writing = bg_point_params(plan.last, source: nil, target: output, isWide: plan.isWide)
                    developLevels(plan, source: source, output: output, codes)
                }
            }
        }
    }

    /// `codes` has the programs at both ends of the chain, and where codes lie.
    private func developLevels(_ plan: ChainPlan, source: RowBand, output: RowBand, _ codes: bg_chain_codes) {
        let range = output.firstRow..<output.firstRow + output.rowCount
        let needed = plan.needed(for: range)
        chain.begin(plan, output: range)
        var from = plan.readsCodes ? nil : load(plan, needed[0], source, codes)
        let clear = chain.clear(in: needed[0])
        for (index, level) in plan.levels.enumerated() {
            var ends = codes
            if from == nil { ends.source = UnsafePointer(source.base.assumingMemoryBound(to: UInt8.self)) }
            if index == plan.levels.count - 1, plan.writesCodes {
                ends.target = output.base.assumingMemoryBound(to: UInt8.self)
                var p = bg_chain_rows(plan, first: range.lowerBound, rows: range)
                p.src_first_row = Int32(from?.firstRow ?? 0)
                return surroundings(level.surroundings, index, from?.floats, nil, ends, p)
            }
            let window = chain.window(index + 1, rows: needed[index + 1], plan)
            window.fill(to: needed[index + 1].upperBound) { rows, base in
                var p = bg_chain_rows(plan, first: rows.lowerBound, rows: rows)
                p.src_first_row = Int32(from?.firstRow ?? 0)
                p.clear = clear
                surroundings(level.surroundings, index, from?.floats, base, ends, p)
                change(level.changes, base, p)
            }
            from = window
        }
        if let from { store(plan, from, range, output, codes) }
    }

    private func load(
        _ plan: ChainPlan, _ needed: Range<Int>, _ source: RowBand, _ codes: bg_chain_codes
    ) -> RowWindow {
        let window = chain.window(0, rows: needed, plan)
        window.fill(to: needed.upperBound) { rows, base in
            chain.read(rows, of: source, plan)
            var q = codes.reading
            var p = bg_chain_rows(plan, first: rows.lowerBound, rows: rows)
            if plan.isWide {
                kernels.chain.load16(source.base.assumingMemoryBound(to: UInt16.self), base, codes.first, &q, &p)
            } else {
                kernels.chain.load8(source.base.assumingMemoryBound(to: UInt8.self), base, codes.first, &q, &p)
            }
            change(plan.changes, base, p)
        }
        return window
    }

    private func store(
        _ plan: ChainPlan, _ window: RowWindow, _ range: Range<Int>, _ output: RowBand, _ codes: bg_chain_codes
    ) {
        var q = codes.writing
        var p = bg_chain_rows(plan, first: window.firstRow, rows: range)
        if plan.isWide {
            kernels.chain.store16(window.floats, output.base.assumingMemoryBound(to: UInt16.self), codes.last, &q, &p)
        } else {
            kernels.chain.store8(window.floats, output.base.assumingMemoryBound(to: UInt8.self), codes.last, &q, &p)
        }
    }

    /// From the rows of the level before, nil where the level reads codes, to those of this one, nil where it writes codes.
    private func surroundings(
        _ kind: Surroundings, _ level: Int, _ source: UnsafeMutablePointer<Float>?,
        _ target: UnsafeMutablePointer<Float>?, _ codes: bg_chain_codes, _ rows: bg_chain_rows
    ) {
        var p = rows
        switch kind {
        case .denoise(let denoise):
            if p.clear != 0 {
                var filled = p.denoised
                kernels.chain.denoise_fill(source, &filled)
            }
            guard denoise.orientation.value != 1 else { return self.denoise(denoise, source, target, codes, p) }
            let band = TurnedBand(p, denoise)
            var (there, back) = (band.there, band.back)
            let before = chain.turned.before.elements(Float.self, band.floats)
            let after = chain.turned.after.elements(Float.self, band.floats)
            kernels.chain.turn(source, before, &there)
            self.denoise(denoise, before, after, codes, band.rows)
            kernels.chain.turn(after, target, &back)
        case .deconvolve(let deconvolve):
            let tiles = p.tiles(width: Int(BG_DECONVOLVE_COLUMNS), height: Int(BG_DECONVOLVE_ROWS))
            let scratch = chain.scratch.elements(Float.self, deconvolve.scratchFloats(planes: Int(p.planes)))
            var q = bg_deconvolve_params(deconvolve)
            kernels.chain.deconvolve(source, target, deconvolve.weights, scratch, &q, &p, Int32(tiles))
        case .localContrast(let contrast):
            localContrast(contrast, level, source, target, codes, p)
        case .rotate(let rotation):
            var q = rotation.params
            kernels.chain.rotate(source, target, rotation.weights, &q, &p, Int32(p.rotatedParts))
        }
    }

    private func denoise(
        _ plan: DenoisePlan, _ source: UnsafeMutablePointer<Float>?, _ target: UnsafeMutablePointer<Float>?,
        _ codes: bg_chain_codes, _ rows: bg_chain_rows
    ) {
        var (codes, p) = (codes, rows)
        let tiles = p.tiles(width: Int(BG_DENOISE_COLUMNS), height: Int(BG_DENOISE_ROWS))
        let scratch = chain.scratch.elements(Float.self, Int(BG_DENOISE_SCRATCH))
        kernels.chain.denoise(source, target, &codes, plan.limits, scratch, &p, Int32(tiles))
    }

    private func localContrast(
        _ plan: LocalContrastPlan, _ level: Int, _ source: UnsafePointer<Float>?,
        _ target: UnsafeMutablePointer<Float>?, _ codes: bg_chain_codes, _ rows: bg_chain_rows
    ) {
        let bands = ContrastBands(plan, rows: Int(rows.first_row)..<Int(rows.first_row + rows.rows))
        let cells = chain.cells(ofLevel: level, bands, plan)
        let line = chain.line.elements(Float.self, 3 * plan.lineStride(width: Int(rows.width)))
        var (codes, p) = (codes, rows)
        var q = bg_contrast_params(plan, bands, width: Int(rows.width), lineStep: 0)
        cells.luma.fill(to: bands.cells.upperBound) { rows, base in
            q.first_cell = Int32(rows.lowerBound)
            kernels.chain.contrast_cells(source, &codes, base, line, &q, &p, Int32(rows.count))
        }
        q.first_cell = Int32(cells.luma.firstRow)
        cells.slopes.fill(to: bands.slopes.upperBound) { rows, base in
            q.first_slope = Int32(rows.lowerBound)
            kernels.chain.contrast_slopes(cells.luma.floats, base, line, &q, &p, Int32(rows.count))
        }
        q.first_slope = Int32(cells.slopes.firstRow)
        cells.means.fill(to: bands.means.upperBound) { rows, base in
            q.first_mean = Int32(rows.lowerBound)
            kernels.chain.contrast_means(cells.slopes.floats, base, line, &q, Int32(rows.count))
        }
        q.first_mean = Int32(cells.means.firstRow)
        kernels.chain.contrast_apply(source, target, &codes, cells.means.floats, line, &q, &p)
    }

    private func change(_ changes: [ChainPlan.Change], _ base: UnsafeMutablePointer<Float>, _ rows: bg_chain_rows) {
        var p = rows
        for change in changes {
            switch change {
            case .points(let program):
                var q = bg_point_params(program, source: nil, target: nil, isWide: false)
                kernels.chain.points(base, program.values, &q, &p)
            case .grain(var grain):
                kernels.chain.grain(base, &grain, &p)
            }
        }
    }

    private func developPoints(_ plan: ChainPlan, source: RowBand, output: RowBand) {
        var q = bg_point_params(plan.first, source: source, target: output, isWide: plan.isWide)
        var p = bg_chain_rows(
            plan, first: output.firstRow, rows: output.firstRow..<output.firstRow + output.rowCount)
        if plan.isWide {
            kernels.chain.codes16(
                source.base.assumingMemoryBound(to: UInt16.self), output.base.assumingMemoryBound(to: UInt16.self),
                plan.first.values, &q, &p)
        } else {
            kernels.chain.codes8(
                source.base.assumingMemoryBound(to: UInt8.self), output.base.assumingMemoryBound(to: UInt8.self),
                plan.first.values, &q, &p)
        }
    }
}
