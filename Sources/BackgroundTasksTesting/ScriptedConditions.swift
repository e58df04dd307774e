import BackgroundTasks
import Synchronization
package import TaskModel

/// Conditions that change when a test says so.
public final class ScriptedConditions: Sendable {
    private struct State {
        var conditions: SimulatedConditions
        var onChange: (@Sendable (Conditions) -> Void)?
        var readings = 0
    }

    private let state: Mutex<State>

    public init(_ conditions: SimulatedConditions = .calm) {
        state = Mutex(State(conditions: conditions))
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

    package func start(onChange: @escaping @Sendable (Conditions) -> Void) {
        let conditions = state.withLock { state in
            state.onChange = onChange
            return state.conditions.value
        }
        onChange(conditions)
    }

    package func stop() {
        state.withLock { $0.onChange = nil }
    }

    package func setSampling(interval: Duration?, of kinds: ConditionSet) {}
}
