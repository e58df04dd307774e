import Locking
package import SystemConditions

/// Stands where logind delays sleep; says whether that was asked for.
package final class SimulatedInhibitor: SleepInhibiting {
    private struct State {
        var isHeld = false
        var timesHeld = 0
    }

    private let state = Lock(State())
    private let refusal: BusError?

    /// - Parameter refusal: What every hold throws.
    package init(refusal: BusError? = nil) {
        self.refusal = refusal
    }

    package var isHeld: Bool { state.withLock(\.isHeld) }
    package var timesHeld: Int { state.withLock(\.timesHeld) }

    package func hold(why: String) throws(BusError) {
        if let refusal { throw refusal }
        state.withLock { state in
            if !state.isHeld { state.timesHeld += 1 }
            state.isHeld = true
        }
    }

    package func release() {
        state.withLock { $0.isHeld = false }
    }
}
