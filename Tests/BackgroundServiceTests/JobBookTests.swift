import BackgroundService
import BackgroundTasksTesting
import GRDB
import SchedulingCore
import ServiceAPI
import TaskModel
import TaskStore
import Testing

/// What the store knows of the jobs of the service.
@Suite struct JobBookTests {
    @Test("rule 85: jobs that ended while the store could not be written are not found waiting by the next service")
    func whatEndedStaysEnded() throws {
        let keeper = try Keeper()
        // More than stay in memory after their end.
        let jobs = try (0..<80).map { try keeper.submit("true", mode: .processing, name: "waits.\($0)", begin: 1e12) }
        let other = try DatabaseQueue(path: TaskStore.path(in: keeper.folder + "/state"))
        try other.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            for job in jobs { _ = try keeper.keeper.ask(job, .cancel) }
            try database.execute(sql: "COMMIT")
        }
        keeper.keeper.shutDown()
        let store = try TaskStore(folder: keeper.folder + "/state", program: "test")
        #expect(try store.unfinishedJobs().map(\.id) == [])
        #expect(try store.latestJobs(100).filter { $0.outcome == "cancelled" }.count == 80)
    }

    @Test("rule 94: a job that was paused while it waited does not run")
    func aWaitingJobIsPaused() throws {
        let keeper = try Keeper()
        let begin = keeper.clock.wallNow.inSeconds + 60
        let job = try keeper.submit("true", mode: .processing, begin: begin)
        #expect(try keeper.keeper.ask(job, .pause).state == .paused)
        keeper.clock.advance(by: .seconds(3_600))
        #expect(try keeper.job(job).state == .paused)
        #expect(try keeper.job(job).reasons.map(\.code) == ["pausedByPerson"])
        _ = try keeper.keeper.ask(job, .resume)
        #expect(try keeper.comes { try keeper.job(job).state == .ended })
    }
}
