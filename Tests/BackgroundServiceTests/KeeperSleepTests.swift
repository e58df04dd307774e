import BackgroundService
import BackgroundTasksTesting
import Foundation
import ServiceAPI
import SystemConditions
import TaskModel
import Testing

/// What sleep and shutdown of the machine mean for the jobs of the service.
@Suite struct KeeperSleepTests {
    /// Says that it has begun, waits for a word, and ends.
    private static let script = "mkfifo go; echo progress 1 2 >&3; read word < go; echo $word > came"

    private func begun(_ keeper: Keeper, mode: TaskKind = .continued) throws -> UInt64 {
        let job = try keeper.submit(Self.script, mode: mode)
        #expect(try keeper.comes { try keeper.job(job).progress?.itemsDone == 1 })
        #expect(keeper.comes { keeper.inhibitor.isHeld })
        return job
    }

    @Test(
        "rule 78: a command stands still over a sleep, lets the machine go, and is the same process afterwards",
        arguments: [TaskKind.continued, .processing])
    func commandsSleep(mode: TaskKind) throws {
        let keeper = try Keeper()
        let job = try begun(keeper, mode: mode)
        let process = try #require(try keeper.job(job).process)
        keeper.conditions.tell(.willSleep)
        #expect(try keeper.comes { try keeper.processState(job) == "T" })
        #expect(keeper.comes { !keeper.inhibitor.isHeld })
        #expect(try keeper.job(job).state == .waiting)
        #expect(try keeper.job(job).reasons.map(\.code) == ["machineLeaves"])
        keeper.conditions.tell(.didWake)
        #expect(try keeper.job(job).state == .running)
        #expect(try keeper.job(job).process == process)
        #expect(keeper.comes { keeper.inhibitor.isHeld })
        let go = try #require(FileHandle(forWritingAtPath: keeper.folder + "/go"))
        try go.write(contentsOf: Data("go\n".utf8))
        try go.close()
        #expect(try keeper.comes { try keeper.job(job).state == .ended })
        #expect(try keeper.job(job).outcome == "completed")
        #expect(try String(contentsOfFile: keeper.folder + "/came", encoding: .utf8) == "go\n")
    }

    @Test("rule 78, rule 79: a command that was ended with its machine is not run again without being asked for")
    func commandsAndShutdown() throws {
        let keeper = try Keeper()
        let job = try begun(keeper)
        keeper.conditions.tell(.willShutDown)
        #expect(try keeper.comes { try keeper.job(job).state == .ended })
        #expect(try keeper.job(job).outcome == "stopped.shutdown")
        #expect(try keeper.job(job).isResumable)
        keeper.conditions.tell(.shutdownCancelled)
        #expect(try keeper.job(job).state == .ended)
    }

    @Test(
        "rule 78: a command that is stopped while the machine sleeps, or is about to, does not go on",
        arguments: [true, false])
    func stoppedWhileAsleep(isAsleep: Bool) throws {
        let keeper = try Keeper()
        let job = try begun(keeper)
        keeper.conditions.tell(.willSleep)
        if isAsleep { #expect(try keeper.comes { try keeper.job(job).state == .waiting }) }
        _ = try keeper.keeper.ask(job, .stop)
        #expect(try keeper.comes { try keeper.job(job).outcome == "stopped.userStop" })
        #expect(try keeper.comes { try keeper.job(job).process == nil })
        keeper.conditions.tell(.didWake)
        #expect(try keeper.job(job).state == .ended)
    }
}
