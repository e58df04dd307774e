import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Testing

@Suite struct HostPausingTests {
    @Test("rule 52: continued work that loses a condition pauses at its next chunk and goes on by itself")
    func pausing() async throws {
        let machine = try photosMachine()
        let (chunks, chunk) = AsyncStream<Int>.makeStream()
        let (steps, step) = AsyncStream<Void>.makeStream()
        machine.scheduler.register(id("export.*"), for: BGContinuedProcessingTask.self) { task in
            var count = 0
            for await _ in steps {
                await task.waitWhilePaused()
                count += 1
                chunk.yield(count)
                if count == 3 { break }
            }
        }
        var done = chunks.makeAsyncIterator()
        let request = exportRequest()
        request.initiator = .script
        let events = machine.scheduler.events()
        try machine.scheduler.submit(request)
        step.yield()
        #expect(await done.next() == 1)
        machine.conditions.change { $0.thermal = .critical }
        step.yield()
        for await event in events {
            if case .paused = event.kind { break }
        }
        #expect(machine.scheduler.jobs()[0].state == .paused)
        #expect(machine.scheduler.why(id("export.one")).map(\.code) == ["condition.thermal"])
        machine.conditions.change { $0.thermal = .nominal }
        await machine.advance(by: .seconds(120))
        #expect(await done.next() == 2)
        step.yield()
        #expect(await done.next() == 3)
        #expect(await ending(of: id("export.one"), in: machine.scheduler, is: .completed(failures: 0)))
    }

    @Test("rule 94: a person pauses work at its next chunk, a thread that blocks as well, and lets it go on")
    func blockingPause() async throws {
        let machine = try photosMachine()
        let start = DispatchSemaphore(value: 0)
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            start.wait()
            task.blockWhilePaused()
            task.setTaskCompleted(success: true)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        machine.scheduler.pause(taskWithIdentifier: id("export.one"))
        start.signal()
        for await event in events {
            if case .paused = event.kind { break }
        }
        #expect(machine.scheduler.why(id("export.one")).map(\.code) == ["pausedByPerson"])
        machine.scheduler.resume(taskWithIdentifier: id("export.one"))
        await machine.settle()
        #expect(machine.scheduler.jobs()[0].outcome == .completed(failures: 0))
    }

    @Test("rule 94: work that has to stop while it is paused is let go to do so")
    func stopWhilePaused() async throws {
        let machine = try photosMachine()
        let start = DispatchSemaphore(value: 0)
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.expirationHandler = {}
            start.wait()
            task.blockWhilePaused()
            task.setTaskCompleted(success: false)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        machine.scheduler.pause(taskWithIdentifier: id("export.one"))
        start.signal()
        for await event in events {
            if case .paused = event.kind { break }
        }
        machine.scheduler.stop(taskWithIdentifier: id("export.one"))
        await machine.settle()
        #expect(machine.scheduler.jobs()[0].outcome == .stopped(.userStop))
    }

    @Test("rule 89, A29: promotion and demotion reach running work as new terms")
    func promotion() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        let heard = Recorder<BGRunTerms.Priority>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.termsHandler = { heard.add($0.priority) }
            tasks.add(task)
        }
        let request = exportRequest()
        request.initiator = .script
        try machine.scheduler.submit(request)
        await machine.settle()
        #expect(tasks.values[0].terms.priority == .background)
        #expect(machine.scheduler.promote(taskWithIdentifier: id("export.one")))
        await machine.settle()
        #expect(tasks.values[0].terms.priority == .foreground)
        #expect(tasks.values[0].terms.chunkTarget >= .milliseconds(200) && tasks.values[0].terms.dutyCycle == 1)
        await machine.advance(by: .seconds(10))
        #expect(machine.scheduler.demote(taskWithIdentifier: id("export.one")))
        await machine.settle()
        #expect(heard.values == [.foreground, .background])
    }
}
