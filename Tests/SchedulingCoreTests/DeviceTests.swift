import SchedulingCore
import TaskModel
import Testing

@Suite struct DeviceTests {
    private func gpuRequest(_ request: inout TaskRequest) { request.requiredResources = .gpu }

    @Test("rule 21: without the manifest's grant a GPU is not permitted, whether there is one or not")
    func grant() {
        var bench = Bench(devices: [Bench.gpu], grants: [])
        let rejection = bench.rejection(Bench.request("cont.x", .continued, gpuRequest))
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.failures.map(\.detail) == ["grantMissing"])
    }

    @Test("rule 20: a claim above the memory of every GPU is refused with what it needs and what there is")
    func memoryTooSmall() {
        var bench = Bench(devices: [Bench.gpu])
        let rejection = bench.rejection(
            Bench.request("cont.x", .continued) {
                $0.requiredResources = .gpu
                $0.claim.deviceMemoryBytes = 9 << 30
            })
        #expect(rejection?.first.detail == "deviceMemoryTooSmall")
        #expect(rejection?.sentence.contains("\(9 << 30)") == true)
        #expect(rejection?.sentence.contains("\(8 << 30)") == true)
    }

    @Test(
        "rule 35, rule 20: a device that fails again and again is left alone for longer each time, until it is cleared")
    func quarantine() {
        var board = DeviceBoard()
        board.replace(with: [Bench.gpu])
        for _ in 0..<3 { board.failed("gpu0", at: .zero) }
        #expect(board.quarantinedUntil("gpu0", at: .zero) == .seconds(60))
        #expect(board.quarantinedUntil("gpu0", at: .seconds(60)) == nil)
        for _ in 0..<3 { board.failed("gpu0", at: .seconds(60)) }
        #expect(board.quarantinedUntil("gpu0", at: .seconds(60)) == .seconds(180))
        board.clearQuarantine(of: "gpu0")
        #expect(board.quarantinedUntil("gpu0", at: .seconds(60)) == nil)
        for _ in 0..<2 { board.failed("gpu0", at: .seconds(60)) }
        board.succeeded("gpu0")
        board.failed("gpu0", at: .seconds(60))
        #expect(board.quarantinedUntil("gpu0", at: .seconds(60)) == nil, "a success forgives")
    }

    @Test("rule 35: what is known of a device outlives its absence and the scheduler itself")
    func healthIsKept() {
        var board = DeviceBoard()
        board.replace(with: [Bench.gpu])
        for _ in 0..<3 { board.failed("gpu0", at: .zero) }
        board.replace(with: [])
        board.replace(with: [Bench.gpu])
        #expect(board.quarantinedUntil("gpu0", at: .zero) == .seconds(60))
        var next = DeviceBoard()
        next.adopt(board.health)
        next.replace(with: [Bench.gpu])
        #expect(next.quarantinedUntil("gpu0", at: .seconds(59)) == .seconds(60))
        #expect(next.nextDeadline(at: .zero) == .seconds(60))
        for _ in 0..<3 { next.failed("gpu0", at: .seconds(60)) }
        #expect(next.quarantinedUntil("gpu0", at: .seconds(60)) == .seconds(180), "twice as long")
    }

    @Test("rule 20: while every GPU is in quarantine, work that requires one is refused with the time that is left")
    func quarantinedAtSubmission() throws {
        var bench = Bench(devices: [Bench.gpu])
        for attempt in 1...3 {
            let id = try bench.admit("cont.\(attempt)", .continued, gpuRequest)
            bench.tell { $0.deviceFailed(id, at: $1) }
            bench.tell { $0.stop(id, .userStop, at: $1) }
        }
        let rejection = bench.rejection(Bench.request("cont.x", .continued, gpuRequest))
        #expect(rejection?.first.detail == "deviceQuarantined")
        bench.advance(by: .seconds(60))
        #expect(bench.rejection(Bench.request("cont.x", .continued, gpuRequest)) == nil)
    }

    @Test("rule 37, A27: a required device that is lost is tried again with growing waits, and then the task fails")
    func requiredDeviceLost() throws {
        var settings = SchedulerSettings()
        settings.devices.failuresBeforeQuarantine = 100
        var bench = Bench(settings: settings, devices: [Bench.gpu])
        let id = try bench.admit("cont.x", .continued, gpuRequest)
        for wait in [10, 20, 40] {
            bench.tell { $0.deviceFailed(id, at: $1) }
            #expect(bench.reasons(id) == ["backoff"])
            bench.advance(by: .seconds(wait - 1))
            #expect(bench.state(id) == .waiting)
            bench.advance(by: .seconds(1))
            #expect(bench.state(id) == .running)
        }
        bench.tell { $0.deviceFailed(id, at: $1) }
        #expect(bench.outcomes(of: id) == [.failed(code: "deviceLost")])
        #expect(bench.launches(of: id).map(\.attempt) == [1, 2, 3, 4])
    }

    @Test("rule 37, rule 36: work that only prefers the device goes on with the CPU, without a relaunch")
    func preferredDeviceLost() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("cont.x", .continued) { $0.preferredResources = .gpu }
        #expect(bench.launches(of: id).first?.device == "gpu0")
        bench.tell { $0.deviceFailed(id, at: $1) }
        #expect(bench.actions.contains(.moveToCPU(id)))
        #expect(bench.state(id) == .running)
        #expect(bench.core.summary(id)?.device == nil)
        #expect(bench.launches(of: id).count == 1)
    }

    @Test("rule 36, A28: without a GPU, preferred resources fall back to the CPU")
    func preferredWithout() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued) { $0.preferredResources = .gpu }
        #expect(bench.launches(of: id).first?.device == nil)
        #expect(bench.state(id) == .running)
    }

    @Test("rule 38: devices may be ordered, excluded and paused, and the one that draws the screen avoided")
    func choice() {
        let screen = ComputeDevice(id: "screen", name: "", memoryBytes: 16 << 30, drawsDisplay: true)
        let other = ComputeDevice(id: "other", name: "", memoryBytes: 4 << 30)
        var board = DeviceBoard()
        board.replace(with: [screen, Bench.gpu, other])
        func place(_ choice: TaskRequest.DeviceChoice) -> String? { try? board.place(0, choice, at: .zero).get() }
        #expect(place(.init()) == "screen", "the most memory")
        #expect(place(.init(ordered: ["other", "gpu0"])) == "other")
        #expect(place(.init(avoidsDisplay: true)) == "gpu0")
        #expect(place(.init(excluded: ["gpu0"], avoidsDisplay: true)) == "other")
        board.setPaused(true, device: "screen")
        #expect(place(.init()) == "gpu0")
        #expect(place(.init(excluded: ["gpu0", "other"])) == nil)
    }

    @Test("rule 39: tasks share a GPU only within its memory, and CPU slots do not count for it")
    func deviceMemory() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings, devices: [Bench.gpu])
        func admit(_ name: String, _ gigabytes: Int) throws -> JobID {
            try bench.admit(name, .continued) {
                $0.requiredResources = .gpu
                $0.claim.deviceMemoryBytes = gigabytes << 30
            }
        }
        let cpu = try bench.admit("cont.cpu", .continued)
        let first = try admit("cont.first", 5)
        let second = try admit("cont.second", 5)
        let third = try admit("cont.third", 3)
        #expect([cpu, first, second, third].map { bench.state($0) } == [.running, .running, .waiting, .running])
        #expect(
            bench.core.why(second).first?.holders.map(\.rawValue) == [
                "org.example.cont.first", "org.example.cont.third",
            ])
        bench.tell { $0.completed(first, success: true, at: $1) }
        #expect(bench.state(second) == .running)
    }
}
