import Foundation
import Glibc

/// The parts of a system that priorities are read from and written to. A test brings folders and commands of its own.
package struct PrioritySystem: Sendable {
    /// Where processes are shown (proc(5)).
    package var proc: String
    /// Where control groups are mounted (cgroups(7)).
    package var cgroups: String
    /// Variables that commands are found by and started with.
    package var environment: [String: String]
    /// The person whose manager is asked.
    package var user: UInt32
    /// How long the manager's commands may take.
    package var patience: Duration

    package init(
        proc: String = "/proc", cgroups: String = "/sys/fs/cgroup",
        environment: [String: String] = ProcessInfo.processInfo.environment, user: UInt32 = geteuid(),
        patience: Duration = .seconds(3)
    ) {
        self.proc = proc
        self.cgroups = cgroups
        self.environment = environment
        self.user = user
        self.patience = patience
    }

    /// The text of a file of at most so many bytes, without white space around it; nil when it cannot be read.
    func text(_ path: String, upTo limit: Int = 16 << 10) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a value into a file of the kernel's.
    ///
    /// - Returns: 0, or errno.
    func write(_ text: String, to path: String) -> Int32 {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count ? 0 : errno
    }

    func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The first program of that name on the path.
    func program(_ name: String) -> String? {
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Every thread of a process and of those below it.
    func threads(of process: pid_t) -> [pid_t] {
        let folder = "\(proc)/\(process)/task"
        let own = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { pid_t($0) }
        let children = own.flatMap { thread in
            (text("\(folder)/\(thread)/children") ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
        return own + children.flatMap { threads(of: $0) }
    }
}
