import ChunkedCompute
import ImageCodecs
import TaskStore

/// What an inference is going to do: batches, each into a part of its own, and the files that are made of all of them.
struct InferencePlan: WorkPlan {
    struct Batch: Sendable {
        var item: InferenceItem
        /// As many as the item has sources.
        var files: [InputFile]
        /// Its share of the files' bytes.
        var bytes: Int64
        /// Its part as the journal notes it.
        var intent: PlannedOutput
    }

    /// All batches, in the order of their inputs.
    var batches: [Batch] = []
    /// Places of the batches that are not there yet.
    var todo: [Int] = []
    var settled: [InputRecord] = []
    var passedOver: [InputRecord] = []
    var refusals: [PlanRefusal] = []
    /// The files that were asked for.
    var results: [PlannedOutput] = []
    var resultsAreCurrent = false
    /// A file that stands in place of a result gives way.
    var mayReplace = false

    var itemCount: Int { todo.count }
    var inputCount: Int { settled.count + todo.reduce(0) { $0 + batches[$1].item.count } }
    var isFinished: Bool { todo.isEmpty && resultsAreCurrent }
    var outputFolders: Set<String> { Set(results.map { OutputFolderGuard.parent($0.path) }) }

    /// Inputs of all batches, made or not.
    var rowCount: Int { batches.reduce(0) { $0 + $1.item.count } }

    /// The file that rows of an output go to, until they are all there.
    func rowsPath(of output: Int) -> String { batches[0].item.rows(of: output) }

    func inputs(of item: Int) -> [InputFile] { batches[todo[item]].files }
    func inputBytes(of item: Int) -> Int64 { batches[todo[item]].bytes }
    func intents(of item: Int) -> [PlannedOutput] { [batches[todo[item]].intent] }

    func order(of item: Int, lane: LaneChoice, limits: DecodeLimits) -> WorkOrder {
        var order = batches[todo[item]].item
        order.lane = lane
        order.limits = limits
        return .infer(order)
    }

    func records(of item: Int, _ result: ItemResult, device: String, seconds: Double) -> [InputRecord] {
        let batch = batches[todo[item]]
        let names = batch.item.names
        let problems = Dictionary(result.problems.map { ($0.input, $0.failure) }) { first, _ in first }
        let damages = Dictionary(result.damages.map { ($0.input, $0.failure) }) { first, _ in first }
        let bytes = Int(batch.bytes) / max(names.count, 1)
        return names.enumerated().map { place, name in
            let failure = result.status == .failed ? result.failure : problems[place]
            let damage = failure == nil ? damages[place] : nil
            var record = InputRecord(
                input: name, status: failure != nil ? .failed : damage != nil ? .damaged : .good,
                code: (failure ?? damage)?.code, reason: (failure ?? damage)?.reason)
            record.inputBytes = bytes
            record.device = device
            record.seconds = seconds / Double(max(names.count, 1))
            // They are of the batch.
            if place == 0 { record.notes = result.notes }
            return record
        }
    }
}
