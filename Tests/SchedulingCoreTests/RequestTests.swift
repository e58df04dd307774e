import SchedulingCore
import TaskModel
import Testing

@Suite struct RequestTests {
    @Test("rule 14, A9: the earliest begin date is a floor for processing, and reported as ignored for continued work")
    func floor() throws {
        var bench = Bench()
        let id = try bench.admit("a", .processing) { $0.earliestBegin = Bench.wall + .seconds(3_600) }
        #expect(bench.reasons(id) == ["earliestBeginDate"])
        #expect(bench.core.why(id).first?.earliest == .seconds(3_600))
        bench.advance(by: .seconds(3_599))
        #expect(bench.state(id) == .waiting)
        bench.advance(by: .seconds(1))
        #expect(bench.state(id) == .running)
        let continued = try bench.submit(
            Bench.request("cont.x", .continued) { $0.earliestBegin = Bench.wall + .seconds(99_999) }
        ).get()
        #expect(continued.isRunning)
        #expect(continued.warnings.map(\.code) == ["earliestBeginDateIgnored"])
    }

    @Test("rule 14: when the wall clock is set, floors follow it")
    func wallClock() throws {
        var bench = Bench()
        let id = try bench.admit("a", .processing) { $0.earliestBegin = Bench.wall + .seconds(3_600) }
        bench.tell { $0.clockChanged(wall: Bench.wall - .seconds(3_600), at: $1) }
        bench.advance(by: .seconds(7_199))
        #expect(bench.state(id) == .waiting)
        bench.tell { $0.clockChanged(wall: Bench.wall + .seconds(3_600), at: $1) }
        #expect(bench.state(id) == .running)
    }

