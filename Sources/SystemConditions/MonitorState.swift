import CSystemConditions
import Glibc
import Locking
import Synchronization
import TaskModel

/// What the monitor's thread shares with its owner.
final class MonitorState: Sendable {
    struct Orders {
        var settings: ConditionSettings
        var plan: SamplingPlan
        var refresh: ConditionSet = []
        var isStopping = false
    }

    private struct Heard {
        var facts = BusFacts.unknown("not asked yet")
        var readings: ConditionReadings?
        var eventDriven: ConditionSet = .all
    }

    /// Readable when there are new orders.
    let wakeUpDescriptor: Int32
    private let orders: Lock<Orders>
    private let heard = Lock(Heard())
    private let wakeUpCount: Atomic<Int>

    init(settings: ConditionSettings, plan: SamplingPlan, wakeUps: Int) {
        wakeUpDescriptor = bg_open_wake_up()
        precondition(wakeUpDescriptor >= 0, "the system gives out no more descriptors")
        orders = Lock(Orders(settings: settings, plan: plan))
        wakeUpCount = Atomic(wakeUps)
    }

    deinit { close(wakeUpDescriptor) }

    var wakeUps: Int { wakeUpCount.load(ordering: .acquiring) }
    var facts: BusFacts { heard.withLock(\.facts) }
    var lastReadings: ConditionReadings? { heard.withLock(\.readings) }
    var eventDriven: ConditionSet { heard.withLock(\.eventDriven) }

    func stop() { order { $0.isStopping = true } }

    func refresh(_ kinds: ConditionSet) { order { $0.refresh.formUnion(kinds) } }

    func setSampling(_ interval: Duration?, of kinds: ConditionSet, at now: Duration) {
        order { $0.plan.set(interval, for: kinds, at: now) }
    }

    func apply(_ settings: ConditionSettings) {
        order {
            $0.settings = settings
            $0.refresh.formUnion([
                ConditionSet(.lowPowerMode), ConditionSet(.outputVolume), ConditionSet(.gpuContention),
            ])
        }
    }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLock { change(&$0) }
        var one: UInt64 = 1
        _ = write(wakeUpDescriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// What the thread is to do now; conditions that are due or to be refreshed are handed out once.
    func take(at now: Duration) -> (orders: Orders, due: ConditionSet) {
        orders.withLock { orders in
            let due = orders.refresh.union(orders.plan.take(at: now))
            orders.refresh = []
            return (orders, due)
        }
    }

    func drainWakeUps() {
        var count: UInt64 = 0
        _ = read(wakeUpDescriptor, &count, MemoryLayout.size(ofValue: count))
    }

    func countWakeUp() { wakeUpCount.add(1, ordering: .acquiringAndReleasing) }

    func tell(_ facts: BusFacts, _ readings: ConditionReadings, eventDriven: ConditionSet) {
        heard.withLock { $0 = Heard(facts: facts, readings: readings, eventDriven: eventDriven) }
    }
}
