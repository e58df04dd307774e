import SchedulingCore
import TaskModel
import Testing

@Suite struct ConditionTests {
    @Test("rule 41: a value that cannot be read never blocks, unless the request asks that it be known")
    func unknownDoesNotBlock() throws {
        var bench = Bench(conditions: Conditions())
        let trusting = try bench.admit("a", .processing) { $0.requiresNetwork = true }
        #expect(bench.state(trusting) == .running)
        let strict = try bench.admit("b", .processing) {
            $0.requiresNetwork = true
            $0.mustBeKnown = ConditionSet(.network)
        }
        #expect(bench.reasons(strict) == ["condition.network"])
        #expect(bench.core.why(strict).first?.measured == "unknown")
        bench.conditions { $0.network = .routed }
        bench.advance(by: .seconds(60))
        #expect(bench.state(strict) == .running)
    }

    @Test("rule 42: work that needs external power waits on battery and starts when the machine is plugged in")
    func externalPower() throws {
        var bench = Bench()
        bench.conditions { $0.power = .battery }
        let id = try bench.admit("a", .processing) { $0.requiresExternalPower = true }
        #expect(bench.reasons(id) == ["condition.externalPower"])
        bench.conditions { $0.power = .external }
        bench.advance(by: .seconds(60))
        #expect(bench.launches(of: id).count == 1)
    }

    @Test("rule 43, A35: below 20 % of battery background work stops, and 60 s above 30 % it starts again")
    func batteryGate() throws {
        var bench = Bench()
        bench.advance(by: .seconds(300))
        bench.conditions {
            $0.power = .battery
            $0.batteryPercent = 19
        }
        let id = try bench.admit("cont.x", .continued) { $0.initiator = .script }
        #expect(bench.reasons(id) == ["condition.batteryLevel"])
        bench.conditions { $0.batteryPercent = 25 }
        bench.advance(by: .seconds(600))
        #expect(bench.state(id) == .waiting, "inside the band a closed gate stays closed")
        bench.conditions { $0.batteryPercent = 30 }
        bench.advance(by: .seconds(59))
        #expect(bench.state(id) == .waiting)
        bench.advance(by: .seconds(1))
        #expect(bench.state(id) == .running)
        bench.conditions { $0.batteryPercent = 20 }
        #expect(bench.state(id) == .running, "20 % is not below 20 %")
    }

    @Test("rule 44: in low-power mode background classes pause, and the foreground goes on at half pace")
    func lowPowerMode() throws {
        var bench = Bench()
        let background = try bench.admit("cont.back", .continued) { $0.initiator = .script }
        let foreground = try bench.admit("cont.front", .continued)
        bench.conditions { $0.lowPowerMode = true }
        #expect(bench.actions.contains(.pause(background, releasingMemory: false)))
        #expect(bench.state(foreground) == .running)
        #expect(bench.core.summary(foreground)?.terms?.dutyCycle == 0.5)
    }

    @Test("rule 45: serious heat paces to half, critical heat pauses background work until it has been over for 30 s")
    func thermal() throws {
        var bench = Bench()
        bench.advance(by: .seconds(300))
        let id = try bench.admit("cont.x", .continued) { $0.initiator = .script }
        bench.conditions { $0.thermal = .serious }
        let terms = try #require(bench.core.summary(id)?.terms)
        #expect(terms.dutyCycle * Double(terms.concurrency) / 2 == 0.5)
        #expect(bench.core.pacer.cause == .thermal)
        bench.conditions { $0.thermal = .critical }
        bench.tell { $0.paused(id, at: $1) }
        #expect(bench.state(id) == .paused)
        bench.conditions { $0.thermal = .fair }
        bench.advance(by: .seconds(29))
        #expect(bench.state(id) == .paused)
        bench.advance(by: .seconds(1))
        #expect(bench.state(id) == .running)
    }

