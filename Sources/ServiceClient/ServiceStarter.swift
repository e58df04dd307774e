import CProcess
import Foundation
import Glibc
package import ServiceAPI
import SystemText

/// Starts the service of this user where none runs.
package enum ServiceStarter {
    /// Time for it to take its first request.
    private static let patience: Int32 = 20_000

    /// Returns when a service takes requests. Whoever comes second finds the first one's.
    ///
    /// - Throws: ``Refusal`` with the reason why there is none.
    package static func start(at place: ServicePlace, executable: String = "/proc/self/exe") throws(Refusal) {
        try place.makeFolder()
        place.makeStateFolder()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failed(String(cString: strerror(errno)), place) }
        defer { ends.forEach { if $0 >= 0 { close($0) } } }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        // It says that it is ready, or why it cannot be, on what would be its standard output.
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(
            &actions, STDERR_FILENO, place.serviceLog.systemBytes, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
        // Whoever waits for the end of a file that this process has open must not wait for the service.
        bg_spawn_close_from(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        let newSession: Int16 = 0x80
        posix_spawnattr_setflags(&attributes, newSession | Int16(POSIX_SPAWN_SETSIGMASK))
        let words = ["bgrun", "service", "run", "--announce"]
        let arguments = ProcessTexts.copies(words)
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let status = posix_spawn(&process, executable.systemBytes, &actions, &attributes, arguments, environ)
        guard status == 0 else { throw failed(String(cString: strerror(status)), place) }
        close(ends[1])
        ends[1] = -1
        try waitUntilReady(ends[0], process, place)
    }

    private static func waitUntilReady(_ end: Int32, _ process: pid_t, _ place: ServicePlace) throws(Refusal) {
        var said = ""
        var buffer = [UInt8](repeating: 0, count: 1024)
        while !said.hasSuffix("\n") {
            var ready = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
            let status = poll(&ready, 1, patience)
            if status < 0 && errno == EINTR { continue }
            guard status > 0 else { throw failed("it does not answer", place) }
            let count = read(end, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            said += String(decoding: buffer[..<count], as: UTF8.self)
        }
        // Another one that was started at the same moment holds the lock, and will be ready as soon.
        if said == "ready\n" || said == "running\n" { return }
        var waitStatus: Int32 = 0
        waitpid(process, &waitStatus, WNOHANG)
        throw failed(said.isEmpty ? "it ended at once" : String(said.dropLast()), place)
    }

    private static func failed(_ reason: String, _ place: ServicePlace) -> Refusal {
        Refusal(
            code: "serviceNotStarted", sentence: "The service could not be started: \(reason).",
            fix: "Its log is \(place.serviceLog); --in-process runs without it.")
    }
}
