import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Foundation
import SchedulingCore
import TaskModel
import Testing

@Suite struct SubmissionTests {
    /// Conditions under which processing waits.
    private static var busy: SimulatedConditions {
        var conditions = SimulatedConditions.calm
        conditions.isIdle = false
        return conditions
    }

    /// A machine on which everything has a handler that does nothing and does not end.
    private func machine(
        conditions: SimulatedConditions = .calm, gpus: [SimulatedGPU] = [], grants: BGTaskScheduler.Grants = [.gpu],
        modes: Set<BGTaskScheduler.Mode> = [.refresh, .processing, .continued], identifiers: [String]? = nil
    ) throws -> SimulatedMachine {
        let identifiers = identifiers ?? ["refresh", "tidy", "index", "export.*", "upload"]
        let machine = try photosMachine(
            conditions: conditions, gpus: gpus, grants: grants, modes: modes, identifiers: identifiers)
        for name in identifiers {
            machine.scheduler.register(forTaskWithIdentifier: id(name), using: nil) { _ in }
        }
        return machine
    }

    private func pending(_ machine: SimulatedMachine) async -> [String] {
        await machine.scheduler.pendingTaskRequests().map(\.identifier)
    }

    @Test("rule 13, A10: requests are copied on submission, and the pending list holds copies")
    func copied() async throws {
        let machine = try machine(conditions: Self.busy)
        let request = BGProcessingTaskRequest(identifier: id("tidy"))
        request.requiresExternalPower = true
        try machine.scheduler.submit(request)
        request.requiresExternalPower = false
        let copies = await machine.scheduler.pendingTaskRequests()
        let copy = try #require(copies.first as? BGProcessingTaskRequest)
        #expect(copy.requiresExternalPower)
        copy.requiresExternalPower = false
        let again = await machine.scheduler.pendingTaskRequests()
        #expect((again.first as? BGProcessingTaskRequest)?.requiresExternalPower == true)
    }

