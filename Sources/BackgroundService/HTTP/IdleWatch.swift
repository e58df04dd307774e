import BackgroundTasks
import Locking

/// Notices when nobody has needed the service for a while.
final class IdleWatch: Sendable {
    private struct State {
        var requests = 0
        var alarm: (any HostAlarm)?
    }

    private let clock: any HostClock
    private let patience: Duration?
    private let isNeeded: @Sendable () -> Bool
    private let onEnd: @Sendable () -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - clock: What the time is measured by.
    ///   - patience: How long nobody must need it; nil keeps it for ever.
    ///   - isNeeded: There are jobs that have not come to their end.
    ///   - onEnd: Is called when the time is over.
    init(
        clock: any HostClock, patience: Duration?, isNeeded: @escaping @Sendable () -> Bool,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.clock = clock
        self.patience = patience
        self.isNeeded = isNeeded
        self.onEnd = onEnd
        let alarm = clock.makeAlarm { [weak self] in self?.rang() }
        state.withLock { $0.alarm = alarm }
    }

    func requestBegan() {
        state.withLock {
            $0.requests += 1
            $0.alarm?.set(at: nil)
        }
    }

    func requestEnded() {
        state.withLock { $0.requests -= 1 }
        check()
    }

    /// To be called whenever something may have ended.
    func check() {
        guard let patience, !isNeeded() else { return }
        state.withLock {
            if $0.requests == 0 { $0.alarm?.set(at: clock.now + patience) }
        }
    }

    private func rang() {
        guard state.withLock({ $0.requests == 0 }), !isNeeded() else { return }
        onEnd()
    }
}
