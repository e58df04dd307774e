import CProcess
import Foundation
import Glibc
import JobLink
import ServiceAPI
import Locking
import SystemText
import TaskModel

/// The process that does the work of a job, in a session of its own, seen from the service.
final class JobProcess: Sendable {
    /// How it ended.
    struct Exit: Sendable {
        /// What it said of its end; nil when it broke off.
        var end: JobEnd?
        /// As `waitpid` gives it.
        var waitStatus: Int32
        /// Of the process and all its own that it waited for, in seconds.
        var processorSeconds: Double

        /// The signal that ended it.
        var signal: Int32? { waitStatus & 0x7f == 0 ? nil : waitStatus & 0x7f }
        var exitStatus: Int32 { waitStatus >> 8 & 0xff }
    }

    struct Plan: Sendable {
        var work: JobSubmission.Work
        /// With the program's name.
        var command: [String]
        var folder: String
        var environment: [String: String]
        /// Rights that its new files do not give (umask(2)).
        var umask: mode_t
        /// Takes what it writes.
        var log: String
    }

    let identity: ProcessIdentity
    let work: JobSubmission.Work
    private let processID: pid_t
    private let channel: JobChannel
    private let hasExited = Lock(false)

    /// Starts the process. Nothing is heard of it before ``listen(onReport:onExit:)``.
    ///
    /// - Throws: ``SpawnFailure`` when the system refuses.
    init(_ plan: Plan) throws(SpawnFailure) {
        work = plan.work
        let (host, child) = try JobChannel.pair(for: plan.work)
        defer { close(child) }
        channel = host
        do {
            processID = try Self.spawn(plan, child: child)
        } catch {
            host.close()
            throw error
        }
        identity =
            ProcessIdentity(of: processID)
            ?? ProcessIdentity(processID: processID, start: 0, boot: ProcessIdentity.thisBoot)
    }

    /// Has its reports and its end told on a thread of its own. To be called once, when others know of the process: it
    /// may have ended already.
    func listen(
        onReport: @escaping @Sendable (JobReport) -> Void, onExit: @escaping @Sendable (Exit) -> Void
    ) {
        let pidfd = bg_pidfd_open(processID)
        let thread = Thread { [self] in
            listen(pidfd, onReport)
            onExit(reap(pidfd, onReport))
        }
        thread.name = "bgrun.job"
        thread.start()
    }

    func send(_ command: JobCommand) {
        guard !hasExited.withLock(\.self) else { return }
        switch work {
        // One that has not read hundreds of commands hangs, and no other job waits for it.
        case .bgrun: if !channel.send(command) { kill() }
        case .command: signal(for: command)
        }
    }

    /// Ends it, and everything that it started and that stayed in its session's first group.
    func kill() {
        guard !hasExited.withLock(\.self) else { return }
        Glibc.kill(-processID, SIGKILL)
        Glibc.kill(processID, SIGKILL)
    }

    /// Lets it do nothing any more, without asking it.
    func halt() {
        guard !hasExited.withLock(\.self) else { return }
        Glibc.kill(-processID, SIGSTOP)
        Glibc.kill(processID, SIGSTOP)
    }

    /// A command that knows nothing of the service is told by signals.
    private func signal(for command: JobCommand) {
        switch command {
        case .pause: Glibc.kill(-processID, SIGSTOP)
        case .resume: Glibc.kill(-processID, SIGCONT)
        case .stop:
            Glibc.kill(-processID, SIGTERM)
            // One that stands still could not hear it.
            Glibc.kill(-processID, SIGCONT)
        case .terms, .leaveDevice: break
        }
    }

    // MARK: Listening

    private func listen(_ pidfd: Int32, _ onReport: (JobReport) -> Void) {
        var isOpen = true
        while true {
            var ends = [
                pollfd(fd: isOpen ? channel.descriptor : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&ends, 2, -1) < 0 && errno == EINTR { continue }
            if isOpen, ends[0].revents != 0 { isOpen = channel.receive(onReport) }
            // Without a descriptor of the process its closed channel has to do.
            if ends[1].revents != 0 || pidfd < 0 && !isOpen { break }
        }
        while isOpen, channel.hasMore { isOpen = channel.receive(onReport) }
    }

    private func reap(_ pidfd: Int32, _ onReport: (JobReport) -> Void) -> Exit {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(processID, &status, 0, &usage) < 0 && errno == EINTR {}
        hasExited.withLock { $0 = true }
        // What it started and left behind in its group would go on without its job.
        Glibc.kill(-processID, SIGKILL)
        if pidfd >= 0 { close(pidfd) }
        let end = channel.end
        channel.close()
        let seconds = [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
        return Exit(end: end, waitStatus: status, processorSeconds: seconds)
    }

    // MARK: Starting

    /// `POSIX_SPAWN_SETSID` (glibc's spawn.h), which Swift does not import.
    private static let newSession: Int16 = 0x80

    /// Held while the service has a job's mask for new files: a process is started with that of its parent. What the
    /// service itself makes meanwhile lies in folders that others may not enter.
    private static let masking = Lock(())

    private static func spawn(_ plan: Plan, child: Int32) throws(SpawnFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, STDOUT_FILENO, plan.log.systemBytes, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        posix_spawn_file_actions_adddup2(&actions, child, PacketChannel.childDescriptor)
        bg_spawn_in(&actions, plan.folder.systemBytes)
        bg_spawn_close_from(&actions, PacketChannel.childDescriptor + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var usual = sigset_t()
        sigemptyset(&usual)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&usual, signal) }
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(
            &attributes, newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        let arguments = ProcessTexts.copies(plan.command)
        let environment = ProcessTexts.copies(plan.environment.map { "\($0.key)=\($0.value)" })
        defer { (arguments + environment).forEach { free($0) } }
        guard let program = Self.program(plan.command[0], plan) else {
            throw SpawnFailure(step: plan.command[0], status: ENOENT)
        }
        var processID = pid_t()
        let status = masking.withLock { _ in
            let own = umask(plan.umask)
            defer { umask(own) }
            return posix_spawn(&processID, program.systemBytes, &actions, &attributes, arguments, environment)
        }
        guard status == 0 else { throw SpawnFailure(step: plan.command[0], status: status) }
        return processID
    }

    /// Where a command is, as its own environment says, which is not the service's.
    private static func program(_ name: String, _ plan: Plan) -> String? {
        guard !name.hasPrefix("/") else { return name }
        if name.contains("/") { return plan.folder + "/" + name }
        let path = (plan.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return path.map { "\($0.hasPrefix("/") ? "" : plan.folder + "/")\($0)/\(name)" }
            .first { access($0.systemBytes, X_OK) == 0 }
    }
}

/// The system refused to start a job's process.
struct SpawnFailure: Error {
    /// A system call, or the program.
    var step: String
    /// The errno it gave.
    var status: Int32

    var sentence: String { "It could not be started: \(step): \(String(cString: strerror(status)))." }
}