    @Test(
        "rule 46: pressure of any kind above its threshold holds refresh and processing back",
        arguments: ["cpu", "io", "memory"])
    func pressure(kind: String) throws {
        func set(_ value: Double, _ conditions: inout Conditions) {
            switch kind {
            case "cpu": conditions.cpuPressure = value
            case "io": conditions.ioPressure = value
            default: conditions.memoryPressure = value
            }
        }
        var bench = Bench()
        bench.conditions { set(61, &$0) }
        let id = try bench.admit("a", .processing)
        #expect(bench.reasons(id) == ["condition.pressure"])
        let foreground = try bench.admit("cont.x", .continued)
        #expect(bench.state(foreground) == .running, "a person's work does not wait for a busy machine")
        bench.conditions { set(5, &$0) }
        bench.advance(by: .seconds(60))
        #expect(bench.state(id) == .running)
    }

    @Test("rule 47: a request waits until the memory it claims is free")
    func memoryClaim() throws {
        var bench = Bench()
        bench.conditions { $0.availableMemoryBytes = 2 << 30 }
        let large = try bench.admit("a", .processing) { $0.claim.memoryBytes = 1 << 30 }
        let second = try bench.admit("b", .processing) { $0.claim.memoryBytes = 1 << 30 }
        #expect(bench.state(large) == .running)
        #expect(bench.reasons(second) == ["memoryClaim"], "the first has not taken its memory yet, but will")
        #expect(bench.core.why(second).first?.threshold == "1.0 GiB")
        bench.conditions { $0.availableMemoryBytes = 2 << 30 }
        #expect(bench.state(second) == .running)
    }

