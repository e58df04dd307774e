import Foundation
import Glibc
import Locking
import Synchronization

/// What a process takes itself, without those that it started, looked at twenty times a second until it ends.
final class SupervisorUse: Sendable {
    struct Use: Sendable {
        /// User and system time of its own, in seconds.
        var seconds = 0.0
        /// The same of it and all that it started.
        var secondsOfAll = 0.0
        /// The most memory that it had at once, in bytes.
        var bytes = 0
    }

    private let latest = Lock(Use())
    private let ended = DispatchSemaphore(value: 0)
    private let isStopping = Atomic(false)

    init(of process: pid_t) {
        let thread = Thread { [self] in
            while !isStopping.load(ordering: .relaxed) {
                Self.look(at: process).map { use in latest.withLock { $0 = use } }
                usleep(50_000)
            }
            ended.signal()
        }
        thread.start()
    }

    /// Ends the thread and gives what was seen last.
    func stop() -> Use {
        isStopping.store(true, ordering: .relaxed)
        ended.wait()
        return latest.withLock(\.self)
    }

    /// nil for a process that is gone.
    private static func look(at process: pid_t) -> Use? {
        guard let stat = readSmallFile("/proc/\(process)/stat"), let name = stat.lastIndex(of: ")"),
            let peak = readSmallFile("/proc/\(process)/status")?.firstMatch(of: /VmHWM:\s*(\d+) kB/)
        else { return nil }
        // Fields 14 and 15 of proc(5) stat.
        let fields = stat[stat.index(after: name)...].split(separator: " ")
        guard fields.count > 12 else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        return Use(
            seconds: ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) / ticks,
            secondsOfAll: ProcessUse.seconds(below: process), bytes: (Int(peak.1) ?? 0) << 10)
    }
}