    @Test("rule 15, A7: an identifier that still waits is replaced, at the back, and the old one ends as replaced")
    func replaced() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings)
        let holder = try bench.admit("cont.holder", .continued)
        let old = try bench.admit("cont.x", .continued)
        let other = try bench.admit("cont.y", .continued)
        bench.advance(by: .seconds(1))
        let admission = try bench.submit(Bench.request("cont.x", .continued)).get()
        #expect(admission.replaced == old)
        #expect(bench.outcomes(of: old) == [.stopped(.replaced)])
        bench.tell { $0.completed(holder, success: true, at: $1) }
        #expect(bench.state(other) == .running)
        #expect(bench.state(admission.id) == .waiting)
    }

    @Test("rule 19: every refusal has a code, a sentence and a fix")
    func refusalsAreWhole() {
        var settings = SchedulerSettings()
        settings.cpuSlots = 0
        settings.allowsAutomaticContinued = false
        settings.maxPending = [:]
        var bench = Bench(settings: settings, grants: [], modes: [.refresh], usesHandlers: true)
        bench.tell { $0.setBackgroundStatus(.restricted, program: Bench.program, at: $1) }
        let refused = [
            Bench.request("cont.x", .continued) {
                $0.strategy = .fail
                $0.initiator = .script
                $0.requiredResources = .gpu
            },
            Bench.request("zzz", .processing), Bench.request("refresh", .refresh),
        ].compactMap { bench.rejection($0) }
        #expect(refused.count == 3)
        for failure in refused.flatMap(\.failures) {
            #expect(!failure.detail.isEmpty && failure.sentence.hasSuffix(".") && failure.fix.hasSuffix("."))
        }
        #expect(refused.flatMap(\.failures).count >= 9)
    }

    @Test("rule 22, A12: background work that is switched off for the program or for all is unavailable")
    func switchedOff() throws {
        var bench = Bench()
        bench.tell { $0.setBackgroundStatus(.denied, program: Bench.program, at: $1) }
        #expect(bench.rejection(Bench.request("a", .processing))?.code == .unavailable)
        bench.tell { $0.setBackgroundStatus(.available, program: Bench.program, at: $1) }
        #expect(bench.rejection(Bench.request("a", .processing)) == nil)
        bench.tell { $0.setBackgroundStatus(.denied, program: nil, at: $1) }
        #expect(bench.rejection(Bench.request("b", .processing))?.code == .unavailable)
    }

    @Test("rule 98, A43: switching off ends what runs in the background and parks what waits; switching on goes on")
    func switchWhileWaiting() throws {
        var bench = Bench()
        let running = try bench.admit("a", .processing)
        let waiting = try bench.admit("b", .processing) { $0.earliestBegin = Bench.wall + .seconds(60) }
        bench.tell { $0.setBackgroundStatus(.denied, program: Bench.program, at: $1) }
        #expect(bench.expirations(of: running) == [.userStop])
        #expect(bench.reasons(waiting) == ["backgroundSwitchedOff"])
        #expect(bench.core.backgroundStatus(of: Bench.program) == .denied)
        bench.advance(by: .seconds(120))
        #expect(bench.state(waiting) == .waiting)
        bench.tell { $0.setBackgroundStatus(.available, program: Bench.program, at: $1) }
        #expect(bench.state(waiting) == .running)
    }

    @Test("rule 26, A19: automatic initiators are marked, run in the background, and may be refused by policy")
    func initiator() throws {
        var bench = Bench()
        let admission = try bench.submit(Bench.request("cont.x", .continued) { $0.initiator = .script }).get()
        #expect(admission.warnings.map(\.code) == ["automaticInitiator"])
        #expect(bench.core.summary(admission.id)?.isForeground == false)
        #expect(bench.core.summary(admission.id)?.request.initiator == .script)
        var settings = SchedulerSettings()
        settings.allowsAutomaticContinued = false
        var strict = Bench(settings: settings)
        let rejection = strict.rejection(Bench.request("cont.x", .continued) { $0.initiator = .schedule })
        #expect(rejection?.first.detail == "automaticInitiator")
    }

    @Test("rule 27: the same key again is the same request, whatever has become of it")
    func requestKey() throws {
        var bench = Bench()
        let first = try bench.submit(Bench.request("cont.x", .continued) { $0.requestKey = "k" }).get()
        let again = try bench.submit(Bench.request("cont.x", .continued) { $0.requestKey = "k" }).get()
        #expect(again.id == first.id)
        #expect(again.isRepeat)
        #expect(bench.core.jobs().count == 1)
        bench.tell { $0.completed(first.id, success: false, at: $1) }
        let later = try bench.submit(Bench.request("cont.x", .continued) { $0.requestKey = "k" }).get()
        #expect(later.isRepeat)
        #expect(bench.launches(of: first.id).count == 1)
    }

    @Test("rule 28: a dry run gives the decision, reasons, plan, chunks and time, and changes nothing")
    func dryRun() throws {
        var bench = Bench()
        bench.advance(by: .seconds(100))
        bench.conditions { $0.network = Conditions.Network.none }
        let request = Bench.request("a", .processing) {
            $0.requiresNetwork = true
            $0.expectedWork = .seconds(100)
        }
        let preview = bench.core.preview(request, program: Bench.program, at: bench.now)
        #expect(try preview.answer.get().reasons.map(\.code) == [.condition(.network)])
        #expect(preview.expectedChunks == 2_000)
        #expect(preview.secondsOfWork == 100...100)
        #expect(bench.core.jobs().isEmpty)
        let real = try bench.submit(request).get()
        #expect(try preview.answer.get() == real, "the same decision as the real one")
    }

    @Test("rule 29: cancel takes back what waits, and leaves what runs and what others have")
    func cancel() throws {
        var bench = Bench()
        let running = try bench.admit("a", .processing)
        let waiting = try bench.admit("b", .processing) { $0.earliestBegin = Bench.wall + .seconds(60) }
        let third = try bench.admit("c", .processing) { $0.earliestBegin = Bench.wall + .seconds(60) }
        bench.tell { $0.cancel(TaskIdentifier("org.example.a"), program: Bench.program, at: $1) }
        #expect(bench.state(running) == .running)
        bench.tell { $0.cancel(TaskIdentifier("org.example.b"), program: Bench.program, at: $1) }
        #expect(bench.outcomes(of: waiting) == [.cancelled])
        bench.tell { $0.cancelAll(program: "org.other", at: $1) }
        #expect(bench.state(third) == .waiting)
        bench.tell { $0.cancelAll(program: Bench.program, at: $1) }
        #expect(bench.outcomes(of: third) == [.cancelled])
        #expect(bench.state(running) == .running)
    }

    @Test(
        "rule 30, A10: the pending list holds what was submitted and has not ended; jobs tell waiting, running and paused"
    )
    func pendingList() throws {
        var bench = Bench()
        let running = try bench.admit("cont.x", .continued)
        let paused = try bench.admit("cont.y", .continued)
        bench.tell { $0.pause(paused, at: $1) }
        bench.tell { $0.paused(paused, at: $1) }
        let waiting = try bench.admit("b", .processing) { $0.earliestBegin = Bench.wall + .seconds(60) }
        let states = bench.core.jobs(program: Bench.program).map { [$0.id: $0.state] }
        #expect(states == [[running: .running], [paused: .paused], [waiting: .waiting]])
        bench.tell { $0.completed(running, success: true, at: $1) }
        let pending = bench.core.pendingRequests(program: Bench.program).map(\.identifier.rawValue)
        #expect(pending == ["org.example.cont.y", "org.example.b"])
    }

    @Test("rule 95: why lists every reason at once, with what was measured and what is needed")
    func why() throws {
        var bench = Bench()
        bench.advance(by: .seconds(100))
        bench.conditions {
            $0.power = .battery
            $0.userIdle = false
            $0.cpuPressure = 77
        }
        let id = try bench.admit("a", .processing) {
            $0.requiresExternalPower = true
            $0.earliestBegin = Bench.wall + .seconds(3_600)
        }
        #expect(
            Set(bench.reasons(id)) == [
                "earliestBeginDate", "condition.externalPower", "condition.idle", "condition.pressure",
            ])
        let pressure = try #require(bench.core.why(id).first { $0.code == .condition(.pressure) })
        #expect(pressure.measured?.contains("cpu 77 %") == true)
        #expect(pressure.threshold?.contains("cpu 40 %") == true)
        #expect(bench.core.why(id).allSatisfy { !$0.sentence.isEmpty && !$0.fix.isEmpty })
        #expect(bench.core.earliestStart(bench.core.why(id)) == nil, "nobody knows when the person goes away")
    }

    @Test("rule 95: the history gives the time for each reason, and the time without a reason is for want of room")
    func history() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings)
        bench.advance(by: .seconds(100))
        _ = try bench.admit("cont.holder", .continued) { $0.slowPolicy = .goOn }
        let id = try bench.admit("a", .processing) {
            $0.requiresNetwork = true
            $0.earliestBegin = Bench.wall + .seconds(200)
        }
        bench.advance(to: .seconds(220))
        bench.conditions { $0.network = Conditions.Network.none }
        bench.advance(to: .seconds(300))
        let times = bench.core.timePerReason(id)
        #expect(times.map(\.code) == [.earliestBeginDate, .condition(.network), .noRoom])
        #expect(times.map(\.time) == [.seconds(100), .seconds(80), .seconds(20)])
    }

    @Test("rule 99, A39: a simulated launch ignores conditions and room, and says that it is simulated")
    func simulatedLaunch() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 0
        var bench = Bench(settings: settings)
        bench.conditions { $0.power = .battery }
        let id = try bench.admit("a", .processing) { $0.requiresExternalPower = true }
        bench.tell { $0.simulateLaunch(id, at: $1) }
        #expect(bench.launches(of: id).first?.isSimulated == true)
        bench.conditions { $0.userIdle = false }
        #expect(bench.expirations(of: id).isEmpty)
        bench.tell { $0.stop(id, .simulated, at: $1) }
        #expect(bench.expirations(of: id) == [.simulated])
    }
}
