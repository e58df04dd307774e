import Glibc
import JobLink
import SchedulingCore

/// One worker process, seen from its supervisor. Decoders and drivers run there, so that they can take nothing else
/// down.
struct WorkerProcess {
    let channel: PacketChannel
    /// To begin what it has ahead.
    let permit: BeginPermit
    let processID: pid_t

    /// Starts this program again as a worker, in a process group of its own: Ctrl-C in the terminal reaches the
    /// supervisor alone, which then lets the workers finish. The session stays the supervisor's, and with it the
    /// autogroup by which the kernel shares out the processor.
    ///
    /// - Throws: ``SpawnFailure`` when the system refuses.
    init() throws(SpawnFailure) {
        guard let permit = BeginPermit() else { throw SpawnFailure(function: "eventfd", status: errno) }
        guard let (host, worker) = PacketChannel.pair(.compact) else {
            permit.closeDescriptor()
            throw SpawnFailure(function: "socketpair", status: errno)
        }
        defer { worker.closeDescriptor() }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        // Also clears close-on-exec, even where the descriptor has this number already.
        posix_spawn_file_actions_adddup2(&actions, worker.descriptor, PacketChannel.childDescriptor)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments: [UnsafeMutablePointer<CChar>?] =
            [strdup("bgrun"), strdup(WorkerCommand.name), nil]
        defer { arguments.forEach { free($0) } }
        var processID = pid_t()
        let status = posix_spawn(&processID, "/proc/self/exe", &actions, &attributes, arguments, environ)
        guard status == 0 else {
            host.closeDescriptor()
            permit.closeDescriptor()
            throw SpawnFailure(function: "posix_spawn", status: status)
        }
        channel = host
        self.permit = permit
        self.processID = processID
    }

    func kill() {
        Glibc.kill(processID, SIGKILL)
    }

    /// Waits for the end of a process that has closed its socket or was killed.
    func reap() -> JobMachine.Death {
        channel.closeDescriptor()
        permit.closeDescriptor()
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited(status: status >> 8 & 0xff) : .signaled(signal)
    }
}

/// The system refused to start a worker.
struct SpawnFailure: Error, CustomStringConvertible {
    var function: String
    /// The errno it gave.
    var status: Int32

    var description: String {
        "a worker could not be started: \(function): \(String(cString: strerror(status))); the same command goes on"
    }
}

extension JobMachine.Death {
    /// One sentence for a report, where `culprit` was at work.
    func sentence(of culprit: String) -> String {
        switch self {
        case .exited: "\(culprit) \(event)"
        case .signaled(SIGKILL):
            "the process was killed twice (SIGKILL): by somebody, or by the kernel for want of memory"
        case .signaled: "\(culprit) \(event)"
        }
    }

    /// The same of a process that is named before it.
    var event: String {
        switch self {
        case .exited(let status): "ended its process with status \(status)"
        case .signaled(let signal): "crashed (\(Self.name(signal)))"
        }
    }

    private static func name(_ signal: Int32) -> String {
        switch signal {
        case SIGSEGV: "SIGSEGV"
        case SIGBUS: "SIGBUS"
        case SIGABRT: "SIGABRT"
        case SIGILL: "SIGILL"
        case SIGTRAP: "SIGTRAP"
        case SIGFPE: "SIGFPE"
        default: "signal \(signal)"
        }
    }
}
