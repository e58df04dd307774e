import Locking

/// Calls its body the first time only.
final class CallOnce: Sendable {
    private let body: Lock<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = Lock(body)
    }

    func callAsFunction() {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}
