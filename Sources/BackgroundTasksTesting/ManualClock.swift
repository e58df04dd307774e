package import BackgroundTasks
public import Foundation
import Locking

/// A clock that stands still until a test moves it.
public final class ManualClock: Sendable {
    private final class Alarm: HostAlarm {
        private let time = Lock<Duration?>(nil)
        let action: @Sendable () -> Void

        init(_ action: @escaping @Sendable () -> Void) {
            self.action = action
        }

        func set(at time: Duration?) {
            self.time.withLock { $0 = time }
        }

        var isSetTo: Duration? { time.withLock { $0 } }

        /// Whether it was due; it is not set any more then.
        func takeRing(at now: Duration) -> Bool {
            time.withLock {
                guard let time = $0, time <= now else { return false }
                $0 = nil
                return true
            }
        }
    }

    private final class WallWatch: Sendable {
        let action: @Sendable () -> Void

        init(_ action: @escaping @Sendable () -> Void) {
            self.action = action
        }
    }

    private struct WeakAlarm {
        weak var alarm: Alarm?
    }

    private struct WeakWatch {
        weak var watch: WallWatch?
    }

    /// Resumes its continuation once, whether it is woken before or after it sleeps.
    private final class Sleeper: Sendable {
        private struct State {
            var isAwake = false
            var continuation: CheckedContinuation<Void, Never>?
        }

        private let state = Lock(State())

        func sleep(_ continuation: CheckedContinuation<Void, Never>) {
            let isAwake = state.withLock { state in
                if !state.isAwake { state.continuation = continuation }
                return state.isAwake
            }
            if isAwake { continuation.resume() }
        }

        func wake() {
            let continuation = state.withLock { state in
                defer { state.continuation = nil }
                state.isAwake = true
                return state.continuation
            }
            continuation?.resume()
        }
    }

    private struct State {
        var now: Duration
        var wallOffset: Duration
        var alarms: [WeakAlarm] = []
        var watches: [WeakWatch] = []
        var rings = 0
        /// Set by ``after(_:perform:)`` and not rung yet.
        var pending: [UInt64: Alarm] = [:]
        var lastPending: UInt64 = 0
        /// Since the time last moved on.
        var ringsAtOnce = 0
    }

    private let state: Lock<State>

    /// Where clocks start unless a test says otherwise: the same in every run.
    public static let standardStart = Date(timeIntervalSince1970: 1_800_000_000)

    /// - Parameter date: Of its start.
    public init(startingAt date: Date = standardStart) {
        let now: Duration = .seconds(1_000)
        state = Lock(State(now: now, wallOffset: .seconds(date.timeIntervalSince1970) - now))
    }

    /// The date that it shows.
    public var date: Date {
        let wall = wallNow.components
        return Date(timeIntervalSince1970: Double(wall.seconds) + Double(wall.attoseconds) * 1e-18)
    }

    /// How often an alarm has rung so far.
    public var rings: Int { state.withLock(\.rings) }

    /// Time until the next alarm; nil when nothing would ever wake by itself.
    public var untilNextAlarm: Duration? {
        let now = now
        return alarms().compactMap(\.isSetTo).min().map { max($0 - now, .zero) }
    }

    /// Moves on, and rings what comes due on the way, each at its time and on the calling thread.
    public func advance(by duration: Duration) {
        let target = now + duration
        while ringNext(by: target) {}
        state.withLock { $0.now = max($0.now, target) }
    }

    /// Calls an action once when so much time has passed: work that takes its time, or something that happens later.
    ///
    /// ```swift
    /// machine.clock.after(.seconds(1_200)) { task.setTaskCompleted(success: true) }
    /// ```
    ///
    /// - Parameters:
    ///   - duration: From now on; what lies in the past is called as soon as time moves.
    ///   - action: Is called on the thread that moves the clock.
    public func after(_ duration: Duration, perform action: @escaping @Sendable () -> Void) {
        let number = state.withLock { state in
            state.lastPending += 1
            return state.lastPending
        }
        let alarm = Alarm { [weak self] in
            _ = self?.state.withLock { $0.pending.removeValue(forKey: number) }
            action()
        }
        alarm.set(at: now + max(duration, .zero))
        state.withLock { state in
            state.pending[number] = alarm
            state.alarms.append(WeakAlarm(alarm: alarm))
        }
    }

    /// Suspends the calling task until so much time has passed on this clock.
    ///
    /// - Parameter duration: From now on.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    public func sleep(for duration: Duration) async throws(CancellationError) {
        let sleeper = Sleeper()
        let alarm = makeAlarm { sleeper.wake() }
        alarm.set(at: now + max(duration, .zero))
        defer { alarm.set(at: nil) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper.sleep($0) }
        } onCancel: {
            sleeper.wake()
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Moves to the next alarm that is due within the duration and rings it.
    ///
    /// - Returns: False when there was none; the time is then at the end of the duration.
    func step(by target: Duration) -> Bool {
        if ringNext(by: target) { return true }
        state.withLock { $0.now = max($0.now, target) }
        return false
    }

    /// Sets the wall clock without letting time pass.
    public func setWallClock(to date: Date) {
        let watches = state.withLock { state in
            state.wallOffset = .seconds(date.timeIntervalSince1970) - state.now
            return state.watches.compactMap(\.watch)
        }
        for watch in watches { watch.action() }
    }

    private func alarms() -> [Alarm] {
        state.withLock { state in
            state.alarms.removeAll { $0.alarm == nil }
            return state.alarms.compactMap(\.alarm)
        }
    }

    private func ringNext(by target: Duration) -> Bool {
        let next = alarms().compactMap { alarm in alarm.isSetTo.map { (alarm: alarm, time: $0) } }
            .min { $0.time < $1.time }
        guard let next, next.time <= target else { return false }
        let now = state.withLock { state in
            state.ringsAtOnce = next.time > state.now ? 0 : state.ringsAtOnce + 1
            state.now = max(state.now, next.time)
            state.rings += 1
            precondition(state.ringsAtOnce < 100_000, "an alarm is set to the same moment again and again")
            return state.now
        }
        if next.alarm.takeRing(at: now) { next.alarm.action() }
        return true
    }
}

extension ManualClock: HostClock {
    package var now: Duration { state.withLock(\.now) }
    package var wallNow: Duration { state.withLock { $0.now + $0.wallOffset } }

    package func makeAlarm(_ action: @escaping @Sendable () -> Void) -> any HostAlarm {
        let alarm = Alarm(action)
        state.withLock { $0.alarms.append(WeakAlarm(alarm: alarm)) }
        return alarm
    }

    package func watchWallClock(_ action: @escaping @Sendable () -> Void) -> any Sendable {
        let watch = WallWatch(action)
        state.withLock { $0.watches.append(WeakWatch(watch: watch)) }
        return watch
    }
}
