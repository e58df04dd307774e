import Foundation
import Glibc

/// Processes that share work in a plain loop: each takes the next place when it is done with one.
enum ProcessTeam {
    /// Starts a program several times, and waits for all. The places are in a pipe, their standard input, that they read in
    /// turn. As the workers of a job, they share one session.
    ///
    /// - Throws: ``ProcessError``.
    static func run(_ words: [String], processes: Int, places: Int) throws(ProcessError) {
        var ends: [Int32] = [0, 0]
        var numbers = Array(0..<UInt32(places))
        let size = numbers.count * MemoryLayout<UInt32>.size
        // A pipe holds 64 KiB (pipe(7)); more would wait for readers that do not run yet.
        guard size <= 65_536, pipe(&ends) == 0, write(ends[1], &numbers, size) == size else {
            throw ProcessError(description: "no pipe for \(places) places")
        }
        // A reader that held the other end as well would never see the end of what is written.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let programs = try (0..<processes).map { _ throws(ProcessError) in
            try SessionProgram(
                words, environment: ProcessInfo.processInfo.environment, input: "/proc/self/fd/\(ends[0])",
                joinsSession: true)
        }
        for end in ends { close(end) }
        let statuses = programs.map { $0.wait() }
        if let status = statuses.first(where: { $0 != 0 }) {
            throw ProcessError(description: "a process of the loop left status \(status)")
        }
    }

    /// The next place for a process of a team; nil where there are no more.
    static func nextPlace() -> Int? {
        var place = UInt32()
        let size = MemoryLayout<UInt32>.size
        return read(STDIN_FILENO, &place, size) == size ? Int(place) : nil
    }
}
