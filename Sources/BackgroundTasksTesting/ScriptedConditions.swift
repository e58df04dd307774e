import Locking
package import SystemConditions
package import TaskModel

/// Conditions that change when a test says so.
public final class ScriptedConditions: Sendable {
    private struct State {
        var conditions: SimulatedConditions
        var onChange: (@Sendable (Conditions) -> Void)?
        var onSleep: (@Sendable (SleepEvent) -> Void)?
        var sampled: ConditionSet = []
        var eventDriven = ConditionSet.all
        /// Counts what is played, so that a new trace takes the place of an old one.
        var playing = 0
    }

    private let state: Lock<State>

    public init(_ conditions: SimulatedConditions = .calm) {
        state = Lock(State(conditions: conditions))
    }

    public var conditions: SimulatedConditions { state.withLock(\.conditions) }

    /// Whether anyone watches them.
    public var isWatched: Bool { state.withLock { $0.onChange != nil } }

    /// Changes them, and tells whoever watches before it returns.
    public func change(_ change: (inout SimulatedConditions) -> Void) {
        let (onChange, conditions) = state.withLock { state in
            change(&state.conditions)
            return (state.onChange, state.conditions.value)
        }
        onChange?(conditions)
    }

    /// Changes them as a trace says, from now on; a trace that was being played is left off.
    ///
    /// - Parameters:
    ///   - trace: Its first change happens at once if it is at the trace's beginning.
    ///   - clock: Whose time it goes by.
    public func play(_ trace: ConditionsTrace, on clock: ManualClock) {
        let number = state.withLock { state in
            state.playing += 1
            return state.playing
        }
        playNext(trace.changes[...], of: number, since: clock.now, on: clock)
    }

    private func playNext(
        _ changes: ArraySlice<ConditionsTrace.Change>, of number: Int, since start: Duration, on clock: ManualClock
    ) {
        var changes = changes
        while let next = changes.first {
            guard start + next.at <= clock.now else {
                clock.after(start + next.at - clock.now) { [weak self, weak clock, changes] in
                    guard let self, let clock, state.withLock({ $0.playing }) == number else { return }
                    playNext(changes, of: number, since: start, on: clock)
                }
                return
            }
            change { $0 = next.conditions }
            changes.removeFirst()
        }
    }
}

extension ScriptedConditions: ConditionsProvider {
    package func current() -> Conditions { conditions.value }

    package func start(
        onSleep: @escaping @Sendable (SleepEvent) -> Void, onChange: @escaping @Sendable (Conditions) -> Void
    ) {
        let conditions = state.withLock { state in
            state.onChange = onChange
            state.onSleep = onSleep
            return state.conditions.value
        }
        onChange(conditions)
    }

    package func stop() {
        state.withLock { state in
            state.onChange = nil
            state.onSleep = nil
        }
    }

    package var eventDriven: ConditionSet { state.withLock(\.eventDriven) }

    /// Has no event tell of conditions but these; of all by default.
    package func hearOnly(_ kinds: ConditionSet) { state.withLock { $0.eventDriven = kinds } }

    package func setSampling(interval: Duration?, of kinds: ConditionSet) {
        state.withLock { state in
            if interval == nil { state.sampled.subtract(kinds) } else { state.sampled.formUnion(kinds) }
        }
    }

    /// Tells whoever watches, before it returns, that the machine is about to sleep or has come back.
    package func tell(_ event: SleepEvent) {
        state.withLock(\.onSleep)?(event)
    }

    /// Conditions that are looked at by themselves.
    package var sampled: ConditionSet { state.withLock(\.sampled) }
}
