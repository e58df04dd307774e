import Dispatch
import Locking

/// Holds work up while it is paused, and lets it go when it is resumed or has to stop.
final class PauseGate: Sendable {
    private enum Waiter {
        case async(CheckedContinuation<Void, Never>)
        case thread(DispatchSemaphore)
    }

    private struct State {
        var isPaused = false
        /// Work that has to stop is never held up.
        var isOpenForGood = false
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state = Lock(State())

    var isPaused: Bool { state.withLock { $0.isPaused && !$0.isOpenForGood } }

    func pause() {
        state.withLock { $0.isPaused = true }
    }

    func resume() {
        release { $0.isPaused = false }
    }

    func openForGood() {
        release { $0.isOpenForGood = true }
    }

    /// Returns at once while nothing is paused, and when the calling Swift task is cancelled.
    ///
    /// - Parameter onWait: Is called when the work does wait.
    func wait(onWait: () -> Void) async {
        let id = state.withLock {
            $0.nextWaiter += 1
            return $0.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock {
                    guard $0.isPaused, !$0.isOpenForGood, !Task.isCancelled else { return true }
                    $0.waiters[id] = .async(continuation)
                    return false
                }
                if goesOn { continuation.resume() } else { onWait() }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter.map(Self.letGo)
        }
    }

    /// Blocks the calling thread.
    ///
    /// - Parameter onWait: Is called when the work does wait.
    func block(onWait: () -> Void) {
        let semaphore = DispatchSemaphore(value: 0)
        let waits = state.withLock {
            guard $0.isPaused, !$0.isOpenForGood else { return false }
            $0.nextWaiter += 1
            $0.waiters[$0.nextWaiter] = .thread(semaphore)
            return true
        }
        guard waits else { return }
        onWait()
        semaphore.wait()
    }

    private func release(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            let waiters = state.waiters.values
            state.waiters = [:]
            return Array(waiters)
        }
        waiters.forEach(Self.letGo)
    }

    private static func letGo(_ waiter: Waiter) {
        switch waiter {
        case .async(let continuation): continuation.resume()
        case .thread(let semaphore): semaphore.signal()
        }
    }
}
