import FoundationEssentials
import Glibc
import SystemText

/// A probing process while it runs.
struct HelperProcess: ~Copyable {
    private let process: pid_t
    /// Reading end of its standard output.
    let pipe: Int32
    private var pending: [UInt8] = []
    private var isReaped = false

    /// Starts `program` in a process group of its own, with nothing open but a pipe.
    ///
    /// - Throws: ``StartError`` with the reason in the system's words.
    init(program: String, arguments: [String], environment: [String: String]) throws(StartError) {
        var ends: [Int32] = [-1, -1]
        // A socket, for a pipe cannot be made close-on-exec in one step from Swift.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw StartError(number: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Its own group, so that what a driver starts ends with it; signals as a fresh process has them.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var process: pid_t = 0
        let argumentList = CStrings([program] + arguments)
        let variableList = CStrings(environment.map { "\($0.key)=\($0.value)" }.sorted())
        let status = posix_spawn(
            &process, program.systemBytes, &actions, &attributes, argumentList.pointers, variableList.pointers)
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            throw StartError(number: status)
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        self.process = process
        self.pipe = ends[0]
    }

    deinit {
        if !isReaped {
            kill(-process, SIGKILL)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        }
        close(pipe)
    }

    /// The messages that have arrived, and whether more may come.
    mutating func receive() -> (messages: [ProbeMessage], isOpen: Bool) {
        var isOpen = true
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(pipe, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            isOpen = count > 0 || (count < 0 && errno == EAGAIN)
            guard count > 0 else { break }
            pending += bytes.prefix(count)
        }
        var messages: [ProbeMessage] = []
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Data(pending[..<end])
            pending.removeSubrange(...end)
            if let message = try? JSONDecoder().decode(ProbeMessage.self, from: line) { messages.append(message) }
        }
        return (messages, isOpen)
    }

    /// Ends the process and all of its group, and tells how it ended.
    ///
    /// - Parameter patience: How long it may take to end by itself; a process that has closed its pipe is about to.
    /// - Returns: nil when it had to be killed.
    mutating func end(patience: Duration = .zero) -> DriverTrial.Ending? {
        let limit = ContinuousClock.now + patience
        var status: Int32 = 0
        var result = waitpid(process, &status, WNOHANG)
        while result != process && ContinuousClock.now < limit {
            usleep(500)
            result = waitpid(process, &status, WNOHANG)
        }
        let hadEnded = result == process
        kill(-process, SIGKILL)
        while result != process {
            result = waitpid(process, &status, 0)
            if result < 0 && errno != EINTR { break }
        }
        isReaped = true
        guard hadEnded else { return nil }
        let signal = status & 0x7F
        return signal != 0 ? .signal(signal) : .exit(status >> 8 & 0xFF)
    }
}

/// A process that could not be started.
struct StartError: Error {
    let number: Int32

    var reason: String { String(cString: strerror(number)) }
}

/// A null-terminated array of C strings, as `posix_spawn` takes it.
private final class CStrings {
    var pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) {
        pointers = ProcessTexts.copies(strings)
    }

    deinit {
        for pointer in pointers { free(pointer) }
    }
}
