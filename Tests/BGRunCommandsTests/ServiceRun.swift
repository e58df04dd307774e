import Foundation
import Glibc

/// A folder of one test's own with a service of its own.
final class ServicePlace: Sendable {
    let place: TestPlace
    private let environment: [String: String]

    init(environment: [String: String] = [:]) throws {
        place = try TestPlace()
        self.environment = environment.merging(["BGRUN_IN_PROCESS": "", "BGRUN_TEST_BACKOFF": "50ms"]) { own, _ in own }
        try FileManager.default.createDirectory(
            atPath: place.path + "/.run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        guard let process = try? status()?["process"] as? Int else { return }
        kill(pid_t(process), SIGKILL)
        // What still runs could write into the folder while it is removed.
        while (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")) != nil {
            usleep(1000)
        }
    }

    func start(
        _ arguments: [String], environment: [String: String] = [:], program: String = CommandRun.executable
    ) throws -> CommandRun {
        try CommandRun(
            arguments, in: place, environment: self.environment.merging(environment) { $1 }, program: program)
    }

    func bgrun(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandRun.Ended {
        try start(arguments, environment: environment).end()
    }

    /// What `bgrun service status --json` says; nil where none runs.
    func status() throws -> [String: Any]? {
        let text = try bgrun("service", "status", "--json").output
        return try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) as? [String: Any]
    }

    func serviceProcess() throws -> pid_t? { try status()?["process"].flatMap { $0 as? Int }.map { pid_t($0) } }

    func job(_ id: Int) throws -> [String: Any] { try bgrun("show", "\(id)", "--json").json() }

    func jobs() throws -> [[String: Any]] {
        let text = try bgrun("jobs", "--json").output
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
    }

    /// Asks until it is so.
    ///
    /// - Returns: Whether it came to be.
    func comes(_ isSo: () throws -> Bool) rethrows -> Bool {
        let clock = ContinuousClock()
        let patience = clock.now + .seconds(60)
        while clock.now < patience {
            if try isSo() { return true }
            usleep(20_000)
        }
        return false
    }
}