    @Test("rule 14, A9: the earliest begin date is a floor, and none means at once")
    func floor() async throws {
        let machine = try machine()
        let request = BGProcessingTaskRequest(identifier: id("tidy"))
        request.earliestBeginDate = machine.clock.date.addingTimeInterval(3_600)
        try machine.scheduler.submit(request)
        await machine.advance(by: .seconds(3_599))
        #expect(machine.scheduler.jobs().map(\.state) == [.waiting])
        #expect(machine.scheduler.why(id("tidy")).map(\.code) == ["earliestBeginDate"])
        await machine.advance(by: .seconds(1))
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("index")))
        #expect(machine.scheduler.jobs().map(\.state) == [.running, .running])
    }

    @Test("rule 14: the floor goes by the wall clock, also when that is set")
    func wallClock() async throws {
        let machine = try machine()
        let request = BGProcessingTaskRequest(identifier: id("tidy"))
        let date = machine.clock.date.addingTimeInterval(86_400)
        request.earliestBeginDate = date
        try machine.scheduler.submit(request)
        machine.clock.setWallClock(to: date)
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
    }

    @Test("rule 14, A9: the earliest begin date of continued work is ignored, and that is told")
    func floorOfContinued() async throws {
        let machine = try machine()
        let request = exportRequest()
        request.earliestBeginDate = machine.clock.date.addingTimeInterval(3_600)
        let answer = try await machine.scheduler.submitTaskRequest(request)
        #expect(answer.isRunning)
        #expect(answer.warnings.map(\.code) == ["earliestBeginDateIgnored"])
    }

    @Test("rule 15, A7: submitting an identifier that still waits replaces what waited")
    func replaced() async throws {
        let machine = try machine(conditions: Self.busy)
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("index")))
        let second = BGProcessingTaskRequest(identifier: id("tidy"))
        second.requiresNetworkConnectivity = true
        try machine.scheduler.submit(second)
        #expect(await pending(machine) == [id("index"), id("tidy")])
        #expect(machine.scheduler.jobs().first?.outcome == .stopped(.replaced))
    }

    @Test("rule 16: continued work that runs already is refused, refresh and processing queue their next run")
    func alreadyRunning() async throws {
        let machine = try machine()
        try machine.scheduler.submit(exportRequest())
        let error = try refusal(machine.scheduler, exportRequest())
        #expect(error.code == .notPermitted && error.failures[0].detail == "alreadyRunning")
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        #expect(machine.scheduler.jobs().filter { $0.identifier == id("tidy") }.map(\.state) == [.running, .waiting])
    }

    @Test("rule 17, A8: one refresh and ten processing requests may be pending")
    func limits() throws {
        let names = (0..<12).map { "job\($0)" }
        let machine = try machine(conditions: Self.busy, identifiers: names)
        for name in names.prefix(10) { try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id(name))) }
        let error = try refusal(machine.scheduler, BGProcessingTaskRequest(identifier: id("job10")))
        #expect(error.code == .tooManyPendingTaskRequests && error.sentence.contains("10"))
        let first = BGAppRefreshTaskRequest(identifier: id("job10"))
        first.earliestBeginDate = machine.clock.date.addingTimeInterval(60)
        try machine.scheduler.submit(first)
        let refresh = try refusal(machine.scheduler, BGAppRefreshTaskRequest(identifier: id("job11")))
        #expect(refresh.code == .tooManyPendingTaskRequests)
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("job3")))
    }

    @Test("rule 18, A13: all failed checks are told in their order, and the first one gives the code")
    func allFailures() throws {
        let machine = try machine(grants: [], modes: [.refresh, .processing], identifiers: ["refresh", "upload"])
        machine.scheduler.setBackgroundEnabled(false)
        let request = BGContinuedProcessingTaskRequest(identifier: id("upload"), title: "T", subtitle: "S")
        request.requiredResources = .gpu
        let error = try refusal(machine.scheduler, request)
        #expect(error.code == .notPermitted)
        #expect(
            error.failures.map(\.detail) == ["modeMissing", "backgroundSwitchedOff", "grantMissing", "noPlatform"])
        #expect(error.failures.map(\.code) == [.notPermitted, .unavailable, .notPermitted, .notPermitted])
        #expect(machine.scheduler.jobs().isEmpty)
    }

    @Test("rule 4, A13: a wrong identifier is refused with the closest permitted ones")
    func wrongIdentifier() throws {
        let machine = try machine()
        let error = try refusal(machine.scheduler, BGProcessingTaskRequest(identifier: id("tiddy")))
        #expect(error.code == .notPermitted && error.sentence.contains("\"\(id("tidy"))\""))
    }

    @Test("rule 19: an error has a code, one sentence and a fix, also as an NSError")
    func errorShape() throws {
        let machine = try machine()
        let error = try refusal(machine.scheduler, BGProcessingTaskRequest(identifier: "nonsense"))
        for failure in error.failures {
            #expect(!failure.detail.isEmpty && failure.sentence.hasSuffix(".") && failure.fix.hasSuffix("."))
        }
        let bridged = error as NSError
        #expect(bridged.domain == BGTaskScheduler.errorDomain && bridged.code == 3)
        #expect(error.localizedDescription == error.sentence)
    }

    @Test("rule 19: codes of errors are told apart by catch and by their code")
    func catching() throws {
        let machine = try machine()
        var caught = ""
        do {
            try machine.scheduler.submit(BGProcessingTaskRequest(identifier: "nonsense"))
        } catch BGTaskScheduler.Error.unavailable {
            caught = "unavailable"
        } catch BGTaskScheduler.Error.notPermitted {
            caught = "notPermitted"
        } catch {
            caught = "\(error)"
        }
        #expect(caught == "notPermitted")
        #expect(throws: BGTaskScheduler.Error.self) {
            try machine.scheduler.submit(BGProcessingTaskRequest(identifier: "nonsense"))
        }
    }

    @Test("rule 20, A28: a required resource that the machine does not have refuses the request and stores nothing")
    func missingResource() throws {
        let machine = try machine()
        let request = exportRequest()
        request.requiredResources = .gpu
        #expect(!machine.scheduler.supportedResources.contains(.gpu))
        let error = try refusal(machine.scheduler, request)
        #expect(error.code == .notPermitted && error.failures.map(\.detail) == ["noPlatform"])
        #expect(machine.scheduler.jobs().isEmpty)
    }

    @Test("rule 31: drivers are asked only when a request needs to know, and once")
    func lazyProbe() async throws {
        let machine = try machine(gpus: [SimulatedGPU()])
        try machine.scheduler.submit(exportRequest("plain"))
        #expect(machine.devices.timesAsked == 0)
        let request = exportRequest("gpu")
        request.requiredResources = .gpu
        try machine.scheduler.submit(request)
        #expect(machine.scheduler.supportedResources == .gpu)
        #expect(machine.devices.timesAsked == 1)
        #expect(machine.scheduler.jobs().last?.device == "Simulated GPU")
    }

    @Test("rule 21, A27: the GPU without its grant is refused for that reason, whatever the hardware")
    func missingGrant() throws {
        let machine = try machine(gpus: [SimulatedGPU()], grants: [])
        let request = exportRequest()
        request.requiredResources = .gpu
        #expect(try refusal(machine.scheduler, request).failures.map(\.detail) == ["grantMissing"])
    }

    @Test("rule 36: a preferred resource is used where it is, and left out where it is not")
    func preferred() throws {
        let without = try machine()
        let request = exportRequest()
        request.preferredResources = .gpu
        try without.scheduler.submit(request)
        #expect(without.scheduler.jobs().map(\.state) == [.running] && without.scheduler.jobs()[0].device == nil)
        let with = try machine(gpus: [SimulatedGPU(name: "G")])
        try with.scheduler.submit(request)
        #expect(with.scheduler.jobs()[0].device == "G")
    }

    @Test("rule 22, A12: with background work switched off every request is unavailable")
    func switchedOff() throws {
        let machine = try machine()
        machine.scheduler.setBackgroundEnabled(false)
        #expect(try refusal(machine.scheduler, BGAppRefreshTaskRequest(identifier: id("refresh"))).code == .unavailable)
        machine.scheduler.setBackgroundEnabled(true)
        try machine.scheduler.submit(BGAppRefreshTaskRequest(identifier: id("refresh")))
    }

    @Test("rule 23, A14: .fail throws when it cannot start at once, with reasons and holders, and leaves nothing")
    func fail() async throws {
        let machine = try machine()
        try machine.scheduler.submit(exportRequest("a"))
        try machine.scheduler.submit(exportRequest("b"))
        let request = exportRequest("c")
        request.strategy = .fail
        let error = try refusal(machine.scheduler, request)
        #expect(error.code == .immediateRunIneligible)
        #expect(error.sentence.contains(id("export.a")) && error.sentence.contains(id("export.b")))
        #expect(machine.scheduler.jobs().count == 2)
    }

    @Test("rule 24, A15: .queue goes to the back, and its place and reasons can be read at once")
    func queue() async throws {
        let machine = try machine()
        try machine.scheduler.submit(exportRequest("a"))
        try machine.scheduler.submit(exportRequest("b"))
        try machine.scheduler.submit(exportRequest("c"))
        let answer = try await machine.scheduler.submitTaskRequest(exportRequest("d"))
        #expect(!answer.isRunning && answer.position == 1)
        #expect(answer.reasons.map(\.code) == ["noRoom"])
        #expect(machine.scheduler.why(id("export.d")).first?.holders == [id("export.a"), id("export.b")])
    }

    @Test("rule 25, A11: the completion handler comes on another thread, with the error or nothing")
    func completionHandler() async throws {
        let machine = try machine()
        let first = await withCheckedContinuation { continuation in
            machine.scheduler.submitTaskRequest(exportRequest()) { continuation.resume(returning: $0) }
        }
        #expect(first == nil)
        let second = await withCheckedContinuation { continuation in
            machine.scheduler.submitTaskRequest(exportRequest()) { continuation.resume(returning: $0) }
        }
        #expect((second as? BGTaskScheduler.Error)?.code == .notPermitted)
    }

    @Test("rule 25: any number of threads may submit at once, and every request is counted once")
    func manyThreads() async throws {
        let machine = try machine(identifiers: ["export.*"])
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask { _ = try? await machine.scheduler.submitTaskRequest(exportRequest("e\(index)")) }
            }
        }
        #expect(machine.scheduler.jobs().count == 50)
        #expect(Set(await pending(machine)).count == 50)
    }

    @Test("rule 26: who asked is recorded, and automatic initiators are marked")
    func initiator() async throws {
        let machine = try machine()
        let request = exportRequest()
        request.initiator = .script
        let answer = try await machine.scheduler.submitTaskRequest(request)
        #expect(answer.warnings.map(\.code) == ["automaticInitiator"])
        #expect(machine.scheduler.jobs()[0].initiator == .script && !machine.scheduler.jobs()[0].isForeground)
    }

    @Test("rule 27: the same key is the same submission")
    func idempotent() async throws {
        let machine = try machine()
        let request = exportRequest()
        request.requestKey = "once"
        let first = try await machine.scheduler.submitTaskRequest(request)
        let second = try await machine.scheduler.submitTaskRequest(request)
        #expect(second.isRepeat && second.job == first.job)
        #expect(machine.scheduler.jobs().count == 1)
    }

    @Test("rule 28: a dry run gives the same answer and changes nothing")
    func dryRun() async throws {
        let machine = try machine()
        let request = exportRequest()
        request.expectedWork = .seconds(60)
        let preview = machine.scheduler.dryRun(request)
        #expect(machine.scheduler.jobs().isEmpty)
        let expected = try preview.answer.get()
        #expect(preview.expectedChunks == 200 && preview.secondsOfWork?.lowerBound == 60)
        #expect(preview.earliestStart == machine.clock.date)
        let answer = try await machine.scheduler.submitTaskRequest(request)
        #expect(answer == expected)
        let refused = machine.scheduler.dryRun(BGProcessingTaskRequest(identifier: id("nope")))
        let error = try refusal(machine.scheduler, BGProcessingTaskRequest(identifier: id("nope")))
        #expect(throws: error) { try refused.answer.get() }
    }

    @Test("rule 29: cancelling takes back what waits, and stopping ends what runs")
    func cancelling() async throws {
        let machine = try machine()
        try machine.scheduler.submit(exportRequest("a"))
        try machine.scheduler.submit(exportRequest("b"))
        try machine.scheduler.submit(exportRequest("c"))
        machine.scheduler.cancel(taskRequestWithIdentifier: id("export.a"))
        machine.scheduler.cancel(taskRequestWithIdentifier: id("export.c"))
        #expect(await pending(machine) == [id("export.a"), id("export.b")])
        #expect(machine.scheduler.jobs().last?.outcome == .cancelled)
        machine.scheduler.stop(taskWithIdentifier: id("export.a"))
        await machine.settle()
        #expect(await pending(machine) == [id("export.b")])
        machine.scheduler.cancelAllTaskRequests()
        #expect(await pending(machine) == [id("export.b")])
    }

    @Test("rule 30, A10: the pending list is what was submitted and has not ended; jobs() tells the states apart")
    func pendingList() async throws {
        let machine = try machine()
        try machine.scheduler.submit(exportRequest("a"))
        try machine.scheduler.submit(exportRequest("b"))
        try machine.scheduler.submit(exportRequest("c"))
        let delivered = await withCheckedContinuation { continuation in
            machine.scheduler.getPendingTaskRequests { continuation.resume(returning: $0.map(\.identifier)) }
        }
        #expect(delivered == [id("export.a"), id("export.b"), id("export.c")])
        #expect(machine.scheduler.jobs().map(\.state) == [.running, .running, .waiting])
    }

    @Test("rule 12: research requests need their own grant")
    func research() async throws {
        let request = BGHealthResearchTaskRequest(identifier: id("tidy"))
        let without = try machine(grants: [])
        let error = try refusal(without.scheduler, request)
        #expect(error.code == .notPermitted && error.failures.map(\.detail) == ["grantMissing"])
        #expect(error.sentence.contains("health research"))
        let machine = try photosMachine(grants: [.healthResearch])
        let seen = Recorder<Bool>()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { task in
            seen.add(task is BGHealthResearchTask)
            task.setTaskCompleted(success: true)
        }
        try machine.scheduler.submit(request)
        await machine.settle()
        #expect(seen.values == [true])
    }

    @Test("rule 8: a handler of research tasks refuses plain processing")
    func researchHandler() throws {
        let machine = try photosMachine(grants: [.healthResearch])
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), as: BGHealthResearchTask.self) { _ in }
        let error = try refusal(machine.scheduler, BGProcessingTaskRequest(identifier: id("tidy")))
        #expect(error.failures.map(\.detail) == ["handlerMismatch"])
    }

    @Test("rule 98, A43: the status of the person's switch can be read, and a refusal stays")
    func backgroundSwitch() async throws {
        let machine = try machine()
        #expect(machine.scheduler.backgroundStatus == .available)
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        machine.scheduler.setBackgroundStatus(.restricted)
        await machine.settle()
        #expect(machine.scheduler.backgroundStatus == .restricted)
        #expect(machine.scheduler.jobs()[0].outcome == .stopped(.userStop))
        await machine.advance(by: .seconds(86_400))
        #expect(try refusal(machine.scheduler, BGProcessingTaskRequest(identifier: id("tidy"))).code == .unavailable)
    }

    @Test("rule 54: 1,000 requests that wait for a condition wake nobody until they are overdue")
    func waitingCostsNothing() async throws {
        var settings = SchedulerSettings()
        settings.maxPending[.processing] = 1_000
        let names = (0..<1_000).map { id("job\($0)") }
        let manifest = try Manifest(
            program: "org.example.photos", modes: [.processing], permittedIdentifiers: names)
        let machine = SimulatedMachine(manifest, conditions: Self.busy, settings: settings)
        for name in names {
            machine.scheduler.register(forTaskWithIdentifier: name, using: nil) { _ in }
            try machine.scheduler.submit(BGProcessingTaskRequest(identifier: name))
        }
        #expect(machine.clock.untilNextAlarm == .seconds(48 * 3_600))
        await machine.advance(by: .seconds(47 * 3_600))
        #expect(machine.clock.rings == 0)
        #expect(machine.scheduler.jobs().allSatisfy { $0.state == .waiting })
    }
}
