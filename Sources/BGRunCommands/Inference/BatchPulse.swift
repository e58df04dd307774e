import ChunkedCompute
import ImageCodecs
import ImageExport
import Inference
import InferenceData

/// Asks between steps whether to go on, and tells how far the batch is.
final class BatchPulse {
    private var progress: ItemProgress
    private let onProgress: (ItemProgress) -> Bool

    init(steps: Int, _ onProgress: @escaping (ItemProgress) -> Bool) {
        progress = ItemProgress(done: 0, total: steps)
        self.onProgress = onProgress
    }

    var mayGoOn: Bool { onProgress(progress) }

    /// A codec that may give no sign of life is at work, on a common machine for about so long; nil for none.
    var silentSeconds: Double? {
        get { progress.silentSeconds }
        set { progress.silentSeconds = newValue }
    }

    /// So many more steps follow.
    func expect(steps: Int) { progress.total = max(progress.total, progress.done + steps) }

    /// So many steps are done.
    ///
    /// - Returns: Whether to go on.
    func steps(_ count: Int) -> Bool {
        progress.done = min(progress.done + count, progress.total)
        return mayGoOn
    }

    /// The model is about to do what it asks for.
    ///
    /// - Returns: Whether to go on.
    func passes(_ point: RunPoint) -> Bool {
        switch point {
        case .step: return steps(1)
        case .subgraph(ends: true): return mayGoOn
        case .subgraph(ends: false):
            // A loop that nothing but its own condition ends may go on for ever: it is no sign that the batch gets on.
            var progress = progress
            progress.isSign = false
            return onProgress(progress)
        }
    }

    /// From here on the model has the batch, until it has not any more.
    func runsModel(_ runs: Bool) { progress.runsModel = runs }

    /// To be called before outputs are put in their places.
    func mayCommit() throws(DataError) {
        var last = progress
        last.commits = true
        guard onProgress(last) else { throw DataError.stopped }
    }

    func goOn(after count: Int) throws(DataError) {
        guard steps(count) else { throw DataError.stopped }
    }
}

extension ItemResult {
    /// What a broken-off item came to. What fails on a device may go well on another lane.
    fileprivate init(stoppedOrFailed error: any Error, on lane: LaneChoice) {
        switch error {
        case let error as DataError where error.code == .stopped: self.init(status: .stopped)
        case let error as ModelError where error.code == .stopped: self.init(status: .stopped)
        case let error as CodecError where error.code == .stopped: self.init(status: .stopped)
        default:
            self.init(status: .failed)
            failure = Failure(error)
            if lane != .cpu, (error as? ModelError)?.code == .engine || (error as? DataError)?.code == .engine {
                failure?.code = "device"
            }
        }
    }
}

extension MadeItem {
    /// What comes of work that may break off: then it has no outputs.
    init(on lane: LaneChoice, _ work: (inout ItemResult) throws -> [WrittenOutput]) {
        var result = ItemResult(status: .good)
        do {
            let outputs = try work(&result)
            self.init(result, outputs: outputs)
        } catch {
            self.init(ItemResult(stoppedOrFailed: error, on: lane))
        }
    }
}

extension ItemResult.Failure {
    init(_ error: any Error) {
        switch error {
        case let error as DataError:
            self.init(code: String(error.code.rawValue.dropFirst("data.".count)), reason: error.sentence)
        case let error as ModelError:
            self.init(code: String(error.code.rawValue.dropFirst("model.".count)), reason: error.sentence)
        default: self = ImageExporter.failure(error)
        }
    }
}
