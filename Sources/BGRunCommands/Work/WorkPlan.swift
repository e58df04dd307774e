import ChunkedCompute
import ImageCodecs
import TaskStore

/// What a job is going to do, item by item, as its kind of work knows it; a run knows items by their numbers.
protocol WorkPlan: Sendable {
    associatedtype Settled: Collection<InputRecord>

    var itemCount: Int { get }
    /// Of all items, and those that need no work or can have none.
    var inputCount: Int { get }
    /// Inputs that need no work or can have none, with their records.
    var settled: Settled { get }
    /// What lies among the inputs and is none.
    var passedOver: [InputRecord] { get }
    var refusals: [PlanRefusal] { get }
    /// Folders that outputs go to.
    var outputFolders: Set<String> { get }
    /// There is nothing to be done but to say so.
    var isFinished: Bool { get }
    /// What was passed over, in words; nil when nothing was.
    var passedOverNote: String? { get }
    /// The inputs of an item in the order in which its worker gets them, at least one.
    func inputs(of item: Int) -> [InputFile]
    /// Bytes of them.
    func inputBytes(of item: Int) -> Int64
    /// Its outputs as the journal notes them.
    func intents(of item: Int) -> [PlannedOutput]
    func order(of item: Int, lane: LaneChoice, limits: DecodeLimits) -> WorkOrder
    /// About how long the longest part of an item takes that hears no stop, such as an encoder's, in seconds.
    func longestSilence(of item: Int) -> Double
    /// Items have one input each. The system bounds how many files may be on their way to processes that do not listen.
    var haveOneInput: Bool { get }
    /// How each input of an item ended.
    func records(of item: Int, _ result: ItemResult, device: String, seconds: Double) -> [InputRecord]
}

/// Something that keeps a whole job from starting.
struct PlanRefusal: Hashable, Sendable {
    /// `collision`, `misnamed`, `leavesFolder`, `overwritesInput`, `outputExists` or `notAFile`.
    var code: String
    var sentence: String
}

extension WorkPlan {
    var isFinished: Bool { itemCount == 0 }

    var haveOneInput: Bool { (0..<itemCount).allSatisfy { inputs(of: $0).count == 1 } }

    /// Files that stand among outputs and are none.
    var unknownFiles: [String] {
        passedOver.filter { ["unknown", "unrecorded"].contains($0.code) }.map(\.input)
    }

    /// Bytes of the inputs of an item.
    func inputBytes(of item: Int) -> Int64 { inputs(of: item).reduce(0) { $0 + $1.identity.size } }

    func longestSilence(of item: Int) -> Double { 0 }

    /// Bytes of the inputs of all items.
    var inputBytes: Int64 { (0..<itemCount).reduce(0) { $0 + inputBytes(of: $1) } }

    var passedOverNote: String? {
        let outputs = passedOver.count { $0.code == "ownOutput" }
        let links = passedOver.filter { $0.code == "linkedFolder" }
        var parts: [String] = []
        if outputs > 0 { parts.append("\(outputs) \(outputs == 1 ? "output" : "outputs") of earlier exports left out") }
        if let first = links.first {
            let others = links.count > 1 ? " and \(links.count - 1) more" : ""
            parts.append("a linked folder is not followed: \(first.input)\(others)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
