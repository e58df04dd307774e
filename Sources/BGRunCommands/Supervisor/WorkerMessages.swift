import ChunkedCompute
import Foundation
import ImageExport
import TaskModel

/// What the supervisor tells a worker.
enum HostMessage: Codable, Sendable {
    /// The first message: give up every right but these. The output folder's descriptor comes with it.
    case confine(WorkerTerms)
    /// The first and only message to a process that lays out weights. What to write them to comes with it, and the entry
    /// that there is.
    case layOut(LayingOutOrder)
    /// The inputs come open with it.
    ///
    /// - environment: What the device's driver wants set before its first call.
    case run(WorkOrder, environment: [String: String])
    /// The same while another item is in work, to be begun when that one has ended and there is the permit to, which is given
    /// after this.
    ///
    /// - notes: As ``noted``.
    case runAhead(WorkOrder, notes: Bool)
    /// The item that came ahead does not begin: the permit was taken back.
    case withdraw
    /// What was reported is written down: that item is not done again.
    case noted
    /// From the next chunk on, for this item and those that follow.
    case terms(RunTerms)
    /// Stand still between two bands of the item in work, and say so.
    case halt
    case goOn
    /// Give up the item in work unless it can be done within that time.
    case giveUp(within: Duration)
    /// Give up an item in work on a device, and everything that is held there.
    case leaveDevice
    /// Nothing comes any more: keep what later processes can use, and end.
    case leave
}

/// One item, as a worker gets it.
enum WorkOrder: Codable, Sendable {
    case export(PictureOrder)
    case enhance(PictureOrder)
    case infer(InferenceItem)
    case verify(VerifyItem)

    var lane: LaneChoice {
        switch self {
        case .export(let item), .enhance(let item): item.lane
        case .infer(let item): item.lane
        case .verify: .cpu
        }
    }

    /// As ``PictureOrder/replaceOutputs()``, for any work.
    mutating func replaceOutputs() {
        switch self {
        case .export(var item):
            item.replaceOutputs()
            self = .export(item)
        case .enhance(var item):
            item.replaceOutputs()
            self = .enhance(item)
        case .infer(var item):
            item.mayReplace = true
            self = .infer(item)
        case .verify: break
        }
    }

    /// As ``PictureOrder/cores``; nothing else shares an item out.
    mutating func give(cores: Int) {
        guard case .export(var item) = self else { return }
        item.cores = cores
        self = .export(item)
    }

    /// There is no larger share of memory to try it with.
    mutating func giveAllMemory() {
        guard case .infer(var item) = self else { return }
        item.hasAllMemory = true
        self = .infer(item)
    }

    /// Path of the first input.
    var input: String {
        switch self {
        case .export(let item), .enhance(let item): item.input
        case .infer(let item): item.sources.first?.path ?? ""
        case .verify(let item): item.path
        }
    }
}

/// What the items of a job have in common.
struct WorkerTerms: Codable, Sendable {
    var outputFolder: String
    /// An item may ask for an OpenCL device, whose driver needs more of the system than a decoder.
    var mayUseDevice: Bool
    /// Key of the laid out weights whose descriptor comes with this one, hexadecimal; nil where there are none.
    var weights: String?
    var work: Work

    /// What the kind of work adds.
    enum Work: Codable, Sendable {
        case export(PictureTerms)
        case enhance(EnhanceTerms, PictureTerms)
        case infer(InferenceTerms)
        case verify

        /// Files that workers read beside the inputs.
        var files: [String] {
            switch self {
            case .export(let terms): terms.settings.flatMap(\.markFiles).map(\.path)
            case .verify: []
            case .enhance(let terms, _): terms.model.files
            case .infer(let terms): terms.files
            }
        }
    }
}

/// What a worker tells its supervisor.
enum WorkerMessage: Codable, Sendable {
    /// Sign of life of the item in flight, at most four a second.
    case progress(done: Int, total: Int)
    /// A codec that gives no sign of life begins, or goes on; it may take so many seconds. An encoder that begins is named.
    case silent(seconds: Double, encode: ItemProgress.Encode?)
    /// The model has what the item's input gave, or has done with it. It may come before the result of the item in front, so
    /// it says how many items this worker has begun before.
    case runsModel(Bool, behind: Int)
    /// It stands still, as it was told to.
    case halted
    /// Weights had to be laid out for the item in flight.
    case laidOut(LaidOutModel)
    /// Ends the item in flight.
    case result(ItemResult)
}
