import SchedulingCore
import TaskModel
import Testing

/// Who goes first, who gives way, and what nobody waits for in vain.
@Suite struct PolicyTests {
    private static func oneSlot() -> SchedulerSettings {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        return settings
    }

    // MARK: Conditions

    @Test("rule 53: one condition starts work once a minute, though a request needs it both met and known")
    func oneGuardForEachCondition() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued) {
            $0.requiresNetwork = true
            $0.mustBeKnown = ConditionSet(.network)
        }
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.paused(id, at: $1) }
        bench.tell { $0.resume(id, at: $1) }
        bench.actions = []
        // The usual gate opens while the value cannot be read, the strict one only later.
        let readings: [(Int, Conditions.Network?)] = [
            (10, Conditions.Network.none), (20, nil), (61, Conditions.Network.none), (62, .routed),
            (121, nil), (122, .routed), (123, nil), (124, .routed),
        ]
        for (second, value) in readings {
            bench.advance(to: .seconds(second))
            bench.conditions { $0.network = value }
            bench.tell { $0.paused(id, at: $1) }
        }
        bench.advance(to: .seconds(181))
        let resumes = bench.actions.count { if case .resume(id, _) = $0 { true } else { false } }
        #expect(resumes <= 2, "within three minutes: \(resumes)")
        #expect(bench.state(id) == .running)
    }

    @Test("rule 53: work that needs a value known and work that does not have one start a minute by it together")
    func bothGatesShareTheirGuard() {
        var gates = ConditionGates(at: .zero)
        var openings: [Duration] = []
        func see(_ network: Conditions.Network?, _ second: Int) {
            let changes = gates.observe(Conditions(network: network), at: .seconds(second), wall: .seconds(second))
            if changes.contains(where: { $0.kind == .network && $0.change == .opened }) {
                openings.append(.seconds(second))
            }
        }
        see(Conditions.Network.none, 100)
        for second in 101..<400 {
            let values: [Conditions.Network?] = [Conditions.Network.none, nil, .routed]
            see(values[second % 3], second)
        }
        #expect(openings.count >= 4)
        for (earlier, later) in zip(openings, openings.dropFirst()) { #expect(later - earlier >= .seconds(60)) }
    }

    // MARK: Devices

    private func gpu(_ gigabytes: Int, requires: Bool) -> (inout TaskRequest) -> Void {
        { request in
            if requires { request.requiredResources = .gpu } else { request.preferredResources = .gpu }
            request.initiator = .script
            request.claim.deviceMemoryBytes = gigabytes << 30
        }
    }

    @Test("rule 36, rule 87: work that requires a GPU is not starved by a stream of work that only prefers one")
    func requirersGoBeforePreferrers() throws {
        var bench = Bench(devices: [Bench.gpu])
        let first = try bench.admit("p0", .continued, gpu(5, requires: false))
        #expect(bench.core.summary(first)?.device == "gpu0")
        // Two more fill the CPU's slots, and others wait before the one that has to have the GPU.
        var stream: [JobID] = []
        for number in 1...5 { stream.append(try bench.admit("p\(number)", .continued, gpu(5, requires: false))) }
        bench.advance(by: .seconds(1))
        let needy = try bench.admit("a", .continued, gpu(5, requires: true))
        #expect(bench.state(needy) == .waiting)
        bench.tell { $0.completed(first, success: true, at: $1) }
        #expect(bench.core.summary(needy)?.device == "gpu0")
        // While it waits for a place that is too small for it, others do not take the rest.
        let small = Bench.request("p6", .continued, gpu(1, requires: true))
        #expect(bench.rejection(small) == nil)
        let large = try bench.admit("b", .continued, gpu(4, requires: true))
        #expect(bench.reasons(large) == ["noRoom"])
        bench.tell { $0.completed(stream[0], success: true, at: $1) }
        #expect(bench.core.summary(stream[2])?.state == .running)
        #expect(bench.core.summary(stream[2])?.device == nil, "it takes the CPU instead")
    }

    @Test("rule 23: a request for an immediate start is refused when the device it prefers is for another")
    func immediateStartsLeaveTheDevice() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings, devices: [Bench.gpu])
        _ = try bench.admit("p0", .continued) { $0.initiator = .terminal }
        _ = try bench.admit("p1", .continued, gpu(5, requires: true))
        let needy = try bench.admit("p2", .continued, gpu(4, requires: true))
        #expect(bench.state(needy) == .waiting)
        var request = Bench.request("b", .continued, gpu(1, requires: false))
        request.strategy = .fail
        #expect(bench.rejection(request)?.failures.map(\.detail) == ["behindOthers"])
    }

    // MARK: Memory

    @Test("rule 20: a claim above what the machine can ever give is refused with what it needs and what there is")
    func memoryTooSmall() {
        var bench = Bench()
        bench.conditions { $0.totalMemoryBytes = 8 << 30 }
        let rejection = bench.rejection(Bench.request("a", .continued) { $0.claim.memoryBytes = 8 << 30 })
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.first.detail == "memoryTooSmall")
        #expect(rejection?.sentence.contains("8.0 GiB") == true)
        #expect(rejection?.sentence.contains("7.5 GiB") == true)
        #expect(bench.rejection(Bench.request("a", .continued) { $0.claim.memoryBytes = 15 << 29 }) == nil)
    }

    @Test("rule 65: nothing is preempted for memory that would not be enough, here or on a device")
    func nothingGivesWayInVain() throws {
        var bench = Bench(devices: [Bench.gpu])
        let background = try bench.admit("p0", .continued) {
            $0.claim.memoryBytes = 1 << 30
            $0.initiator = .script
        }
        let foreground = try bench.admit("a", .continued) { $0.claim.memoryBytes = 20 << 30 }
        #expect(bench.reasons(foreground) == ["memoryClaim"])
        #expect(bench.state(background) == .running)
        var onDevice = Bench(devices: [Bench.gpu])
        let small = try onDevice.admit("p0", .continued, gpu(2, requires: true))
        _ = try onDevice.admit("a", .continued) {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 5 << 30
        }
        let second = try onDevice.admit("b", .continued) {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 5 << 30
        }
        #expect(onDevice.state(second) == .waiting)
        #expect(onDevice.state(small) == .running)
    }

    @Test("rule 65: what gives too little stays while what gives enough goes, though its progress is less recent")
    func onlyWhatIsNeededGivesWay() throws {
        var bench = Bench(devices: [Bench.gpu])
        bench.conditions { $0.availableMemoryBytes = 3 << 30 }
        let small = try bench.admit("cont.small", .continued) {
            $0.initiator = .script
            $0.claim.memoryBytes = 1 << 20
        }
        let large = try bench.admit("cont.large", .continued) {
            $0.initiator = .script
            $0.claim.memoryBytes = 2 << 30
        }
        bench.advance(by: .seconds(5))
        bench.tell { $0.progressed(large, to: 0.5, at: $1) }
        _ = try bench.admit("cont.front", .continued) { $0.claim.memoryBytes = 2 << 30 }
        #expect(bench.actions.contains(.pause(large, releasingMemory: true)))
        #expect(bench.state(small) == .running)
        var onDevice = Bench(devices: [Bench.gpu])
        let empty = try onDevice.admit("p0", .continued) {
            $0.initiator = .script
            $0.requiredResources = .gpu
        }
        let full = try onDevice.admit("cont.full", .continued) {
            $0.initiator = .script
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 6 << 30
        }
        onDevice.advance(by: .seconds(5))
        onDevice.tell { $0.progressed(full, to: 0.5, at: $1) }
        _ = try onDevice.admit("cont.front", .continued) {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 6 << 30
        }
        #expect(onDevice.actions.contains(.pause(full, releasingMemory: true)))
        #expect(onDevice.state(empty) == .running)
    }

    // MARK: A new host

    @Test("rule 85: what is adopted before its program announces itself waits for it, tells so, and then goes on")
    func adoptedBeforeItsProgram() {
        var core = Scheduler(at: .seconds(1_000), wall: Bench.wall)
        _ = core.conditionsChanged(Bench.calm, at: .seconds(1_000))
        let request = Bench.request("cont.x", .continued) { $0.requestKey = "key" }
        _ = core.adopt(
            request, id: JobID(7), program: Bench.program, submitted: .seconds(900), attempts: 2, at: .seconds(1_000))
        _ = core.setBackgroundStatus(.denied, program: Bench.program, at: .seconds(1_000))
        #expect(core.why(JobID(7)).map(\.code) == [.backgroundSwitchedOff])
        _ = core.setBackgroundStatus(.available, program: Bench.program, at: .seconds(1_000))
        #expect(core.why(JobID(7)).map(\.code) == [.hostAbsent])
        #expect(core.hostReturned(program: Bench.program, at: .seconds(1_000)).isEmpty)
        let refused = core.submit(Bench.request("cont.y", .continued), program: Bench.program, at: .seconds(1_001))
        guard case .failure(let rejection) = refused.answer else {
            Issue.record("a program that is not known may submit")
            return
        }
        #expect(rejection.first.detail == "unknownProgram")
        let manifest = ProgramManifest(
            program: Bench.program, modes: [.continued], permitted: [IdentifierPattern("\(Bench.program).cont.*")])
        let actions = core.addProgram(manifest, usesHandlers: false, at: .seconds(1_010))
        #expect(actions.count == 1)
        guard case .launch(JobID(7), let launch) = actions.first else {
            Issue.record("it was not launched: \(actions)")
            return
        }
        #expect(launch.attempt == 3)
        #expect(core.pendingRequests(program: Bench.program) == [request])
    }

    @Test("rule 37: runs that ended with their host use up no attempts, and those lost with the device still do")
    func restartsUseUpNoAttempts() throws {
        var settings = SchedulerSettings()
        settings.devices.failuresBeforeQuarantine = 100
        var bench = Bench(settings: settings, devices: [Bench.gpu])
        let request = Bench.request("a", .continued) { $0.requiredResources = .gpu }
        let id = JobID(40)
        bench.tell {
            $0.adopt(request, id: id, program: Bench.program, submitted: .zero, attempts: 9, losses: 1, at: $1)
        }
        #expect(bench.launches(of: id).map(\.attempt) == [10])
        for wait in [20, 40] {
            bench.tell { $0.deviceFailed(id, at: $1) }
            #expect(bench.reasons(id) == ["backoff"])
            bench.advance(by: .seconds(wait))
            #expect(bench.state(id) == .running)
        }
        bench.tell { $0.deviceFailed(id, at: $1) }
        #expect(bench.outcomes(of: id) == [.failed(code: "deviceLost")])
    }

    // MARK: Progress

    @Test("rule 63, rule 67: the first fraction of a resumed task is where its rates begin, not progress of this run")
    func resumedProgressIsTheBaseline() {
        var watch = ProgressWatch(at: .zero)
        #expect(watch.progressed(to: 0.6, at: .seconds(1)).isEmpty)
        #expect(watch.secondsLeft() == nil)
        var notes: [ProgressWatch.Note] = []
        for second in 2...300 { notes += watch.progressed(to: 0.6 + Double(second) * 0.001, at: .seconds(second)) }
        #expect(notes.isEmpty)
        let left = watch.secondsLeft()
        #expect(left.map { $0.lowerBound > 90 && $0.upperBound < 110 } == true, "\(String(describing: left))")
    }

    @Test("rule 61, rule 63: a task that may do more again is not stalled for having been silent while it was paced")
    func pacedSilenceIsNoStall() throws {
        var watch = ProgressWatch(at: .zero)
        watch.setEffort(0.25, at: .zero)
        #expect(watch.stallTimes(isForeground: false)?.limit == .seconds(240))
        watch.setEffort(1, at: .seconds(120))
        #expect(watch.stallTimes(isForeground: false)?.limit == .seconds(150), "half of its 60 s is used up")
        watch.setEffort(0.25, at: .seconds(130))
        #expect(watch.stallTimes(isForeground: false)?.limit == .seconds(210))
    }

    @Test("rule 63: work that has all done and has not said so is not slow")
    func finishedWorkIsNotSlow() {
        var watch = ProgressWatch(at: .zero)
        var notes: [ProgressWatch.Note] = []
        for second in 1...400 { notes += watch.progressed(to: min(Double(second) * 0.01, 1), at: .seconds(second)) }
        #expect(notes.isEmpty)
    }

    // MARK: Reasons

    @Test("rule 95, rule 58: the times for the reasons leave nothing of the wait out and none is longer than it")
    func timesOfOneWait() throws {
        var bench = Bench(settings: Self.oneSlot(), devices: [Bench.gpu])
        bench.advance(to: .seconds(100))
        let id = try bench.admit("a", .continued) {
            $0.requiredResources = .gpu
            $0.requiresNetwork = true
            $0.mustBeKnown = ConditionSet(.network)
        }
        bench.advance(by: .seconds(100))
        bench.tell { $0.deviceFailed(id, at: $1) }
        bench.advance(by: .seconds(4))
        bench.tell { $0.setBackgroundStatus(.denied, program: nil, at: $1) }
        bench.advance(by: .seconds(50))
        bench.conditions { $0.network = Conditions.Network.none }
        bench.tell { $0.setBackgroundStatus(.available, program: nil, at: $1) }
        bench.advance(by: .seconds(30))
        let times = bench.core.timePerReason(id)
        #expect(times.map(\.code) == [.backgroundSwitchedOff, .condition(.network), .backoff])
        #expect(times.map(\.time) == [.seconds(50), .seconds(30), .seconds(4)])
    }

    // MARK: Entry points

    @Test("rule 1, rule 11: an entry point stands for a handler only where the host starts it")
    func entryPoints() throws {
        let identifier = "\(Bench.program).a"
        let manifest = ProgramManifest(
            program: Bench.program, modes: [.processing], permitted: [IdentifierPattern(identifier)],
            entryPoints: [IdentifierPattern(identifier): ["/usr/bin/example"]])
        func host(startsEntryPoints: Bool) -> (warnings: [Diagnostic], answer: Result<Scheduler.Admission, Rejection>) {
            var core = Scheduler(at: .zero, wall: Bench.wall)
            _ = core.addProgram(manifest, usesHandlers: true, startsEntryPoints: startsEntryPoints, at: .zero)
            let warnings = core.activate(program: Bench.program)
            let submission = core.submit(Bench.request("a", .processing), program: Bench.program, at: .zero)
            return (warnings, submission.answer)
        }
        let service = host(startsEntryPoints: true)
        #expect(service.warnings.isEmpty)
        #expect(throws: Never.self) { try service.answer.get() }
        let inProcess = host(startsEntryPoints: false)
        #expect(inProcess.warnings.map(\.code) == ["handlerMissing"])
        guard case .failure(let rejection) = inProcess.answer else {
            Issue.record("nothing here starts the entry point")
            return
        }
        #expect(rejection.first.code == .notPermitted)
        #expect(rejection.failures.map(\.detail) == ["handlerMissing"])
        #expect(rejection.sentence.contains("entry point"))
    }

    // MARK: Urgent work

    /// Background requests that have waited for ten minutes for the one slot, which a foreground task holds.
    private func backlog(_ count: Int) throws -> (bench: Bench, holder: JobID, waiting: [JobID]) {
        var bench = Bench(settings: Self.oneSlot())
        let holder = try bench.admit("a", .continued)
        let waiting = try (0..<count).map { number in
            try bench.admit("p\(number)", .continued) { $0.initiator = .script }
        }
        for _ in 0..<7 {
            bench.advance(by: .seconds(100))
            bench.tell { $0.progressed(holder, to: nil, at: $1) }
        }
        return (bench, holder, waiting)
    }

    @Test("rule 87: foreground work waits for one urgent turn at most, however many have piled up")
    func foregroundGivesWayOnce() throws {
        var (bench, holder, urgent) = try backlog(5)
        let foreground = try bench.admit("b", .continued)
        let asked = bench.now
        bench.tell { $0.completed(holder, success: true, at: $1) }
        #expect(bench.state(urgent[0]) == .running)
        #expect(bench.state(foreground) == .waiting)
        // The urgent one is quick, and the next is urgent as well.
        bench.advance(by: .seconds(1))
        bench.tell { $0.completed(urgent[0], success: true, at: $1) }
        #expect(bench.state(foreground) == .running)
        #expect(bench.now - asked <= .seconds(30))
        bench.tell { $0.completed(foreground, success: true, at: $1) }
        #expect(bench.state(urgent[1]) == .running)
    }

    @Test("rule 87, rule 65: urgent work keeps its turn for 30 s, then the foreground has the room made for it")
    func protectedForThirtySeconds() throws {
        var (bench, holder, urgent) = try backlog(3)
        bench.tell { $0.completed(holder, success: true, at: $1) }
        #expect(bench.state(urgent[0]) == .running)
        bench.advance(by: .seconds(5))
        let foreground = try bench.admit("b", .continued)
        bench.advance(by: .seconds(24))
        #expect(bench.state(urgent[0]) == .running)
        bench.advance(by: .seconds(1))
        #expect(bench.state(urgent[0]) == .pausing)
        bench.tell { $0.paused(urgent[0], at: $1) }
        #expect(bench.state(foreground) == .running, "and not the next that is urgent")
    }

    @Test("rule 23: an immediate start never waits for urgent work: it is answered at once, and nothing stays queued")
    func immediateStartsDoNotWaitForUrgentWork() throws {
        var (bench, holder, urgent) = try backlog(2)
        let request = Bench.request("b", .continued) { $0.strategy = .fail }
        // The slot is held by the foreground; then by urgent work in its protected time.
        #expect(bench.rejection(request)?.code == .immediateRunIneligible)
        bench.tell { $0.completed(holder, success: true, at: $1) }
        let rejection = bench.rejection(request)
        #expect(rejection?.code == .immediateRunIneligible)
        #expect(rejection?.sentence.contains("org.example.p0") == true, "its holder is named")
        #expect(bench.core.waitingCount == 1)
        bench.tell { $0.completed(urgent[0], success: true, at: $1) }
        bench.tell { $0.completed(urgent[1], success: true, at: $1) }
        let admission = try bench.submit(request).get()
        #expect(admission.isRunning)
    }
}
