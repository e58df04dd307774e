package import ChunkedCompute
import Kernels

/// Rows of a chain between its operations, kept by the CPU lane from one chunk to the next, so that none is made twice.
final class CPUChain {
    private var plan: ChainPlan?
    /// Where the chunk after the last one begins.
    private var nextRow = 0
    private(set) var windows: [RowWindow] = []
    let scratch = Scratch()
    let cells = Scratch()
    let slopes = Scratch()
    let means = Scratch()
    let line = Scratch()

    /// Gets the windows ready for a chunk: what they hold of another picture or place goes.
    ///
    /// - Parameters:
    ///   - plan: The chain.
    ///   - needed: Rows of each level.
    ///   - output: Rows of the chunk.
    func prepare(_ plan: ChainPlan, needed: [Range<Int>], output: Range<Int>) {
        while windows.count < needed.count { windows.append(RowWindow()) }
        let goesOn = self.plan === plan && nextRow == output.lowerBound
        for (window, rows) in zip(windows, needed)
        where !goesOn || rows.count > window.capacityRows || rows.lowerBound < window.firstRow
            || rows.lowerBound > window.endRow
        {
            window.reset(
                strideBytes: plan.rowFloats * 4, capacityRows: min(plan.height, output.count + 2 * plan.radius),
                startRow: rows.lowerBound)
        }
        for (window, rows) in zip(windows, needed) { window.discard(before: rows.lowerBound) }
        self.plan = plan
        nextRow = output.upperBound
    }
}

extension CPULane {
    package var chunkChainRows: Int { Int(BG_DENOISE_ROWS) }
    package var runsTilesAtOnce: Bool { false }

    package func develop(_ plan: ChainPlan, source: RowBand, output: RowBand) throws(LaneError) {
        let range = output.firstRow..<output.firstRow + output.rowCount
        guard !plan.isPointwise else {
            developPoints(plan, source: source, output: output)
            return
        }
        let needed = plan.needed(for: range)
        chain.prepare(plan, needed: needed, output: range)
        let first = chain.windows[0]
        if let fresh = room(for: needed[0], in: first, plan) {
            var q = bg_point_params(plan.first, source: source, target: nil, isWide: plan.isWide)
            var p = fresh.rows
            if plan.isWide {
                kernels.chain.load16(
                    source.base.assumingMemoryBound(to: UInt16.self), fresh.base, plan.first.values, &q, &p)
            } else {
                kernels.chain.load8(
                    source.base.assumingMemoryBound(to: UInt8.self), fresh.base, plan.first.values, &q, &p)
            }
            change(plan.changes, fresh)
        }
        for (index, level) in plan.levels.enumerated() {
            guard let fresh = room(for: needed[index + 1], in: chain.windows[index + 1], plan) else { continue }
            let from = chain.windows[index].band
            var p = fresh.rows
            p.src_first_row = Int32(from.firstRow)
            let samples = from.base.assumingMemoryBound(to: Float.self)
            switch level.surroundings {
            case .denoise(let denoise):
                let tiles = p.tiles(width: Int(BG_DENOISE_COLUMNS), height: Int(BG_DENOISE_ROWS))
                let scratch = chain.scratch.elements(Float.self, Int(BG_DENOISE_SCRATCH))
                kernels.chain.denoise(samples, fresh.base, denoise.limits, scratch, &p, Int32(tiles))
            case .deconvolve(let deconvolve):
                let tiles = p.tiles(width: Int(BG_DECONVOLVE_COLUMNS), height: Int(BG_DECONVOLVE_ROWS))
                let scratch = chain.scratch.elements(Float.self, deconvolve.scratchFloats)
                var q = bg_deconvolve_params(deconvolve)
                kernels.chain.deconvolve(samples, fresh.base, deconvolve.weights, scratch, &q, &p, Int32(tiles))
            case .localContrast(let contrast):
                localContrast(contrast, samples, fresh.base, p)
            case .rotate(let rotation):
                var q = rotation.params
                kernels.chain.rotate(samples, fresh.base, rotation.weights, &q, &p, Int32(p.rotatedParts))
            }
            change(level.changes, fresh)
        }
        let last = chain.windows[needed.count - 1].band
        var q = bg_point_params(plan.last, source: nil, target: output, isWide: plan.isWide)
        var p = bg_chain_rows(plan, first: last.firstRow, rows: range)
        let samples = last.base.assumingMemoryBound(to: Float.self)
        if plan.isWide {
            kernels.chain.store16(
                samples, output.base.assumingMemoryBound(to: UInt16.self), plan.last.values, &q, &p)
        } else {
            kernels.chain.store8(
                samples, output.base.assumingMemoryBound(to: UInt8.self), plan.last.values, &q, &p)
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

    /// Rows that a window lacks, with the memory for them, which counts as filled.
    private struct Fresh {
        var base: UnsafeMutablePointer<Float>
        /// To make them at ``base``.
        var rows: bg_chain_rows
    }

    private func room(for needed: Range<Int>, in window: RowWindow, _ plan: ChainPlan) -> Fresh? {
        let rows = window.endRow..<needed.upperBound
        guard !rows.isEmpty else { return nil }
        let base = window.room(for: rows.count).assumingMemoryBound(to: Float.self)
        window.appended(rows.count)
        return Fresh(base: base, rows: bg_chain_rows(plan, first: rows.lowerBound, rows: rows))
    }

    private func change(_ changes: [ChainPlan.Change], _ fresh: Fresh) {
        var p = fresh.rows
        for change in changes {
            switch change {
            case .points(let program):
                var q = bg_point_params(program, source: nil, target: nil, isWide: false)
                kernels.chain.points(fresh.base, program.values, &q, &p)
            case .grain(var grain):
                kernels.chain.grain(fresh.base, &grain, &p)
            }
        }
    }

    private func localContrast(
        _ plan: LocalContrastPlan, _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>,
        _ rows: bg_chain_rows
    ) {
        let bands = ContrastBands(plan, rows: Int(rows.first_row)..<Int(rows.first_row + rows.rows))
        let cells = chain.cells.elements(Float.self, bands.cells.count * plan.cellStride)
        let slopes = chain.slopes.elements(Float.self, 2 * bands.slopes.count * plan.cellStride)
        let means = chain.means.elements(Float.self, 2 * bands.means.count * plan.cellStride)
        let line = chain.line.elements(Float.self, 2 * plan.lineStride(width: Int(rows.width)))
        var p = rows
        var q = bg_contrast_params(plan, bands, width: Int(rows.width), lineStep: 0)
        kernels.chain.contrast_cells(source, cells, line, &q, &p, Int32(bands.cells.count))
        kernels.chain.contrast_slopes(cells, slopes, line, &q, Int32(bands.slopes.count))
        kernels.chain.contrast_means(slopes, means, line, &q, Int32(bands.means.count))
        kernels.chain.contrast_apply(source, target, means, line, &q, &p)
    }
}