    @Test("rule 47, rule 65: below the memory floor the background task with the least recent progress stops first")
    func memoryFloor() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 3
        var bench = Bench(settings: settings)
        let stale = try bench.admit("cont.stale", .continued) { $0.initiator = .script }
        let lively = try bench.admit("cont.lively", .continued) { $0.initiator = .script }
        let front = try bench.admit("cont.front", .continued)
        bench.advance(by: .seconds(10))
        bench.tell { $0.progressed(lively, to: 0.5, at: $1) }
        bench.conditions { $0.availableMemoryBytes = 100 << 20 }
        #expect(bench.state(stale) == .pausing)
        #expect(bench.state(lively) == .running, "one at a time")
        bench.advance(by: .seconds(1))
        #expect(bench.state(lively) == .pausing)
        #expect(bench.state(front) == .running)
        #expect(bench.actions.contains(.pause(stale, releasingMemory: true)))
    }

    @Test("rule 48, A33: only work that needs the network waits for it; a metered route is one")
    func network() throws {
        var bench = Bench()
        bench.conditions { $0.network = Conditions.Network.none }
        let needy = try bench.admit("a", .processing) { $0.requiresNetwork = true }
        let other = try bench.admit("b", .processing)
        #expect(bench.reasons(needy) == ["condition.network"])
        #expect(bench.state(other) == .running)
        bench.conditions { $0.network = .metered }
        bench.advance(by: .seconds(60))
        #expect(bench.state(needy) == .running)
    }

    @Test("rule 49, rule 56, A30: processing runs only on an idle machine and is expired when the person returns")
    func idle() throws {
        var bench = Bench()
        bench.advance(by: .seconds(100))
        bench.conditions { $0.userIdle = false }
        let polite = try bench.admit("a", .processing)
        let insistent = try bench.admit("b", .processing) { $0.requiresIdle = false }
        #expect(bench.reasons(polite) == ["condition.idle"])
        #expect(bench.state(insistent) == .running)
        bench.conditions { $0.userIdle = true }
        #expect(bench.state(polite) == .running)
        bench.conditions { $0.userIdle = false }
        #expect(bench.expirations(of: polite) == [.conditionLost(.idle)])
        #expect(bench.expirations(of: insistent).isEmpty)
    }

    @Test("rule 50: a full output volume pauses even the foreground, and afterwards it has its former concurrency")
    func outputVolume() throws {
        var bench = Bench()
        bench.advance(by: .seconds(100))
        let id = try bench.admit("cont.x", .continued)
        let before = bench.core.summary(id)?.terms
        bench.conditions { $0.freeDiskBytes = 10 << 20 }
        bench.tell { $0.paused(id, at: $1) }
        #expect(bench.reasons(id) == ["condition.outputVolume"])
        bench.conditions { $0.freeDiskBytes = 10 << 30 }
        #expect(bench.state(id) == .running)
        #expect(bench.core.summary(id)?.terms == before)
    }

    @Test("rule 51: in quiet hours processing waits, and is told the next allowed time")
    func quietHours() throws {
        var bench = Bench()
        let hours = Bench.wall + .seconds(3_600)..<Bench.wall + .seconds(7_200)
        bench.tell { $0.blockHours([hours], at: $1) }
        bench.advance(to: .seconds(3_600))
        let id = try bench.admit("a", .processing)
        #expect(bench.reasons(id) == ["condition.allowedHours"])
        #expect(bench.core.why(id).first?.earliest == .seconds(7_200))
        bench.advance(to: .seconds(7_199))
        #expect(bench.state(id) == .waiting)
        bench.advance(to: .seconds(7_200))
        #expect(bench.state(id) == .running)
    }

    @Test("rule 52: a lost condition expires refresh and processing with its name, and pauses continued work")
    func lostCondition() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 4
        var bench = Bench(settings: settings)
        bench.advance(by: .seconds(100))
        let refresh = try bench.admit("refresh", .refresh) { $0.requiresNetwork = true }
        let processing = try bench.admit("a", .processing) { $0.requiresNetwork = true }
        let continued = try bench.admit("cont.x", .continued) { $0.requiresNetwork = true }
        bench.conditions { $0.network = Conditions.Network.none }
        #expect(bench.expirations(of: refresh) == [.conditionLost(.network)])
        #expect(bench.expirations(of: processing) == [.conditionLost(.network)])
        bench.tell { $0.paused(continued, at: $1) }
        #expect(bench.state(continued) == .paused)
        bench.conditions { $0.network = .routed }
        #expect(bench.state(continued) == .running, "it goes on by itself")
        #expect(bench.launches(of: continued).count == 1, "without a second launch")
    }

    @Test(
        "rule 53: a flapping condition makes at most one start/stop pair a minute, and the guard counts what it held back"
    )
    func flapGuard() throws {
        var bench = Bench()
        bench.advance(by: .seconds(100))
        let id = try bench.admit("cont.x", .continued) { $0.requiresNetwork = true }
        for second in 1...600 {
            bench.advance(to: .seconds(100 + second))
            bench.conditions { $0.network = second.isMultiple(of: 2) ? .routed : Conditions.Network.none }
            bench.tell { $0.paused(id, at: $1) }
        }
        let resumes = bench.actions.count { if case .resume(id, _) = $0 { true } else { false } }
        #expect(resumes <= 10)
        #expect(resumes >= 1)
        #expect(bench.core.gates.gate(.network, isStrict: false).guardedOpenings > 0)
    }

    @Test("rule 54: while everything waits for events, nothing is due")
    func nothingIsDue() throws {
        var bench = Bench()
        bench.advance(by: .seconds(100))
        bench.conditions { $0.network = Conditions.Network.none }
        for index in 0..<10 {
            _ = try bench.admit("cont.\(index)", .continued) { $0.requiresNetwork = true }
        }
        #expect(bench.core.nextDeadline() == nil)
    }

    @Test("rule 40: background GPU work waits while others use the GPU; the foreground does not")
    func gpuContention() throws {
        var bench = Bench(devices: [Bench.gpu])
        bench.conditions { $0.foreignGPULoad = 80 }
        let background = try bench.admit("cont.back", .continued) {
            $0.requiredResources = .gpu
            $0.initiator = .script
        }
        #expect(bench.reasons(background) == ["condition.gpuContention"])
        #expect(bench.core.why(background).first?.measured == "80 %")
        let foreground = try bench.admit("cont.front", .continued) { $0.requiredResources = .gpu }
        #expect(bench.state(foreground) == .running)
    }
}
