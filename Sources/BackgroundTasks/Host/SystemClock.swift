import CHostTimer
import Dispatch
import Glibc

/// The machine's own clocks, with alarms that sleep in the kernel until they ring.
package struct SystemClock: HostClock {
    package init() {}

    package var now: Duration { Self.read(CLOCK_BOOTTIME) }
    package var wallNow: Duration { Self.read(CLOCK_REALTIME) }

    package func makeAlarm(_ action: @escaping @Sendable () -> Void) -> any HostAlarm {
        KernelTimer(ht_boot_timer(), afterRing: { _ in }, action)
    }

    package func watchWallClock(_ action: @escaping @Sendable () -> Void) -> any Sendable {
        KernelTimer(ht_wall_watch(), afterRing: { _ = ht_rearm_wall_watch($0) }, action)
    }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        let status = clock_gettime(clock, &time)
        precondition(status == 0, "the kernel has no clock \(clock)")
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// A timer of the kernel. Nothing ticks: until it rings no thread runs for it.
///
/// `@unchecked Sendable` holds because Dispatch sources may be used from any thread and the rest never changes.
private final class KernelTimer: HostAlarm, @unchecked Sendable {
    /// What the kernel counts to, 292 years after the machine started. Whoever is rung earlier than asked looks again.
    private static let latest: Duration = .nanoseconds(Int64.max)

    private let timer: CInt
    private let source: any DispatchSourceRead

    init(
        _ timer: CInt, afterRing: @escaping @Sendable (CInt) -> Void, _ action: @escaping @Sendable () -> Void
    ) {
        precondition(timer >= 0, "the kernel gave no timer: errno \(errno)")
        self.timer = timer
        source = DispatchSource.makeReadSource(fileDescriptor: timer, queue: DispatchQueue(label: "bgrun.alarm"))
        source.setEventHandler {
            // It may have been set anew before it was heard.
            guard ht_take(timer) else { return }
            afterRing(timer)
            action()
        }
        source.setCancelHandler { close(timer) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    func set(at time: Duration?) {
        var nanoseconds: UInt64 = 0
        if let time {
            let (seconds, attoseconds) = min(max(time, .nanoseconds(1)), Self.latest).components
            nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
        }
        let status = ht_set(timer, nanoseconds)
        precondition(status == 0, "the kernel refused a moment: errno \(errno)")
    }
}
