import Glibc
import TaskModel

/// What the monitor's thread does. Everything here but `state` belongs to that thread alone.
///
/// `@unchecked Sendable` is true because an instance is handed from the thread that makes it to the one that runs it,
/// and is used by nobody else.
final class MonitorLoop: @unchecked Sendable {
    /// A bus that went away is looked for no more often than this, and only when something else has happened.
    private static let busRetry: Duration = .seconds(30)

    private let reader: ConditionsReader
    private let state: MonitorState
    private let openEvents: ConditionsMonitor.OpenEvents
    private let onChange: @Sendable (Conditions) -> Void
    private let onSleep: @Sendable (SleepEvent) -> Void

    private var bus: SystemBus?
    private var busTriedAt: Duration?
    private var facts = BusFacts.unknown("not asked yet")
    private var readings = ConditionReadings(unknown: "not read yet")
    private var meter = GPULoadMeter()

    init(
        reader: ConditionsReader, state: MonitorState, openEvents: @escaping ConditionsMonitor.OpenEvents,
        onChange: @escaping @Sendable (Conditions) -> Void, onSleep: @escaping @Sendable (SleepEvent) -> Void
    ) {
        self.reader = reader
        self.state = state
        self.openEvents = openEvents
        self.onChange = onChange
        self.onSleep = onSleep
    }

    func run() {
        // Signals are for the program's other threads.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)

        // Opened before the first reading, so that no change falls between the two.
        let kernel = openEvents(reader.root)
        var changed = ConditionSet.all
        var isFirst = true
        while true {
            let now = MonotonicClock.now()
            if connect(at: now) { changed = .all }
            let (orders, due) = state.take(at: now)
            if orders.isStopping { return }
            changed.formUnion(due)
            changed.formUnion(kernel.openDue(at: now))
            if !changed.isEmpty {
                read(changed, orders.settings, reported: kernel.covered, isFirst: isFirst)
                isFirst = false
            }
            changed = wait(for: kernel, until: orders.plan.nextDue)
        }
    }

    private func read(
        _ kinds: ConditionSet, _ settings: ConditionSettings, reported: ConditionSet, isFirst: Bool
    ) {
        let before = readings.conditions
        reader.update(kinds, of: &readings, settings: settings, facts: facts, meter: &meter)
        state.tell(facts, readings, eventDriven: reported.union(facts.covered))
        let conditions = readings.conditions
        if isFirst || conditions != before { onChange(conditions) }
    }

    /// Sleeps until something happens.
    ///
    /// - Returns: What may have changed.
    private func wait(for kernel: KernelEvents, until due: Duration?) -> ConditionSet {
        var polled = [pollfd(fd: state.wakeUpDescriptor, events: Int16(POLLIN), revents: 0)]
        if let bus { polled.append(pollfd(fd: bus.descriptor, events: bus.events, revents: 0)) }
        let ours = polled.count
        polled += kernel.polled

        var milliseconds: Int32 = -1
        if let end = [due, kernel.due, bus?.processDeadline].compactMap(\.self).min() {
            let left = (end - MonotonicClock.now()) / .milliseconds(1)
            // Rounded up: a millisecond too early would be one more round for nothing.
            milliseconds = Int32(min(max(0, left.rounded(.up)), Double(Int32.max)))
        }
        let count = poll(&polled, nfds_t(polled.count), milliseconds)
        guard count >= 0 else { return [] }
        state.countWakeUp()
        if polled[0].revents != 0 { state.drainWakeUps() }
        return hearBus().union(kernel.changes(polled[ours...]))
    }

    /// - Returns: Whether a connection is new, or known to be impossible for the first time.
    private func connect(at now: Duration) -> Bool {
        guard bus == nil else { return false }
        if let busTriedAt, now - busTriedAt < Self.busRetry { return false }
        let isFirst = busTriedAt == nil
        busTriedAt = now
        do {
            let opened = try SystemBus(reader.bus)
            // Before asking: what changes after the answer is then reported.
            try BusEvent.watch(opened)
            facts = BusFacts.all(opened)
            bus = opened
            return true
        } catch {
            facts = .unknown(error.reason)
            return isFirst
        }
    }

    private func hearBus() -> ConditionSet {
        guard let bus else { return [] }
        let events: [BusEvent]
        do {
            events = try bus.process().compactMap(BusEvent.init(rawValue:))
        } catch {
            self.bus = nil
            facts = .unknown(error.reason)
            return [ConditionSet(.idle), ConditionSet(.network), ConditionSet(.lowPowerMode)]
        }
        var changed: ConditionSet = []
        for event in events {
            if let sleep = event.sleep { onSleep(sleep) }
            if event == .didWake { changed = .all }
        }
        // However often a service has spoken, it is asked once.
        if changed == .all {
            facts = BusFacts.all(bus)
            return changed
        }
        if events.contains(.idle) {
            facts.idle = BusFacts.idle(bus)
            changed.formUnion(ConditionSet(.idle))
        }
        if events.contains(.network) {
            facts.metered = BusFacts.metered(bus)
            changed.formUnion(ConditionSet(.network))
        }
        if events.contains(.profile) {
            facts.profile = BusFacts.profile(bus)
            changed.formUnion(ConditionSet(.lowPowerMode))
        }
        return changed
    }
}
