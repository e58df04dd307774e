import Foundation
import Locking
import Synchronization

/// Watches the memory of all descendants of a process, twenty times a second, on a thread of its own.
///
/// Sums proportional set sizes, so that a page shared by two processes counts once.
final class MemorySampler: Sendable {
    private let peak = Lock(0)
    private let ended = DispatchSemaphore(value: 0)
    private let isStopping = Atomic(false)

    init(root: pid_t) {
        let thread = Thread { [self] in
            while !isStopping.load(ordering: .relaxed) {
                let bytes = Self.bytes(below: root)
                peak.withLock { $0 = max($0, bytes) }
                usleep(50_000)
            }
            ended.signal()
        }
        thread.start()
    }

    /// Ends the thread and gives the highest sum seen, in bytes.
    func stop() -> Int {
        isStopping.store(true, ordering: .relaxed)
        ended.wait()
        return peak.withLock { $0 }
    }

    /// Bytes of all processes below one, now.
    static func bytes(below root: pid_t) -> Int {
        var open = children(of: root)
        var sum = 0
        while let process = open.popLast() {
            sum += proportionalSetSize(of: process)
            open += children(of: process)
        }
        return sum
    }

    /// Each thread has its own list of the processes it started.
    private static func children(of process: pid_t) -> [pid_t] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return threads.flatMap { thread in
            let list = readSmallFile("/proc/\(process)/task/\(thread)/children") ?? ""
            return list.split(separator: " ").compactMap { pid_t($0) }
        }
    }

    private static func proportionalSetSize(of process: pid_t) -> Int {
        let lines = readSmallFile("/proc/\(process)/smaps_rollup")?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix("Pss:") }) else { return 0 }
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
