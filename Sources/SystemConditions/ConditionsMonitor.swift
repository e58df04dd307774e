import CSystemConditions
import Glibc
import Locking
import Synchronization
package import TaskModel

/// The conditions of this machine, and their changes as the kernel and the message bus report them.
///
/// While started it has one thread, which sleeps until something happens (rule 54): it looks by itself only at what
/// ``setSampling(interval:of:)`` asks for.
package final class ConditionsMonitor: ConditionsProvider {
    typealias OpenEvents = @Sendable (SystemRoot) -> KernelEvents

    private struct Running {
        var thread: pthread_t
        var state: MonitorState
    }

    private struct Setup {
        var settings: ConditionSettings
        var plan = SamplingPlan()
        var running: Running?
        /// For readings while no thread runs.
        var meter = GPULoadMeter()
    }

    private let reader: ConditionsReader
    private let openEvents: OpenEvents
    private let setup: Lock<Setup>
    private let wakeUpCount = Atomic<Int>(0)

    /// A monitor that is not started yet.
    ///
    /// - Parameters:
    ///   - reader: Where it reads the conditions.
    ///   - settings: What else it is to look at.
    ///   - pressureDelay: For how long after its start it looks at the pressure every two seconds, and asks the kernel to
    ///     report it only then: the kernel takes some 40 ms to take such orders back, also from a process that ends.
    package convenience init(
        _ reader: ConditionsReader, settings: ConditionSettings = ConditionSettings(),
        pressureDelay: Duration = .seconds(1)
    ) {
        self.init(
            reader, settings: settings, openEvents: { KernelEvents(root: $0, pressureDelay: pressureDelay) })
    }

    /// A monitor to which sockets deliver device and route events in place of the kernel; it takes them over when it is
    /// started, once.
    package convenience init(
        _ reader: ConditionsReader, settings: ConditionSettings = ConditionSettings(), deviceEvents: Int32,
        routeEvents: Int32
    ) {
        self.init(
            reader, settings: settings,
            openEvents: { _ in KernelEvents(devices: deviceEvents, routes: routeEvents) })
    }

    private init(
        _ reader: ConditionsReader, settings: ConditionSettings, openEvents: @escaping OpenEvents
    ) {
        self.reader = reader
        self.openEvents = openEvents
        setup = Lock(Setup(settings: settings))
    }

    deinit { stop() }

    /// How often the thread has woken since the monitor was made.
    package var wakeUps: Int { setup.withLock { $0.running?.state.wakeUps } ?? wakeUpCount.load(ordering: .relaxed) }

    package func current() -> Conditions { readings().conditions }

    package func allowedHours() throws(AllowedHoursError) -> AllowedHours {
        try setup.withLock(\.settings.personFiles)?.allowedHours() ?? AllowedHours()
    }

    /// Reads files anew. What comes from the message bus is what it last reported while the monitor is started, and is
    /// asked for otherwise.
    package func readings() -> ConditionReadings {
        let (state, settings, before) = setup.withLock { ($0.running?.state, $0.settings, $0.meter) }
        var meter = before
        guard let state, var readings = state.lastReadings else {
            let readings = reader.read(settings, meter: &meter)
            setup.withLock { $0.meter = meter }
            return readings
        }
        // The thread's meter measures from one of its readings to the next.
        reader.update(
            ConditionSet.all.subtracting(ConditionSet(.gpuContention)), of: &readings, settings: settings,
            facts: state.facts, meter: &meter)
        return readings
    }

    /// As last reported to the receiver of changes; nil before the first report.
    package var lastReadings: ConditionReadings? { setup.withLock { $0.running?.state }?.lastReadings }

    /// Conditions whose every change is reported without sampling; all before the first report, which tells of each.
    package var eventDriven: ConditionSet { setup.withLock { $0.running?.state }?.eventDriven ?? .all }

    package func start(
        onSleep: @escaping @Sendable (SleepEvent) -> Void, onChange: @escaping @Sendable (Conditions) -> Void
    ) {
        stop()
        // Under the lock, so that a report that comes at once can already stop what it comes from.
        setup.withLock { setup in
            precondition(setup.running == nil, "a monitor is started by one thread at a time")
            let state = MonitorState(
                settings: setup.settings, plan: setup.plan, wakeUps: wakeUpCount.load(ordering: .relaxed))
            let loop = MonitorLoop(
                reader: reader, state: state, openEvents: openEvents, onChange: onChange, onSleep: onSleep)
            setup.running = Running(thread: Self.thread(for: loop), state: state)
        }
    }

    private static func thread(for loop: MonitorLoop) -> pthread_t {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<MonitorLoop>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(loop).toOpaque())
        precondition(status == 0, "the system gives out no more threads")
        return thread
    }

    /// Ends the thread and waits for that, except when called from a report, which is then the last.
    package func stop() {
        guard let running = setup.withLock({ $0.running.take() }) else { return }
        running.state.stop()
        if pthread_equal(running.thread, pthread_self()) != 0 {
            pthread_detach(running.thread)
        } else {
            pthread_join(running.thread, nil)
        }
        wakeUpCount.store(running.state.wakeUps, ordering: .relaxed)
    }

    package func setSampling(interval: Duration?, of kinds: ConditionSet) {
        let now = MonotonicClock.now()
        let state = setup.withLock { setup in
            setup.plan.set(interval, for: kinds, at: now)
            return setup.running?.state
        }
        state?.setSampling(interval, of: kinds, at: now)
    }

    /// Changes the settings and reads again what depends on them.
    package func apply(_ settings: ConditionSettings) {
        let state = setup.withLock { setup in
            setup.settings = settings
            return setup.running?.state
        }
        state?.apply(settings)
    }

    /// Has everything read again, for example after the process was stopped for a while.
    package func refresh() {
        setup.withLock { $0.running?.state }?.refresh(.all)
    }
}
