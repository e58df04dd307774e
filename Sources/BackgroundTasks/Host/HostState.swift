package import SchedulingCore
import TaskModel

/// What a host decides with and what it still has to do, all behind one lock.
package struct HostState<Own: Sendable, Message: Sendable>: Sendable {
    /// What is to be done after the lock has been let go, in order.
    package enum Output: Sendable {
        case act(SchedulerAction)
        case tell(Message)
    }

    package var scheduler: Scheduler
    /// What the owner of the host decides together with the scheduler.
    package var own: Own
    var outbox: [Output] = []
    /// Someone carries out what is in the outbox; nobody else may, or things would overtake each other.
    var isCarryingOut = false
    var knowsCapabilities = false
    /// Whether changes of the conditions are to be heard, and whether they are.
    var needsConditions = false
    var watchesConditions = false
    /// Since when nothing has waited or run, nor was about to.
    var emptySince: Duration?
    var sampling = ConditionSampling.none
    /// As they were last heard, and what is to be taken for true instead (rule 99).
    var measured = Conditions()
    var simulated: [ConditionKind: Bool] = [:]
    /// The person's hours in which background work may not run, in the next days, and why they cannot be read.
    var blockedHours: [Range<Duration>] = []
    var hoursProblem: Diagnostic?
    var sleepDelay = SleepDelay()
    /// Sleep cannot be delayed here, and that was noted.
    var lacksInhibitor = false
    var nextIsSetTo: Duration?
    var sleepDelayIsSetTo: Duration?
    var restIsSetTo: Duration?
    /// When the hours are looked at again.
    var hoursIsSetTo: Duration?

    init(scheduler: Scheduler, own: Own) {
        self.scheduler = scheduler
        self.own = own
    }

    /// What is to be added to the scheduler's clock to get seconds since 1970.
    package var wallOffset: Duration { scheduler.wall - scheduler.now }

    /// Sees whether anybody needs the conditions: a host with nothing to do is not to be woken (rule 54). They are given
    /// up a while later, for who submits again soon need not ask the machine everything again.
    ///
    /// - Returns: When they will be given up, if nothing else happens.
    mutating func looksForRest(at now: Duration) -> Duration? {
        guard needsConditions else { return nil }
        guard scheduler.waitingCount == 0, scheduler.runningCount == 0, sleepDelay.isFree else {
            emptySince = nil
            return nil
        }
        let since = emptySince ?? now
        emptySince = since
        let rest = since + .seconds(10)
        needsConditions = rest > now
        return needsConditions ? rest : nil
    }

    /// The conditions to decide by.
    var conditions: Conditions {
        simulated.reduce(into: measured) { $0.set($1.key, isMet: $1.value) }
    }

    /// Has the scheduler keep to the person's hours, or to what is to be taken for true instead.
    mutating func blockHours(at now: Duration) {
        let wall = now + wallOffset
        let hours =
            switch simulated[.allowedHours] {
            case nil: blockedHours
            case true?: [Range<Duration>]()
            case false?: [wall..<wall + .seconds(10 * 365 * 86_400)]
            }
        add(scheduler.blockHours(hours, at: now))
    }

    package mutating func add(_ actions: [SchedulerAction]) {
        outbox += actions.map(Output.act)
    }

    mutating func tell(_ message: Message) {
        outbox.append(.tell(message))
    }
}
