import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import TemporaryFolders
import Testing

@Suite struct FaultTests {
    @Test("rule 99: every condition can be lost and met again", arguments: BGCondition.allCases)
    func conditions(condition: BGCondition) async throws {
        let machine = try photosMachine(gpus: [SimulatedGPU()])
        let clock = machine.clock
        machine.scheduler.register("\(photos).tidy", for: BGProcessingTask.self) { _ in
            try await clock.sleep(for: .seconds(86_400))
        }
        machine.scheduler.register("\(photos).export.*", for: BGContinuedProcessingTask.self) { task in
            task.heartbeat(phase: "sleeping")
            try await clock.sleep(for: .seconds(86_400))
        }
        let identifier: String
        if condition == .gpuContention {
            let request = exportRequest()
            request.requiredResources = .gpu
            request.initiator = .script
            identifier = request.identifier
            machine.lose(condition)
            try machine.scheduler.submit(request)
        } else {
            let request = BGProcessingTaskRequest(identifier: "\(photos).tidy")
            request.requiresNetworkConnectivity = true
            request.requiresExternalPower = condition == .externalPower
            identifier = request.identifier
            // A level counts only where the battery is used.
            if condition == .batteryLevel { machine.lose(.externalPower) }
            machine.lose(condition)
            try machine.scheduler.submit(request)
        }
        await machine.advance(by: .seconds(120))
        #expect(machine.scheduler.why(identifier).map(\.code).contains("condition.\(condition.rawValue)"))
        machine.meet(condition)
        await machine.advance(by: .seconds(120))
        #expect(machine.scheduler.why(identifier) == [])
        #expect(machine.timeline.requests(identifier).first?.starts.count == 1)
    }

    @Test("rule 99: a running task hears of the condition that was lost")
    func lostWhileRunning() async throws {
        let machine = try photosMachine()
        let clock = machine.clock
        machine.scheduler.register("\(photos).tidy", for: BGProcessingTask.self) { _ in
            try await clock.sleep(for: .seconds(86_400))
        }
        let request = BGProcessingTaskRequest(identifier: "\(photos).tidy")
        request.requiresNetworkConnectivity = true
        try machine.scheduler.submit(request)
        await machine.advance(by: .seconds(60))
        machine.lose(.network)
        await machine.settle()
        #expect(machine.timeline.requests.first?.stops.map(\.reason) == [.conditionLost(.network)])
    }

    @Test(
        "rule 99, rule 37: a lost device moves preferred work to the CPU, and required work waits for another attempt")
    func deviceLoss() async throws {
        let machine = try photosMachine(gpus: [SimulatedGPU(name: "gpu0")])
        let clock = machine.clock
        let devices = Shared<[String?]>([])
        machine.scheduler.register("\(photos).export.*", for: BGContinuedProcessingTask.self) { task in
            try await clock.sleep(for: .seconds(60))
            devices.change { $0.append(task.device) }
        }
        let preferring = exportRequest("prefers")
        preferring.preferredResources = .gpu
        let requiring = exportRequest("requires")
        requiring.requiredResources = .gpu
        try machine.scheduler.submit(preferring)
        try machine.scheduler.submit(requiring)
        await machine.advance(by: .seconds(10))
        #expect(machine.loseDevice(named: "gpu0") == 2)
        #expect(machine.loseDevice(named: "another") == 0)
        await machine.advance(by: .seconds(600))
        #expect(devices.current == [nil, "gpu0"])
        let timeline = machine.timeline
        #expect(timeline.requests("\(photos).export.prefers").first?.starts.count == 1)
        #expect(timeline.requests("\(photos).export.requires").first?.starts.count == 2)
        #expect(timeline.requests.allSatisfy { $0.outcome == .completed(failures: 0) })
    }

    @Test(
        "rule 99, rule 20: a driver that crashes or hangs takes its devices away, and refusals name the cause",
        arguments: [(SimulatedDriverFault.crash, "driverCrashed"), (.hang, "driverHung")])
    func driverFault(fault: SimulatedDriverFault, cause: String) async throws {
        let machine = try photosMachine(gpus: [SimulatedGPU(name: "gpu0")])
        machine.scheduler.register("\(photos).export.*", for: BGContinuedProcessingTask.self) { _ in }
        let request = exportRequest()
        request.requiredResources = .gpu
        #expect(machine.scheduler.supportedResources == .gpu)
        machine.failDriver(fault)
        #expect(machine.scheduler.supportedResources.isEmpty)
        let error = try #require(throws: BGTaskScheduler.Error.self) { try machine.scheduler.submit(request) }
        #expect(error.failures.map(\.detail) == [cause])
        machine.repairDriver()
        try machine.scheduler.submit(request)
        await machine.settle()
        #expect(machine.timeline.requests.first?.outcome == .completed(failures: 0))
    }

    @Test("rule 99: a full volume takes what fits, says that it is full, and can be freed")
    func fullVolume() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "file")
        let volume = SimulatedVolume(freeBytes: 6)
        try volume.write(Data("abcd".utf8), to: file)
        #expect(volume.freeBytes == 2)
        let error = try #require(throws: CocoaError.self) { try volume.write(Data("efgh".utf8), to: file) }
        #expect(error.code == .fileWriteOutOfSpace)
        #expect(try Data(contentsOf: file) == Data("ef".utf8))
        volume.free()
        try volume.write(Data("efgh".utf8), to: file)
        #expect(try Data(contentsOf: file) == Data("efgh".utf8))
        volume.fill()
        #expect(throws: CocoaError.self) { try volume.write(Data("i".utf8), to: file) }
        #expect(volume.writes == 4)
        #expect(volume.refusals == 2)
    }

    @Test func aClockCallsAtEachTimeOnceAndASleepEndsWithItsTask() async throws {
        let clock = ManualClock()
        let seen = Shared<[Int]>([])
        clock.after(.seconds(2)) { seen.change { $0.append(2) } }
        clock.after(.seconds(1)) {
            seen.change { $0.append(1) }
            clock.after(.seconds(3)) { seen.change { $0.append(4) } }
        }
        clock.advance(by: .seconds(3))
        #expect(seen.current == [1, 2])
        clock.advance(by: .seconds(3))
        #expect(seen.current == [1, 2, 4])
        #expect(clock.untilNextAlarm == nil)
        let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
        sleeping.cancel()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
        #expect(clock.untilNextAlarm == nil)
    }
}
