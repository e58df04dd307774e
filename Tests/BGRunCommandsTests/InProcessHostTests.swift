import BGRunCommands
import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Glibc
import JobLink
import SystemConditions
import TaskModel
import Testing

/// The scheduler of a process as the host of its one export: what happens to the task is said to the work.
@Suite struct InProcessHostTests {
    private static let identifier = "org.example.photos.export.one"

    private let machine: SimulatedMachine
    private let host: InProcessHost

    init() throws {
        machine = try SimulatedMachine(
            program: "org.example.photos", modes: [.continued], permittedIdentifiers: ["org.example.photos.export.*"],
            grants: [.gpu])
        host = InProcessHost(machine.scheduler, identifier: Self.identifier) {}
    }

    private func request() -> BGContinuedProcessingTaskRequest {
        let request = BGContinuedProcessingTaskRequest(identifier: Self.identifier, title: "Export", subtitle: "")
        request.initiator = .terminal
        return request
    }

    private func launch() async throws {
        host.submit(request())
        while host.answer == nil { await Task.yield() }
        await machine.settle()
        try #require(host.isLaunched)
        #expect(host.reason == nil)
        guard case .command(.terms(let terms)) = host.take().first else {
            Issue.record("the terms come first")
            return
        }
        #expect(terms.priority == .foreground && terms.dutyCycle == 1)
    }

    /// What was said since the last time, in short.
    private func words() -> [String] {
        host.take().map { word in
            switch word {
            case .command(.pause): "pause"
            case .command(.resume(let terms)): "resume \(terms.dutyCycle)"
            case .command(.terms(let terms)): "terms \(terms.dutyCycle)"
            case .command(.stop(let reason, within: _)): "stop \(reason.code)"
            case .command(.leaveDevice): "leave device"
            case .note(let text): text
            case .gone: "gone"
            }
        }
    }

    private var state: BGTaskScheduler.Job.State? { machine.scheduler.jobs().first?.state }

    @Test("rule 44, rule 45: a hot machine, or one that saves power, paces work that somebody waits for")
    func pacing() async throws {
        try await launch()
        machine.conditions.change { $0.thermal = .serious }
        #expect(words() == ["terms 0.5"])
        machine.conditions.change { $0.thermal = .nominal }
        #expect(words() == ["terms 1.0"])
        machine.conditions.change { $0.isLowPowerMode = true }
        #expect(words() == ["terms 0.5"])
    }

    @Test("rule 50, rule 52, rule 95: a volume without room pauses the work, with the reason, until it has room again")
    func volume() async throws {
        try await launch()
        machine.lose(.outputVolume)
        let said = words()
        #expect(said.count == 2 && said.last == "pause")
        #expect(said.first?.hasPrefix("Paused: ") == true && said.first?.contains("\n") == false)
        #expect(state == .pausing)
        host.tell(.paused)
        #expect(state == .paused)
        machine.meet(.outputVolume)
        await machine.advance(by: .seconds(60))
        #expect(words() == ["Going on.", "resume 1.0"])
        #expect(state == .running)
    }

    @Test("rule 78: the work stands still over a sleep, lets the machine go, and goes on where it was")
    func sleep() async throws {
        try await launch()
        #expect(machine.inhibitor.isHeld)
        machine.conditions.tell(.willSleep)
        await machine.settle()
        #expect(words() == ["Paused: The machine is about to sleep. It goes on by itself afterwards.", "pause"])
        #expect(machine.inhibitor.isHeld)
        host.tell(.paused)
        await machine.settle()
        #expect(!machine.inhibitor.isHeld)
        #expect(state == .waiting)
        machine.conditions.tell(.didWake)
        await machine.settle()
        #expect(words() == ["Going on.", "resume 1.0"])
        #expect(state == .running && machine.inhibitor.isHeld)
        host.end(.completed(failures: 0))
        await machine.settle()
        #expect(machine.scheduler.jobs().first?.outcome == .completed(failures: 0))
        #expect(!machine.inhibitor.isHeld)
    }

    @Test("rule 69: whatever else stops the task stops the work, with the reason")
    func stopping() async throws {
        try await launch()
        machine.scheduler.stop(taskWithIdentifier: Self.identifier, reason: .quota)
        await machine.settle()
        #expect(words() == ["stop quota"])
        host.end(.stopped(.quota))
        #expect(machine.scheduler.jobs().first?.outcome == .stopped(.quota))
    }

    @Test("rule 60: progress of the work is progress of the task") func progress() async throws {
        try await launch()
        let snapshot = ProgressSnapshot(
            itemsDone: 1, itemsTotal: 4, failures: 0, fraction: 0.25, megapixelsPerSecond: 1, secondsLeft: nil)
        host.tell(.progress(snapshot, device: "cpu"))
        await machine.advance(by: .seconds(2))
        #expect(machine.scheduler.jobs().first?.fractionCompleted == 0.25)
    }

    @Test("rule 20: what the machine lacks is a refusal before anything is started") func refusal() async throws {
        let request = request()
        request.requiredResources = .gpu
        #expect(host.rejection(of: request)?.first.detail == "noPlatform")
        host.submit(request)
        while host.answer == nil { await Task.yield() }
        #expect(throws: Rejection.self) { try host.answer?.get() }
        #expect(!host.isLaunched)
    }

    @Test("rule 47, rule 95: an export waits for memory, says so once, and Ctrl-C ends the wait")
    func waiting() throws {
        let place = try TestPlace()
        try place.putPhotos(2)
        try place.write("MemTotal: 8000000 kB\nMemAvailable: 100000 kB\n", to: "root/proc/meminfo")
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100"], in: place,
            environment: ["BGRUN_SYSTEM_ROOT": place.path + "/root"])
        #expect(run.waits(for: "Waiting: "))
        run.send(SIGINT)
        let ended = run.end()
        #expect(ended.status == 75)
        #expect(ended.errors.split(separator: "\n").count == 2, "\(ended.errors)")
        #expect(try place.contents("out").isEmpty)
    }
}
