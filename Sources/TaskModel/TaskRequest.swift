/// What a program asks the scheduler to run, of any kind.
package struct TaskRequest: Hashable, Codable, Sendable {
    /// What to do when continued work cannot start at once; raw values as Apple's.
    package enum Strategy: Int, Codable, Sendable {
        /// Refuse the request; nothing stays queued.
        case fail
        /// Wait at the back of the line.
        case queue
    }

    /// Who asked (rule 26).
    package enum Initiator: String, Codable, Sendable {
        case terminal, dashboard, script, schedule

        /// No person asked for this just now.
        package var isAutomatic: Bool { self == .script || self == .schedule }
    }

    /// What happens when work has become slow and nobody answers the question (rule 63).
    package enum SlowPolicy: String, Codable, Sendable {
        case goOn, stop
    }

    /// What work holds while it runs (rule 39).
    package struct Claim: Hashable, Codable, Sendable {
        package var memoryBytes: Int
        /// On the device it is given, if any.
        package var deviceMemoryBytes: Int

        package init(memoryBytes: Int = 0, deviceMemoryBytes: Int = 0) {
            self.memoryBytes = memoryBytes
            self.deviceMemoryBytes = deviceMemoryBytes
        }
    }

    /// Which devices work may use, by identity (rule 38).
    package struct DeviceChoice: Hashable, Codable, Sendable {
        /// Best first; empty for any order.
        package var ordered: [String]
        package var excluded: Set<String>
        /// The device that draws the screen is left alone.
        package var avoidsDisplay: Bool

        package init(ordered: [String] = [], excluded: Set<String> = [], avoidsDisplay: Bool = false) {
            self.ordered = ordered
            self.excluded = excluded
            self.avoidsDisplay = avoidsDisplay
        }
    }

    package var identifier: TaskIdentifier
    package var kind: TaskKind
    package var title: String
    package var subtitle: String
    /// Seconds since 1970; a floor, ignored for continued work (rule 14).
    package var earliestBegin: Duration?
    package var requiresNetwork: Bool
    package var requiresExternalPower: Bool
    /// Of processing: waits for an idle machine and ends when its person returns (rule 56).
    package var requiresIdle: Bool
    /// Conditions that must be known to hold: a value that cannot be read blocks (rule 41).
    package var mustBeKnown: ConditionSet
    package var strategy: Strategy
    /// Without these the request is refused.
    package var requiredResources: ComputeResources
    /// These are used where they are; the result is the same without them (rule 36).
    package var preferredResources: ComputeResources
    package var claim: Claim
    package var devices: DeviceChoice
    package var initiator: Initiator
    package var slowPolicy: SlowPolicy
    /// The same key again means the same request again (rule 27).
    package var requestKey: String?
    /// Time that the work takes alone in the foreground, as far as is known; only for estimates.
    package var expectedWork: Duration?

    package init(
        identifier: TaskIdentifier, kind: TaskKind, title: String = "", subtitle: String = "",
        earliestBegin: Duration? = nil, requiresNetwork: Bool = false, requiresExternalPower: Bool = false,
        requiresIdle: Bool = true, mustBeKnown: ConditionSet = [], strategy: Strategy = .queue,
        requiredResources: ComputeResources = [], preferredResources: ComputeResources = [], claim: Claim = Claim(),
        devices: DeviceChoice = DeviceChoice(), initiator: Initiator = .terminal, slowPolicy: SlowPolicy = .goOn,
        requestKey: String? = nil, expectedWork: Duration? = nil
    ) {
        self.identifier = identifier
        self.kind = kind
        self.title = title
        self.subtitle = subtitle
        self.earliestBegin = earliestBegin
        self.requiresNetwork = requiresNetwork
        self.requiresExternalPower = requiresExternalPower
        self.requiresIdle = requiresIdle
        self.mustBeKnown = mustBeKnown
        self.strategy = strategy
        self.requiredResources = requiredResources
        self.preferredResources = preferredResources
        self.claim = claim
        self.devices = devices
        self.initiator = initiator
        self.slowPolicy = slowPolicy
        self.requestKey = requestKey
        self.expectedWork = expectedWork
    }
}
