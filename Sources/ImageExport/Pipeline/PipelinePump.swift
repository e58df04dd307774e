import ChunkedCompute
import ImageCodecs

/// Moves rows from the decoder to the pipelines of all outputs, and through the chains that these have in common.
struct PipelinePump {
    /// Rows that are decoded at a time.
    private static let batch = 16

    private let branches: [Branch]

    /// - Parameters:
    ///   - pipelines: Each with the place of the chain that it reads; nil reads the source.
    ///   - chains: What comes before.
    ///   - lane: Where chains run.
    init(
        _ pipelines: [(OutputPipeline, chain: Int?)], chains: [ChainRunner.Plan], lane: any ImageLane
    ) {
        func readers(of chain: Int?) -> [OutputPipeline] {
            pipelines.filter { $0.chain == chain }.map(\.0)
        }
        let direct = readers(of: nil)
        branches =
            (direct.isEmpty ? [] : [Branch(runner: nil, pipelines: direct)])
            + chains.enumerated().compactMap { index, plan in
                let readers = readers(of: index)
                if readers.isEmpty { return nil }
                let runner = ChainRunner(
                    plan: plan, lane: lane, readerRows: readers.map(\.sourceWindowRows).max() ?? 0)
                return Branch(runner: runner, pipelines: readers)
            }
    }

    /// What the chains took.
    var kernelSeconds: Double { branches.reduce(0) { $0 + ($1.runner?.kernelSeconds ?? 0) } }

    /// Goes on until the last output row is handed to its encoder.
    ///
    /// - Parameters:
    ///   - source: Started, nothing read.
    ///   - window: Where its rows go.
    ///   - tell: Called between bands; may throw to stop.
    /// - Throws: What decoder, lane and encoders throw, and what `tell` does.
    func run(_ source: SourceReader, through window: RowWindow, tell: (ItemProgress) throws -> Void) throws {
        begin(source, through: window)
        while !source.isAtEnd {
            try step(source, through: window) {
                try tell(ItemProgress(done: source.rowsDone, total: source.height))
            }
        }
    }

    /// To be called before the first ``step(_:through:tell:)``.
    func begin(_ source: SourceReader, through window: RowWindow) {
        let capacity = (branches.map(\.sourceWindowRows).max() ?? 0) + Self.batch
        window.reset(
            strideBytes: source.width * source.workingLayout.bytesPerPixel, capacityRows: min(capacity, source.height))
    }

    /// Moves the next few rows. Parameters and errors are those of ``run(_:through:tell:)``.
    ///
    /// - Returns: Whether there were any.
    @discardableResult func step(
        _ source: SourceReader, through window: RowWindow, tell: () throws -> Void
    ) throws -> Bool {
        guard try source.read(Self.batch) > 0 else { return false }
        let band = window.band
        for branch in branches {
            try branch.advance(source: band, ended: source.isAtEnd, tell: tell)
        }
        window.discard(before: branches.map(\.firstSourceRow).min() ?? 0)
        try tell()
        return true
    }

    /// Outputs that read the same rows: those of the source, or those of a chain.
    private struct Branch {
        var runner: ChainRunner?
        var pipelines: [OutputPipeline]

        /// Source rows before this one are not read again.
        var firstSourceRow: Int { runner?.firstSourceRow ?? firstRow }
        private var firstRow: Int { pipelines.map(\.firstSourceRow).min() ?? 0 }

        /// The most source rows that have to be there at a time.
        var sourceWindowRows: Int {
            runner?.sourceWindowRows ?? pipelines.map(\.sourceWindowRows).max() ?? 0
        }

        func advance(source: RowBand, ended: Bool, tell: () throws -> Void) throws {
            guard let runner else {
                for pipeline in pipelines { try pipeline.advance(source: source, ended: ended) }
                return
            }
            while try runner.advance(source: source) {
                for pipeline in pipelines { try pipeline.advance(source: runner.band, ended: runner.isAtEnd) }
                runner.discard(before: firstRow)
                try tell()
            }
        }
    }
}

extension PipelinePump {
    /// For one pipeline an output of the preparation; those take part that are made from a decoding at that scale.
    init(
        _ pipelines: [OutputPipeline], _ preparation: ExportPreparation, scaleEighths: Int, lane: any ImageLane
    ) {
        let readers = zip(pipelines, preparation.outputs).filter { $1.scaleEighths == scaleEighths }
        self.init(readers.map { ($0, chain: $1.chain) }, chains: preparation.chains, lane: lane)
    }
}
