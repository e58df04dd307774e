import TaskModel
import TaskStore
import TemporaryFolders
import Testing

/// Jobs of the service in the store.
@Suite struct StoredJobTests {
    private let folder: TemporaryFolder
    private let store: TaskStore

    init() throws {
        folder = try TemporaryFolder()
        store = try TaskStore(folder: folder.path, program: "1")
    }

    private func job(_ id: UInt64, _ state: StoredJob.State = .waiting) -> StoredJob {
        StoredJob(id: id, identifier: "bgrun.\(id)", submission: "{}", state: state, submitted: 10)
    }

    @Test("rule 86: a job is kept with everything that is known of it")
    func aJobIsKeptWhole() throws {
        var job = job(1, .running)
        (job.isPaused, job.attempts, job.losses, job.started, job.ended) = (true, 3, 2, 11, 12)
        (job.outcome, job.status, job.isResumable, job.fraction) = ("stopped.userStop", 75, true, 0.5)
        (job.text, job.summary, job.process) = ("a", "{}", .init(id: 7, start: 8, boot: "b"))
        (job.processorSeconds, job.runningSeconds, job.waited) = (1.5, 2.5, ["noRoom": 3, "backoff": 4])
        job.outputs = 6
        job.progress = .init(
            itemsDone: 4, itemsTotal: 9, failures: 1, fraction: 0.5, megapixelsPerSecond: 2.5, secondsLeft: 1...3)
        try store.save([job, self.job(2)])
        #expect(try store.job(1) == job)
        #expect(try store.lastJob() == 2)
        #expect(try store.job(3) == nil)
    }

    @Test("rule 85: what has not ended is found again, in order of submission")
    func unfinishedJobsAreFound() throws {
        var waiting = job(4)
        waiting.waited = ["noRoom": 1]
        try store.save([job(3, .ended), waiting, job(2, .running), job(5, .ended)])
        #expect(try store.unfinishedJobs() == [job(2, .running), waiting])
        #expect(try store.latestJobs(2).map(\.id) == [5, 4])
    }

    @Test func aLaterStateTakesThePlaceOfAnEarlierOne() throws {
        try store.save([job(1)])
        var ended = job(1, .ended)
        (ended.started, ended.ended) = (20, 30)
        try store.save([ended])
        #expect(try store.unfinishedJobs().isEmpty)
        #expect(try store.jobs(since: 25).map(\.id) == [1])
        #expect(try store.jobs(since: 31).isEmpty)
    }
}
