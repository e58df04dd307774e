import ImageCodecs
import ImageExport
import SchedulingCore
import TaskModel
import TaskStore

/// One kind of work that a job can do: what is its own about planning, working and ending.
protocol Work {
    associatedtype Plan: WorkPlan

    static var words: WorkWords { get }
    /// Absolute path of the folder that outputs go to; it need not exist.
    var folder: String { get }
    /// Files and folders as they were named, each in its canonical form.
    var inputs: [String] { get }
    /// The same command line in the same place is the same job.
    var request: TaskRequest { get }
    /// Bounds of every input.
    var decodeLimits: DecodeLimits { get }

    /// Where items run.
    func lanePreference(_ flags: JobFlags) -> LanePolicy.Preference

    /// Looks at what all items need, before inputs are listed.
    ///
    /// - Returns: Why nothing can be started; nil where all is well.
    mutating func prepare() -> WorkEnding?

    /// What is to be done with the inputs that were listed; `job` is given where it goes on with a stopped run.
    func plan(
        _ scan: InputScan, journal: JournalReader, job: JobRecord?
    ) throws(StoreError) -> Plan

    /// Shows a plan in place of carrying it out; `rates` are bytes of input per second of earlier jobs.
    func show(_ plan: Plan, rates: ClosedRange<Double>?) -> ExitStatus

    /// What workers may reach beside the inputs and the output folder, and keep between items.
    var workerTerms: WorkerTerms.Work { get }

    /// What the person should be told of the command as such, a sentence each, before anything is done.
    var doubts: [String] { get }

    /// What ``workerTerms`` say workers read beside the inputs, once ``prepare()`` has looked at it.
    var sideFiles: SideFiles { get }

    /// Laid out weights of the model that workers run on the CPU; nil where there are none, or nowhere to keep them.
    var weightSupply: WeightSupply? { get }

    /// Longest time in which items in work are still finished once the service asks for a stop, where that is shorter than
    /// the service's own; what is not finished then is done again.
    static var longestFinish: Duration? { get }

    /// Makes of all items' outputs what the person asked for, once no item is left; is called again after a kill.
    ///
    /// - Throws: The failure of the file that could not be written.
    func finish(_ plan: Plan, _ journal: JournalWriter, into outputs: OutputFolder) throws
}

extension Work {
    func lanePreference(_ flags: JobFlags) -> LanePolicy.Preference { flags.lanePreference }

    mutating func prepare() -> WorkEnding? { nil }

    static var longestFinish: Duration? { nil }

    var doubts: [String] { [] }

    var sideFiles: SideFiles { SideFiles() }

    var weightSupply: WeightSupply? { nil }

    /// Each item's outputs are what was asked for.
    func finish(_ plan: Plan, _ journal: JournalWriter, into outputs: OutputFolder) throws {}
}

/// What a kind of work calls itself and its inputs.
struct WorkWords: Sendable {
    /// The job, e.g. `export`.
    var job: String
    /// One input, e.g. `picture`.
    var input: String
    /// What became of inputs, e.g. `exported`.
    var done: String
    /// How that goes together with the name of the folder.
    var place = "to"
    /// What to do after a stop.
    var afterStop = "Run the same command to go on."
}
