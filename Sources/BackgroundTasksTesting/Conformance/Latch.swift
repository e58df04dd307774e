import Dispatch
import Locking

/// Opens once; whoever waits goes on then, or when waiting takes too long.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Lock(State())

    func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOpen = true
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    var isOpen: Bool { state.withLock(\.isOpen) }

    /// - Parameter limit: Of real time.
    /// - Returns: Whether it is open.
    func wait(atMost limit: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> UInt64? in
                if state.isOpen { return nil }
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = continuation
                return state.lastWaiter
            }
            guard let number else { return continuation.resume(returning: true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) {
                let waiter = self.state.withLock { $0.waiters.removeValue(forKey: number) }
                waiter?.resume(returning: false)
            }
        }
    }
}
