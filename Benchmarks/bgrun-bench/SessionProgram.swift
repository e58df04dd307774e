import CBenchProcess
import Foundation
import Glibc

/// A program, in a session of its own unless told otherwise, as a person's other programs are.
struct SessionProgram: Sendable {
    let process: pid_t

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: Its path and its arguments.
    ///   - environment: All its variables.
    ///   - input: A file to read as its standard input.
    ///   - output: A file that takes its standard output.
    ///   - errors: A file that takes its standard error.
    ///   - joinsSession: It stays in the session of this process; the kernel's autogroups then give both one share.
    /// - Throws: ``ProcessError`` when the system refuses.
    init(
        _ words: [String], environment: [String: String], input: String = "/dev/null", output: String = "/dev/null",
        errors: String = "/dev/null", joinsSession: Bool = false
    ) throws(ProcessError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID (glibc's spawn.h), which Swift does not import.
        posix_spawnattr_setflags(&attributes, joinsSession ? 0 : 0x80)
        let texts: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (texts + variables).forEach { free($0) } }
        var process = pid_t()
        let status = posix_spawn(&process, words[0], &actions, &attributes, texts, variables)
        guard status == 0 else {
            throw ProcessError(description: "cannot start \(words[0]): \(String(cString: strerror(status)))")
        }
        self.process = process
    }

    /// Waits for its end.
    ///
    /// - Returns: Its exit status; 128 and the number of the signal that ended it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return Self.exitStatus(status)
    }

    /// - Returns: What ``wait()`` does, once; nil while it runs.
    func statusIfEnded() -> Int32? {
        var status: Int32 = 0
        return waitpid(process, &status, WNOHANG) == process ? Self.exitStatus(status) : nil
    }

    /// - Parameter status: What wait(2) gives.
    /// - Returns: As ``wait()``.
    static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    func end() {
        kill(process, SIGKILL)
        _ = wait()
    }
}

/// Where the built `bgrun` is, and this program itself.
enum Executables {
    static let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    static let bgrun = (own as NSString).deletingLastPathComponent + "/bgrun"
}
