public import Foundation
import TaskModel

/// What all requests have; submit one of the subclasses.
///
/// A request is copied when it is submitted, so that changing it later has no effect on what was submitted: submit it
/// again to replace that (rules 13 and 15).
public class BGTaskRequest: NSObject, NSCopying {
    /// Who asked for the work (rule 26).
    public enum Initiator: String, Sendable, CaseIterable {
        /// A person at a terminal.
        case terminal
        /// A person at the dashboard.
        case dashboard
        /// A script; counts as automatic.
        case script
        /// A timetable; counts as automatic.
        case schedule
    }

    /// What the work holds while it runs (rule 39).
    public struct Claim: Hashable, Sendable {
        /// Main memory in bytes.
        public var memoryBytes: Int
        /// Memory of the device it is given, in bytes.
        public var deviceMemoryBytes: Int

        public init(memoryBytes: Int = 0, deviceMemoryBytes: Int = 0) {
            self.memoryBytes = memoryBytes
            self.deviceMemoryBytes = deviceMemoryBytes
        }
    }

    /// The name that the permitted list and the launch handler know it by.
    public let identifier: String
    /// The work does not begin before; nil for no delay. A floor and no promise, ignored for continued work.
    public var earliestBeginDate: Date?
    /// Submitting again with the same key is the same submission again, not a second one (rule 27).
    public var requestKey: String?
    /// What the work holds while it runs; nothing is known by default.
    public var claim = Claim()
    /// Who asked; by default a person at the terminal if there is one, else a script.
    public var initiator: Initiator
    /// Conditions that must be known to hold: by default a value that cannot be read blocks nothing (rule 41).
    public var conditionsThatMustBeKnown: Set<BGCondition> = []
    /// Seconds that the work takes alone in the foreground, as far as is known; only for estimates.
    public var expectedWork: Duration?

    init(identifier: String, initiator: Initiator) {
        self.identifier = identifier
        self.initiator = initiator
        super.init()
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        RequestValue(self).request
    }

    /// What the scheduler needs to know of it.
    func taskRequest() -> TaskRequest {
        preconditionFailure("BGTaskRequest is abstract: submit one of its subclasses")
    }

    final func filled(_ request: TaskRequest) -> TaskRequest {
        var request = request
        request.earliestBegin = earliestBeginDate.map { .seconds(clamping: $0.timeIntervalSince1970) }
        request.requestKey = requestKey
        request.claim = .init(memoryBytes: claim.memoryBytes, deviceMemoryBytes: claim.deviceMemoryBytes)
        request.initiator = .init(initiator)
        request.mustBeKnown = ConditionSet(conditionsThatMustBeKnown.map(\.kind))
        request.expectedWork = expectedWork
        return request
    }

    final func fill(from request: TaskRequest) {
        earliestBeginDate = request.earliestBegin.map { Date(timeIntervalSince1970: $0.seconds) }
        requestKey = request.requestKey
        claim = Claim(memoryBytes: request.claim.memoryBytes, deviceMemoryBytes: request.claim.deviceMemoryBytes)
        initiator = Initiator(request.initiator)
        conditionsThatMustBeKnown = Set(request.mustBeKnown.kinds.map(BGCondition.init))
        expectedWork = request.expectedWork
    }
}

extension BGTaskRequest.Initiator {
    /// A person at the terminal of this process, or a script.
    static let ofThisProcess: Self = isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1 ? .terminal : .script

    init(_ initiator: TaskRequest.Initiator) {
        switch initiator {
        case .terminal: self = .terminal
        case .dashboard: self = .dashboard
        case .script: self = .script
        case .schedule: self = .schedule
        }
    }
}

extension TaskRequest.Initiator {
    init(_ initiator: BGTaskRequest.Initiator) {
        switch initiator {
        case .terminal: self = .terminal
        case .dashboard: self = .dashboard
        case .script: self = .script
        case .schedule: self = .schedule
        }
    }
}

extension Duration {
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
