import Glibc

/// Seconds since 1970.
package enum WallClock {
    @Sendable package static func now() -> Duration { Duration.reading(CLOCK_REALTIME) }
}

/// The clock that poll(2) and the message bus go by: it does not jump, and stands still while the machine sleeps.
enum MonotonicClock {
    static func now() -> Duration { Duration.reading(CLOCK_MONOTONIC) }
}

extension Duration {
    fileprivate static func reading(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
