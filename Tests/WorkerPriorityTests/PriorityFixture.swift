import Foundation
import Glibc
import TemporaryFolders
import Testing
import WorkerPriority

/// A system in a folder: a process with its control group, and commands that do as systemd's do.
final class PriorityFixture: Sendable {
    private let place: TemporaryFolder
    var folder: String { place.path }
    /// Has no threads in the fixture, so that nothing of this machine's is changed.
    let process: pid_t = 77

    init() throws {
        place = try TemporaryFolder()
        try put("/autogroup-1 nice 0\n", "proc/self/autogroup")
        try put("/autogroup-2 nice 0\n", "proc/77/autogroup")
        try put("0::/\n", "proc/77/cgroup")
        try put("0\n", "proc/77/oom_score_adj")
        try put("1\n", "proc/sys/kernel/sched_autogroup_enabled")
    }

    var system: PrioritySystem {
        PrioritySystem(
            proc: folder + "/proc", cgroups: folder + "/cgroup",
            environment: ["PATH": folder + "/bin", "XDG_RUNTIME_DIR": folder + "/run"], user: 1000,
            // Beside other tests a command may be slow to start.
            patience: .seconds(60))
    }

    func put(_ text: String, _ path: String) throws { try place.write(text, to: path) }

    func text(_ path: String) -> String? { try? String(contentsOfFile: folder + "/" + path, encoding: .utf8) }

    static let unitFolder = "cgroup/user.slice/user-1000.slice/user@1000.service/bgrun-job-3.scope"

    /// A manager that has the job in a unit. `set` is what `systemctl` does, as lines of a shell.
    func putManager(set: String) throws {
        try put("", "run/bus")
        try put("cpu memory pids\n", "cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers")
        try put("1\n", Self.unitFolder + "/cpu.idle")
        try put("100\n", Self.unitFolder + "/cpu.weight")
        try put("0::/" + Self.unitFolder.dropFirst(7) + "\n", "proc/77/cgroup")
        try putProgram("systemd-run", "exit 1")
        try putProgram("systemctl", "echo \"$@\" >> \(folder)/asked\nunit=\(folder)/\(Self.unitFolder)\n" + set)
    }

    /// Another process writes it: were it this one, a command that another test starts at that moment would have the file
    /// open too, until it runs its own program, and the kernel starts none that is open to be written (execve(2), ETXTBSY).
    private func putProgram(_ name: String, _ lines: String) throws {
        try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
        let writer = Process()
        writer.executableURL = URL(fileURLWithPath: "/bin/sh")
        writer.arguments = [
            "-c", #"printf '%s' "$2" > "$1" && chmod 755 "$1""#, "sh", "\(folder)/bin/\(name)", "#!/bin/sh\n\(lines)\n",
        ]
        try writer.run()
        writer.waitUntilExit()
        try #require(writer.terminationStatus == 0)
    }
}
