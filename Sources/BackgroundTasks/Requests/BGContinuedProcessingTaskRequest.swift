import TaskModel

/// Asks for work that a person started, that shows its progress, and that goes on in the background.
public final class BGContinuedProcessingTaskRequest: BGTaskRequest {
    /// What to do when the work cannot start at once.
    public enum SubmissionStrategy: Int, Sendable {
        /// Refuse the request; nothing stays queued.
        case fail = 0
        /// Wait at the back of the line.
        case queue = 1
    }

    /// What work needs beyond processor time, memory and network.
    public struct Resources: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// A healthy OpenCL device of GPU type; the manifest needs the grant `gpu`.
        public static let gpu = Resources(rawValue: 1 << 0)
    }

    /// What happens when work has become slow and nobody answers the question (rule 63).
    public enum SlowPolicy: String, Sendable, CaseIterable {
        case goOn, stop
    }

    /// Which devices the work may use (rule 38).
    public struct DeviceChoice: Hashable, Sendable {
        /// Identities of devices, best first; empty for any order.
        public var ordered: [String]
        /// Identities of devices that are not used.
        public var excluded: Set<String>
        /// Leaves the device alone that draws the screen.
        public var avoidsDisplay: Bool

        public init(ordered: [String] = [], excluded: Set<String> = [], avoidsDisplay: Bool = false) {
            self.ordered = ordered
            self.excluded = excluded
            self.avoidsDisplay = avoidsDisplay
        }
    }

    /// Shown before and while it runs.
    public var title: String
    /// Shown below the title.
    public var subtitle: String
    /// `.queue` by default.
    public var strategy: SubmissionStrategy = .queue
    /// Without these the request is refused; empty by default. See ``BGTaskScheduler/supportedResources``.
    public var requiredResources: Resources = []
    /// These are used where they are, and the result is the same without them; empty by default (rule 36).
    public var preferredResources: Resources = []
    /// Which devices may be used; any by default.
    public var devices = DeviceChoice()
    /// `.goOn` by default.
    public var slowPolicy: SlowPolicy = .goOn

    /// - Parameters:
    ///   - identifier: One of the manifest's identifiers, or the prefix of one of its wildcards with a suffix of its own.
    ///   - title: What is being done, in the person's language.
    ///   - subtitle: How it is going, in the person's language.
    public init(identifier: String, title: String, subtitle: String) {
        self.title = title
        self.subtitle = subtitle
        super.init(identifier: identifier, initiator: .ofThisProcess)
    }

    override func taskRequest() -> TaskRequest {
        filled(
            TaskRequest(
                identifier: TaskIdentifier(identifier), kind: .continued, title: title, subtitle: subtitle,
                strategy: strategy == .fail ? .fail : .queue,
                requiredResources: ComputeResources(rawValue: requiredResources.rawValue),
                preferredResources: ComputeResources(rawValue: preferredResources.rawValue),
                devices: .init(
                    ordered: devices.ordered, excluded: devices.excluded, avoidsDisplay: devices.avoidsDisplay),
                slowPolicy: slowPolicy == .stop ? .stop : .goOn))
    }

    func fillContinued(from request: TaskRequest) {
        fill(from: request)
        strategy = request.strategy == .fail ? .fail : .queue
        requiredResources = Resources(rawValue: request.requiredResources.rawValue)
        preferredResources = Resources(rawValue: request.preferredResources.rawValue)
        devices = DeviceChoice(
            ordered: request.devices.ordered, excluded: request.devices.excluded,
            avoidsDisplay: request.devices.avoidsDisplay)
        slowPolicy = request.slowPolicy == .stop ? .stop : .goOn
    }
}
