import Glibc

/// A value that one thread at a time can get at.
///
/// It stands where `Synchronization.Mutex` would: this toolchain's thread sanitizer does not see that one, and reports
/// whatever is behind it as a race. `pthread_mutex_t` is seen.
///
/// `@unchecked Sendable` is true because the value is reached only while the mutex is held.
package final class Lock<Value: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initial: consuming sending Value) {
        // Neither may move, so both have their place outside of this object.
        mutex = .allocate(capacity: 1)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
        mutex.initialize(to: pthread_mutex_t())
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "the system gives out no more locks")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls the body with the value, when no other thread is in one; a body that asks for the same lock again waits
    /// for ever.
    ///
    /// - Parameter body: Uses the value, and must not keep it.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    package func withLock<Answer: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Answer
    ) throws(Failure) -> sending Answer {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // The mutex makes it this thread's own for as long as the body runs.
        nonisolated(unsafe) let value = value
        return try body(&value.pointee)
    }
}
