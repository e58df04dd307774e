import SchedulingCore
import TaskModel
import Testing

@Suite struct PriorityTests {
    private func oneSlot() -> SchedulerSettings {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        return settings
    }

    @Test("rule 87: foreground goes before continued background work, that before processing, that before refresh")
    func classOrder() throws {
        var bench = Bench(settings: oneSlot())
        let holder = try bench.admit("b", .processing)
        let refresh = try bench.admit("refresh", .refresh)
        let processing = try bench.admit("a", .processing)
        let background = try bench.admit("cont.back", .continued) { $0.initiator = .script }
        let foreground = try bench.admit("cont.front", .continued)
        var order: [JobID] = []
        for _ in 0..<5 {
            let running = bench.core.jobs().filter { $0.state == .running || $0.state == .expiring }
            let id = try #require(running.first?.id)
            order.append(id)
            bench.tell { $0.completed(id, success: true, at: $1) }
        }
        #expect(order == [holder, foreground, background, processing, refresh])
    }

    @Test("rule 87: a refresh that has waited long enough goes before newer processing")
    func ageing() throws {
        var bench = Bench(settings: oneSlot())
        let holder = try bench.admit("b", .processing)
        let refresh = try bench.admit("refresh", .refresh)
        bench.advance(by: .seconds(601))
        let processing = try bench.admit("a", .processing)
        bench.tell { $0.completed(holder, success: true, at: $1) }
        #expect(bench.state(refresh) == .running)
        #expect(bench.state(processing) == .waiting)
    }

    @Test(
        "rule 88, A29: background work has small chunks, 50 ms on the CPU and 20 ms on a GPU; the foreground has 200 to 500 ms and no cap"
    )
    func terms() throws {
        var bench = Bench(devices: [Bench.gpu])
        let cpu = try bench.admit("cont.cpu", .continued) { $0.initiator = .script }
        let gpu = try bench.admit("cont.gpu", .continued) {
            $0.initiator = .script
            $0.requiredResources = .gpu
        }
        let front = try bench.admit("cont.front", .continued)
        #expect(bench.core.summary(cpu)?.terms?.chunkTarget == .milliseconds(50))
        #expect(bench.core.summary(gpu)?.terms?.chunkTarget == .milliseconds(20))
        let terms = try #require(bench.core.summary(front)?.terms)
        #expect((.milliseconds(200)...(.milliseconds(500))).contains(terms.chunkTarget))
        #expect(terms.dutyCycle == 1)
    }

    @Test("rule 88: chunks grow to their target step by step, and none is meant to last over 2 s")
    func chunkSizes() {
        var sizer = ChunkSizer()
        #expect(sizer.next(target: .milliseconds(50), remaining: 1_000) == 1, "nothing is known yet")
        var units = 1
        for _ in 0..<30 {
            sizer.finished(units: units, in: .milliseconds(units))
            let next = sizer.next(target: .seconds(3_600), remaining: 1_000_000)
            #expect(next <= units * 2)
            units = next
        }
        #expect(units == 2_000)
        sizer.finished(units: units, in: .seconds(20))
        #expect(sizer.next(target: .milliseconds(50), remaining: 1_000_000) == 5, "a slow chunk counts at once")
        #expect(sizer.next(target: .milliseconds(50), remaining: 3) == 3)
    }

