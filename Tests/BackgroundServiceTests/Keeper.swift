import BackgroundService
import BackgroundTasksTesting
import Foundation
import Glibc
import ServiceAPI
import SystemConditions
import TaskModel
import TaskStore
import TemporaryFolders

/// A job keeper on a machine whose time and conditions a test sets, in a folder of its own.
final class Keeper: Sendable {
    let clock = ManualClock()
    let conditions = ScriptedConditions()
    let inhibitor = SimulatedInhibitor()
    private let place: TemporaryFolder
    var folder: String { place.path }
    let keeper: JobKeeper

    init() throws {
        place = try TemporaryFolder()
        let folder = place.path
        try FileManager.default.createDirectory(atPath: folder + "/state/logs", withIntermediateDirectories: true)
        var machine = JobKeeper.Machine(
            clock: clock, conditions: conditions, capabilities: SimulatedDevices([]), inhibitor: inhibitor,
            executable: "/bin/false")
        machine.energy = EnergyMeter(root: SystemRoot(folder + "/machine"))
        keeper = try JobKeeper(
            machine, store: TaskStore(folder: folder + "/state", program: "test"),
            place: ServicePlace(folder: folder + "/run", stateFolder: folder + "/state"))
    }

    deinit { keeper.shutDown() }

    /// Runs a script of the shell.
    func submit(_ script: String, mode: TaskKind = .continued, name: String = "script", begin: Double? = nil) throws
        -> UInt64
    {
        try keeper.submit(
            JobSubmission(
                work: .command, arguments: ["/bin/sh", "-c", script], folder: folder,
                environment: ["PATH": "/usr/bin:/bin"], mode: mode, title: "A script", name: name,
                earliestBegin: begin, initiator: .terminal)
        ).id
    }

    func job(_ id: UInt64) throws -> JobDocument { try keeper.found(id) }

    /// What the kernel says of the state of a job's process, e.g. `T` for one that stands still.
    func processState(_ id: UInt64) throws -> Substring? {
        guard let process = try job(id).process,
            let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        else { return nil }
        return text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ").dropFirst().first
    }

    /// Asks until it is so.
    ///
    /// - Returns: Whether it came to be.
    func comes(_ isSo: () throws -> Bool) rethrows -> Bool {
        let clock = ContinuousClock()
        let patience = clock.now + .seconds(60)
        while clock.now < patience {
            if try isSo() { return true }
            sched_yield()
        }
        return false
    }
}
