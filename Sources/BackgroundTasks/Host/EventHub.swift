import Locking

/// Hands events to everyone who listens.
final class EventHub: Sendable {
    private struct Listeners {
        var next: UInt64 = 0
        var continuations: [UInt64: AsyncStream<BGTaskScheduler.Event>.Continuation] = [:]
        var observers: [@Sendable (BGTaskScheduler.Event) -> Void] = []
    }

    private let listeners = Lock(Listeners())

    /// - Parameter limit: Events that are kept for a listener who does not keep up; older ones are lost.
    /// - Returns: A stream that ends with this hub.
    func stream(keeping limit: Int) -> AsyncStream<BGTaskScheduler.Event> {
        let (stream, continuation) = AsyncStream<BGTaskScheduler.Event>.makeStream(
            bufferingPolicy: .bufferingNewest(limit))
        let id = listeners.withLock {
            $0.next += 1
            $0.continuations[$0.next] = continuation
            return $0.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    /// Calls the action with each event, on the thread that tells it and before it tells the next one.
    func observe(_ action: @escaping @Sendable (BGTaskScheduler.Event) -> Void) {
        listeners.withLock { $0.observers.append(action) }
    }

    func send(_ event: BGTaskScheduler.Event) {
        let (observers, continuations) = listeners.withLock { ($0.observers, Array($0.continuations.values)) }
        for observer in observers { observer(event) }
        for continuation in continuations { continuation.yield(event) }
    }

    deinit {
        listeners.withLock { Array($0.continuations.values) }.forEach { $0.finish() }
    }
}
