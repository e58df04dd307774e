import ChunkedCompute
import ImageCodecs

/// Carries out the part of a chain that comes before a resize, for all outputs that have it in common.
final class ChainRunner {
    /// What is to be done, and for whom.
    struct Plan {
        var chain: ChainPlan
        /// Takes the rows to the output's colours first.
        var color: ColorTransform?
        /// Source rows are `rgbx8`, and those of the chain `rgba16`.
        var widens = false
        /// Largest number of rows in a chunk.
        var chunkRows: Int

        /// Something is done to source rows before the chain reads them.
        var prepares: Bool { color != nil || widens }
        var layout: PixelLayout { chain.isWide ? .rgba16 : .rgbx8 }
        var rowBytes: Int { chain.width * layout.bytesPerPixel }

        /// Bytes that a runner holds whose readers need `rows` rows at a time, the lane's memory included.
        func workingBytes(rows: Int, lane: any ImageLane) -> Int {
            let windows = 2 * rowBytes * min(chain.height, rows + chunkRows)
            let prepared = prepares ? 2 * rowBytes * min(chain.height, chunkRows + 2 * chain.radius + 1) : 0
            return windows + prepared + chain.workingBytes(rows: chunkRows, tilesAtOnce: lane.runsTilesAtOnce)
        }
    }

    let plan: Plan
    private let lane: any ImageLane
    private let window: RowWindow
    private let prepared: RowWindow
    private(set) var kernelSeconds = 0.0

    /// - Parameters:
    ///   - plan: What to do.
    ///   - lane: Where.
    ///   - readerRows: The most rows that a reader needs at a time.
    init(plan: Plan, lane: any ImageLane, readerRows: Int) {
        self.plan = plan
        self.lane = lane
        window = RowWindow()
        prepared = RowWindow()
        window.reset(
            strideBytes: plan.rowBytes, capacityRows: min(plan.chain.height, readerRows + plan.chunkRows))
        if plan.prepares {
            prepared.reset(
                strideBytes: plan.rowBytes,
                capacityRows: min(plan.chain.height, plan.chunkRows + 2 * plan.chain.radius + 1))
        }
    }

    /// Rows that are done and not given up.
    var band: RowBand { window.band }
    var isAtEnd: Bool { window.endRow == plan.chain.height }

    func discard(before row: Int) { window.discard(before: row) }

    /// Source rows before this one are not read again.
    var firstSourceRow: Int {
        plan.prepares ? prepared.endRow : plan.chain.sourceRows(for: window.endRow..<window.endRow).lowerBound
    }

    /// The most source rows that have to be there at a time.
    var sourceWindowRows: Int { plan.chunkRows + 2 * plan.chain.radius }

    /// Makes the next chunk, where its rows are there.
    ///
    /// - Parameter source: The rows of the source window.
    /// - Returns: Whether there was one to make.
    /// - Throws: ``LaneError`` when the device fails.
    func advance(source: RowBand) throws(LaneError) -> Bool {
        let height = plan.chain.height
        let rows = window.endRow..<min(height, window.endRow + plan.chunkRows)
        let needed = plan.chain.sourceRows(for: rows)
        guard !rows.isEmpty, needed.upperBound <= source.firstRow + source.rowCount else { return false }
        let clock = ContinuousClock.now
        defer { kernelSeconds += clock.secondsSince }
        let output = RowBand(
            base: window.room(for: rows.count), strideBytes: plan.rowBytes, firstRow: rows.lowerBound,
            rowCount: rows.count)
        let source = prepared(needed, source)
        if plan.chain.changesNothing {
            output.base.copyMemory(
                from: source.pointer(row: rows.lowerBound), byteCount: rows.count * plan.rowBytes)
        } else {
            try lane.develop(plan.chain, source: source, output: output)
        }
        window.appended(rows.count)
        return true
    }

    private func prepared(_ needed: Range<Int>, _ source: RowBand) -> RowBand {
        guard plan.prepares else { return source }
        prepared.discard(before: needed.lowerBound)
        let fresh = needed.upperBound - prepared.endRow
        if fresh > 0 {
            let base = prepared.room(for: fresh)
            let from = source.pointer(row: prepared.endRow)
            if plan.widens {
                PixelConversion.widen(
                    from.assumingMemoryBound(to: UInt8.self), to: base.assumingMemoryBound(to: UInt16.self),
                    sampleCount: 4 * plan.chain.width * fresh)
            } else {
                base.copyMemory(from: from, byteCount: fresh * plan.rowBytes)
            }
            plan.color?.apply(to: base, strideBytes: plan.rowBytes, width: plan.chain.width, count: fresh)
            prepared.appended(fresh)
        }
        return prepared.band
    }
}
