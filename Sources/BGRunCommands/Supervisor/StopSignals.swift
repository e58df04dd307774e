import Glibc
import Synchronization

/// SIGINT and SIGTERM: the first asks to stop, the second leaves at once.
///
/// A closed terminal (SIGHUP) does not stop a job. Leaving at once is safe at any moment: workers end with their
/// supervisor, and the journal knows what was planned.
enum StopSignals {
    /// The first signal that came; 0 before.
    private static let first = Atomic<Int32>(0)
    private static let wakeUpDescriptor = Atomic<Int32>(-1)

    static var received: Int32? {
        let signal = first.load(ordering: .acquiring)
        return signal == 0 ? nil : signal
    }

    /// Takes over the signals. To be called once, before other threads exist.
    ///
    /// - Returns: A descriptor that becomes readable with the first signal and with ``wakeUp()``.
    static func install() -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return -1 }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakeUpDescriptor.store(ends[1], ordering: .releasing)
        // Only calls that POSIX allows in a handler.
        let handler: @convention(c) (Int32) -> Void = { signal in
            let (exchanged, _) = StopSignals.first.compareExchange(
                expected: 0, desired: signal, ordering: .acquiringAndReleasing)
            guard exchanged else { _exit(128 + signal) }
            // The interrupted code may be about to read it.
            let interrupted = errno
            StopSignals.wakeUp()
            errno = interrupted
        }
        // Whoever started this process may have had them blocked.
        var taken = sigset_t()
        sigemptyset(&taken)
        sigaddset(&taken, SIGINT)
        sigaddset(&taken, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &taken, nil)
        signal(SIGINT, handler)
        signal(SIGTERM, handler)
        signal(SIGHUP, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        return ends[0]
    }

    /// This process only shows a job: a closed terminal ends it, and the job goes on.
    static func endWithTerminal() {
        signal(SIGHUP, SIG_DFL)
        var hangUp = sigset_t()
        sigemptyset(&hangUp)
        sigaddset(&hangUp, SIGHUP)
        pthread_sigmask(SIG_UNBLOCK, &hangUp, nil)
    }

    static func wakeUp() {
        _ = write(wakeUpDescriptor.load(ordering: .acquiring), "!", 1)
    }

    static func drain(_ descriptor: Int32) {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    }
}
