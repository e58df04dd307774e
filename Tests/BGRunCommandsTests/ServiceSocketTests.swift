import CDispatch  // The headers of `stat` belong to the module that is loaded first.
import Foundation
import Glibc
import Testing

/// How the service is reached, and by whom.
@Suite struct ServiceSocketTests {
    private let service: ServicePlace

    init() throws {
        service = try ServicePlace()
    }

    private func socketPath() throws -> String {
        try service.bgrun("service", "socket").output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A socket that listens already, as a service manager makes it.
    private func listening(_ path: String) throws -> Int32 {
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let status = withAddress(path) { bind(descriptor, $0, $1) }
        try #require(status == 0 && listen(descriptor, 8) == 0)
        return descriptor
    }

    private func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// Asks the service, and hears it to the end.
    ///
    /// - Returns: The first line of the answer, and the length of all of it in bytes.
    private func ask(_ target: String) throws -> (line: String, length: Int) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        let path = try socketPath()
        try #require(withAddress(path) { connect(descriptor, $0, $1) } == 0)
        let request = Data("GET \(target) HTTP/1.1\r\nHost: bgrun\r\nConnection: close\r\n\r\n".utf8)
        try #require(request.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == request.count)
        var (start, length) = (Data(), 0)
        var part = Data(count: 64 << 10)
        while true {
            let count = part.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            try #require(count >= 0)
            guard count > 0 else { break }
            if start.isEmpty { start = part.prefix(count) }
            length += count
        }
        return (String(String(decoding: start, as: UTF8.self).prefix { !$0.isNewline }), length)
    }

    /// Starts `bgrun service run` with the socket as sd_listen_fds(3) says.
    private func start(with socket: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, socket, 3)
        let script = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" service run --stay"
        let arguments = ["sh", "-c", script, CommandRun.executable]
        let environment = CommandRun.environment(in: service.place).map { "\($0.key)=\($0.value)" }
        let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var process = pid_t()
        try #require(posix_spawn(&process, "/bin/sh", &actions, nil, words, variables) == 0)
        return process
    }

    @Test func aSocketThatIsHandedOverIsServedAndStays() throws {
        let path = try socketPath()
        let socket = try listening(path)
        let process = try start(with: socket)
        // A service manager keeps it, for the next service.
        defer { close(socket) }
        // Who asks before it is ready waits at the socket.
        #expect(try service.serviceProcess() == process)
        #expect(try service.bgrun("run", "--", "true").status == 0)
        #expect(try service.bgrun("service", "stop").status == 0)
        var status: Int32 = -1
        #expect(waitpid(process, &status, 0) == process)
        #expect(status == 0)
        #expect(access(path, F_OK) == 0, "it belongs to whoever made it")
    }

    @Test("rule 97: usage of what is no number of days is refused, and the service goes on")
    func usageOfNoDays() throws {
        #expect(try service.bgrun("run", "--detach", "--", "sleep", "600").status == 0)
        let process = try #require(try service.serviceProcess())
        for days in ["nan", "inf", "-inf", "-1", "1e18", "36501", "much"] {
            #expect(try ask("/v1/usage?days=\(days)").line.hasPrefix("HTTP/1.1 400 "), "\(days)")
            #expect(try service.bgrun("usage", "--days=\(days)").status == 64, "\(days)")
        }
        for query in ["", "?days=0", "?days=0.5", "?days=36500"] {
            #expect(try ask("/v1/usage\(query)").line.hasPrefix("HTTP/1.1 200 "), "\(query)")
        }
        #expect(try service.serviceProcess() == process)
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test func aLongLogTakesLittleOfTheService() throws {
        #expect(try service.bgrun("run", "--detach", "--", "sleep", "600").status == 0)
        let process = try #require(try service.serviceProcess())
        let log = service.place.path + "/.state/bgrun/logs/1.log"
        #expect(service.comes { access(log, F_OK) == 0 })
        let length = 256 << 20
        #expect(truncate(log, length) == 0)
        /// The most memory that it ever had, in bytes (proc_pid_status(5)).
        func peak() throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.filter(\.isNumber))) << 10
        }
        let before = try peak()
        let answer = try ask("/v1/jobs/1/log")
        #expect(answer.line.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.length > length)
        #expect(try peak() - before < length / 4)
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test func onlyItsOwnerReachesTheSocket() throws {
        let path = try socketPath()
        #expect(try service.bgrun("run", "--", "true").status == 0)
        var socket = stat()
        var folder = stat()
        #expect(stat(path, &socket) == 0 && stat((path as NSString).deletingLastPathComponent, &folder) == 0)
        #expect(socket.st_mode == S_IFSOCK | 0o600)
        #expect(folder.st_mode == S_IFDIR | 0o700)
    }

    @Test(.enabled(if: geteuid() == 0, "only the administrator may be somebody else"))
    func anotherUserIsRefusedWhateverTheModesOfTheSocket() throws {
        let path = try socketPath()
        #expect(try service.bgrun("run", "--", "true").status == 0)
        // As careless as can be.
        #expect(chmod(path, 0o666) == 0)
        let folders = ["", "/.run", "/.state", "/.state/bgrun"].map { service.place.path + $0 }
        for folder in folders + [(path as NSString).deletingLastPathComponent] {
            #expect(chmod(folder, 0o777) == 0)
        }
        let jobs = try CommandRun(
            ["--reuid=65534", "--regid=65534", "--clear-groups", CommandRun.executable, "jobs"], in: service.place,
            environment: ["BGRUN_IN_PROCESS": ""], program: "/usr/bin/setpriv"
        ).end()
        #expect(jobs.status == 77)
        #expect(jobs.errors.contains("This service belongs to another user."))
        #expect(try service.bgrun("jobs").status == 0)
    }
}
