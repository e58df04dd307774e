import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import SeededNumbers
import Testing

@Suite struct HostStressTests {
    @Test(
        "rule 55, rule 70, rule 74: whatever threads ask at once, each job is launched at most once and ends once",
        arguments: [1, 2, 3, 4] as [UInt64])
    func manyThreads(seed: UInt64) async throws {
        let machine = try photosMachine(identifiers: ["export.*"])
        let scheduler = machine.scheduler
        let launches = Recorder<String>()
        let expirations = Recorder<String>()
        scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            launches.add(task.identifier)
            task.progress.totalUnitCount = 3
            task.expirationHandler = { [weak task] in
                expirations.add(task?.identifier ?? "")
                task?.setTaskCompleted(success: false)
            }
            for _ in 0..<3 {
                task.blockWhilePaused()
                task.chunkCommitted(units: 1)
                task.updateTitle("T", subtitle: task.identifier)
            }
            task.setTaskCompleted(success: true)
        }
        let events = scheduler.events(keeping: 100_000)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                group.addTask {
                    var random = SeededGenerator(seed: seed << 32 | UInt64(index))
                    let identifier = id("export.e\(index)")
                    _ = try? await scheduler.submitTaskRequest(exportRequest("e\(index)"))
                    for _ in 0..<6 {
                        switch Int.random(in: 0..<7, using: &random) {
                        case 0: scheduler.stop(taskWithIdentifier: identifier)
                        case 1: scheduler.pause(taskWithIdentifier: identifier)
                        case 2: scheduler.resume(taskWithIdentifier: identifier)
                        case 3: scheduler.demote(taskWithIdentifier: identifier)
                        case 4: scheduler.cancel(taskRequestWithIdentifier: identifier)
                        case 5: _ = scheduler.why(identifier)
                        default: _ = scheduler.jobs()
                        }
                    }
                    scheduler.resume(taskWithIdentifier: identifier)
                }
            }
        }
        await machine.advance(by: .seconds(2))
        for job in scheduler.jobs() where job.state != .ended { scheduler.stop(taskWithIdentifier: job.identifier) }
        await machine.advance(by: .seconds(10))
        var ends: [UInt64: Int] = [:]
        var submitted: Set<UInt64> = []
        for await event in events {
            if case .submitted(let submission) = event.kind { submitted.insert(submission.job) }
            if case .ended = event.kind, let job = event.job { ends[job, default: 0] += 1 }
            if submitted.count == 60, ends.count == 60 { break }
        }
        #expect(ends.values.allSatisfy { $0 == 1 })
        #expect(Set(launches.values).count == launches.values.count)
        #expect(Set(expirations.values).count == expirations.values.count)
    }
}