    @Test("rule 89, rule 90: promotion changes the terms of a running task at once, without a relaunch")
    func promotion() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued) { $0.initiator = .script }
        bench.conditions { $0.cpuPressure = 90 }
        bench.actions = []
        bench.tell { $0.promote(id, at: $1) }
        let expected = RunTerms(
            priority: .foreground, chunkTarget: .milliseconds(300), dutyCycle: 1, concurrency: 2)
        #expect(bench.actions == [.setTerms(id, expected)])
    }

    @Test("rule 89: promotion changes the turn of a waiting request")
    func promotionOfWaiting() throws {
        var bench = Bench(settings: oneSlot())
        let holder = try bench.admit("cont.holder", .continued)
        _ = try bench.admit("cont.first", .continued) { $0.initiator = .script }
        let second = try bench.admit("cont.second", .continued) { $0.initiator = .script }
        bench.tell { $0.promote(second, at: $1) }
        bench.tell { $0.completed(holder, success: true, at: $1) }
        #expect(bench.state(second) == .running)
    }

    @Test("rule 91: demotion is symmetric, and repeated flips are damped")
    func demotion() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.demote(id, at: $1) }
        #expect(bench.core.summary(id)?.terms?.priority == .background)
        bench.actions = []
        for _ in 0..<50 {
            bench.advance(by: .milliseconds(100))
            bench.tell { $0.promote(id, at: $1) }
            bench.tell { $0.demote(id, at: $1) }
        }
        let changes = bench.actions.count { if case .setTerms(id, _) = $0 { true } else { false } }
        #expect(changes <= 3)
        bench.advance(by: .seconds(5))
        #expect(bench.core.summary(id)?.isForeground == false, "the last wish is carried out in the end")
    }

    @Test("rule 92: the limit halves under pressure, grows by steps in calm, and names its cause")
    func pacing() {
        var pacer = Pacer(at: .zero)
        pacer.observe(Conditions(cpuPressure: 90), at: .seconds(10))
        #expect(pacer.limit == 0.5)
        #expect(pacer.cause == .cpuPressure)
        pacer.observe(Conditions(cpuPressure: 90), at: .seconds(11))
        #expect(pacer.limit == 0.5, "pressure follows slowly, so cuts are spaced")
        pacer.observe(Conditions(cpuPressure: 90), at: .seconds(12))
        #expect(pacer.limit == 0.25)
        pacer.observe(Conditions(cpuPressure: 5), at: .seconds(13))
        #expect(abs(pacer.limit - 0.3) < 1e-9)
        #expect(pacer.cause == .recovering)
        for second in 14..<40 { pacer.observe(Conditions(cpuPressure: 5), at: .seconds(second)) }
        #expect(pacer.limit == 1)
        #expect(pacer.cause == nil)
        for second in 0..<100 { pacer.observe(Conditions(memoryPressure: 90), at: .seconds(40 + 2 * second)) }
        #expect(pacer.limit == Pacer.minLimit)
    }

    @Test("rule 94: a task pauses at a commit point, frees its slot, and goes on exactly there when it is resumed")
    func pause() throws {
        var bench = Bench(settings: oneSlot())
        let first = try bench.admit("cont.first", .continued)
        let second = try bench.admit("cont.second", .continued)
        bench.tell { $0.pause(first, at: $1) }
        #expect(bench.state(first) == .pausing)
        #expect(bench.state(second) == .waiting, "the slot is free only at the commit point")
        bench.tell { $0.paused(first, at: $1) }
        #expect(bench.state(second) == .running)
        bench.tell { $0.resume(first, at: $1) }
        #expect(bench.reasons(first) == ["noRoom"])
        bench.tell { $0.completed(second, success: true, at: $1) }
        #expect(bench.state(first) == .running)
        #expect(bench.launches(of: first).count == 1)
    }

    @Test("rule 65: foreground work takes the room of the background task with the least recent progress")
    func preemption() throws {
        var bench = Bench()
        let stale = try bench.admit("a", .processing)
        let lively = try bench.admit("cont.lively", .continued) { $0.initiator = .script }
        bench.advance(by: .seconds(5))
        bench.tell { $0.progressed(lively, to: 0.5, at: $1) }
        let front = try bench.admit("cont.front", .continued)
        #expect(bench.expirations(of: stale) == [.preempted])
        #expect(bench.state(lively) == .running)
        bench.tell { $0.completed(stale, success: false, at: $1) }
        #expect(bench.state(front) == .running)
    }

    @Test("rule 65: background work that gives its place on a GPU to the foreground gives its device memory too")
    func preemptionOnDevice() throws {
        var bench = Bench(devices: [Bench.gpu])
        let back = try bench.admit("cont.back", .continued) {
            $0.initiator = .script
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 6 << 30
        }
        let front = try bench.admit("cont.front", .continued) {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 6 << 30
        }
        #expect(bench.actions.contains(.pause(back, releasingMemory: true)))
        bench.tell { $0.paused(back, at: $1) }
        #expect(bench.state(front) == .running)
        bench.tell { $0.completed(front, success: true, at: $1) }
        #expect(bench.state(back) == .running)
    }

    @Test("rule 87: a request that has waited long for memory is not passed over for ever by smaller ones")
    func reservation() throws {
        var settings = oneSlot()
        settings.cpuSlots = 2
        var bench = Bench(settings: settings)
        bench.conditions { $0.availableMemoryBytes = 3 << 30 }
        let first = try bench.admit("p0", .processing) { $0.claim.memoryBytes = 1 << 30 }
        let big = try bench.admit("a", .processing) { $0.claim.memoryBytes = 2 << 30 }
        #expect(bench.reasons(big) == ["memoryClaim"])
        bench.advance(by: .seconds(601))
        let small = try bench.admit("p1", .processing) { $0.claim.memoryBytes = 1 << 20 }
        #expect(bench.state(small) == .waiting, "the slot that is free is kept for the one that has waited")
        #expect(bench.reasons(small) == ["behindOthers"])
        bench.tell { $0.completed(first, success: true, at: $1) }
        bench.conditions { $0.availableMemoryBytes = 3 << 30 }
        #expect(bench.state(big) == .running)
        #expect(bench.state(small) == .running)
    }
}
