import Glibc
import SystemText

/// A command that is over soon and whose output nobody needs.
struct BriefCommand {
    private let arguments: [String]
    private let environment: [String: String]

    init(_ arguments: [String], environment: [String: String]) {
        self.arguments = arguments
        self.environment = environment
    }

    /// Runs it on the calling thread, and kills it when it takes too long.
    ///
    /// - Returns: Whether it ended in time, with success.
    func run(within limit: Duration) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
        let words = ProcessTexts.copies(arguments)
        let variables = ProcessTexts.copies(environment.map { "\($0.key)=\($0.value)" })
        defer { (words + variables).forEach { free($0) } }
        var process = pid_t()
        let status = posix_spawn(&process, arguments[0].systemBytes, &actions, nil, words, variables)
        close(ends[1])
        guard status == 0 else { return false }
        if !isOver(ends[0], within: limit) { kill(process, SIGKILL) }
        var ended: Int32 = 0
        while waitpid(process, &ended, 0) < 0 {
            guard errno == EINTR else { return false }
        }
        return ended == 0
    }

    /// Reads until the other end is closed.
    private func isOver(_ descriptor: Int32, within limit: Duration) -> Bool {
        let clock = SuspendingClock()
        let end = clock.now + limit
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            let left = max(Int(clock.now.duration(to: end) / .milliseconds(1)), 0)
            var ends = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ends, 1, Int32(clamping: left)) > 0 else { return false }
            if read(descriptor, &bytes, bytes.count) <= 0 { return true }
        }
    }
}
