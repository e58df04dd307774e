import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Testing

@Suite struct HostProgressTests {
    @Test("rule 59, A20: the fraction of the whole progress tree is seen about once a second while work runs")
    func sampled() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 10
            let child = Progress(totalUnitCount: 4, parent: task.progress, pendingUnitCount: 5)
            child.completedUnitCount = 2
            tasks.add(task)
        }
        try machine.scheduler.submit(exportRequest())
        await machine.advance(by: .seconds(1))
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 0.25)
        tasks.values[0].progress.completedUnitCount += 5
        await machine.advance(by: .seconds(1))
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 0.75)
        tasks.values[0].setTaskCompleted(success: true)
        await machine.advance(by: .seconds(60))
        let rings = machine.clock.rings
        await machine.advance(by: .seconds(3_600))
        #expect(machine.clock.rings == rings)
    }

    @Test("rule 60: committed chunks are progress at once, totals may grow, and a fraction that falls is noted")
    func chunks() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 400
            tasks.add(task)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        let task = tasks.values[0]
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { task.chunkCommitted(units: 2) } }
        }
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 0.5)
        task.progress.totalUnitCount = 800
        task.chunkCommitted(units: 1)
        #expect(machine.scheduler.jobs()[0].fractionCompleted == 201.0 / 800)
        #expect(machine.scheduler.jobs()[0].state == .running)
        task.setTaskCompleted(success: true)
        var falls: [Double] = []
        for await event in events {
            if case .progressFell(let from, _) = event.kind { falls.append(from) }
            if case .ended = event.kind { break }
        }
        #expect(falls == [0.5])
    }

    @Test("rule 61, A20: work that shows no progress is warned of at half its limit and stopped at the limit")
    func stalled() async throws {
        let machine = try photosMachine()
        let seen = Recorder<BGStopReason?>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = 10
            task.progress.completedUnitCount = 1
            task.expirationHandler = { [weak task] in
                seen.add(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        await machine.advance(by: .seconds(400))
        #expect(seen.values == [.stalled])
        var warned = false
        for await event in events {
            if case .stallWarning = event.kind { warned = true }
            if case .ended = event.kind { break }
        }
        #expect(warned)
    }

    @Test("rule 62: a heartbeat with a phase extends the limit once for each phase")
    func heartbeat() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            tasks.add(task)
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        for phase in ["load", "compile"] {
            await machine.advance(by: .seconds(250))
            tasks.values[0].heartbeat(phase: phase)
        }
        await machine.advance(by: .seconds(250))
        #expect(machine.scheduler.jobs()[0].state == .running)
        tasks.values[0].heartbeat(phase: "compile")
        await machine.advance(by: .seconds(60))
        #expect(machine.scheduler.jobs()[0].outcome == .stopped(.stalled))
    }

    @Test("rule 64: without a total counts are shown and no fraction, and counting proves life")
    func indeterminate() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            task.progress.totalUnitCount = -1
            tasks.add(task)
        }
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        for _ in 0..<10 {
            tasks.values[0].progress.completedUnitCount += 1
            await machine.advance(by: .seconds(200))
        }
        #expect(machine.scheduler.jobs()[0].state == .running)
        #expect(machine.scheduler.jobs()[0].fractionCompleted == nil)
    }

    @Test("rule 66, A18: a new title is shown at once, and a storm of titles ten times a second")
    func titles() async throws {
        let machine = try photosMachine()
        let tasks = Recorder<BGContinuedProcessingTask>()
        machine.scheduler.register(forTaskWithIdentifier: id("export.*"), as: BGContinuedProcessingTask.self) { task in
            tasks.add(task)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(exportRequest())
        await machine.settle()
        let task = tasks.values[0]
        #expect(task.title == "Export" && task.subtitle == "Starting")
        for index in 0...99 {
            task.updateTitle("Export", subtitle: "\(index) of 100")
            await machine.advance(by: .milliseconds(10))
        }
        #expect(machine.scheduler.jobs()[0].subtitle == "99 of 100")
        await machine.advance(by: .milliseconds(250))
        task.setTaskCompleted(success: true)
        var shown: [String] = []
        for await event in events {
            if case .titleChanged(_, let subtitle) = event.kind { shown.append(subtitle) }
            if case .ended = event.kind { break }
        }
        #expect(shown.first == "0 of 100" && shown.last == "99 of 100")
        #expect((5...11).contains(shown.count))
    }
}
