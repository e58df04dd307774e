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
