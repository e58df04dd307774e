import SchedulingCore
import TaskModel
import Testing

/// What the simulation found, each in its shortest form.
@Suite struct RegressionTests {
    private static func oneSlot() -> SchedulerSettings {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        return settings
    }

    @Test("rule 44: foreground work runs in full again when low-power mode has been over for its minute")
    func termsFollowAGateThatOpensByTime() throws {
        var bench = Bench()
        let id = try bench.admit("a", .continued)
        bench.conditions { $0.lowPowerMode = true }
        #expect(bench.core.summary(id)?.terms?.dutyCycle == 0.5)
        bench.conditions { $0.lowPowerMode = false }
        bench.advance(by: .seconds(61))
        #expect(bench.core.summary(id)?.terms?.dutyCycle == 1)
    }

    @Test("rule 99: a launch is not simulated for a program that is not there")
    func noSimulatedLaunchWithoutItsProgram() throws {
        var bench = Bench()
        bench.conditions { $0.userIdle = false }
        let id = try bench.admit("p1", .processing)
        bench.tell { $0.hostRemoved(program: Bench.program, at: $1) }
        bench.tell { $0.simulateLaunch(id, at: $1) }
        #expect(bench.launches(of: id).isEmpty)
        #expect(bench.reasons(id).contains("hostAbsent"))
    }

    @Test("rule 52: a paused task goes on only with the conditions of a start, and tells which are missing")
    func aPausedTaskNeedsTheConditionsOfAStart() throws {
        var bench = Bench()
        let id = try bench.admit("a", .continued)
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.paused(id, at: $1) }
        bench.conditions { $0.availableMemoryBytes = 100 << 20 }
        bench.tell { $0.resume(id, at: $1) }
        #expect(bench.state(id) == .paused)
        #expect(bench.reasons(id) == ["condition.memory"])
        bench.conditions { $0.availableMemoryBytes = 8 << 30 }
        bench.advance(by: .seconds(61))
        #expect(bench.state(id) == .running)
    }

    @Test("rule 94: a task that was paused while it waited does not start before it is resumed")
    func aWaitingTaskIsPaused() throws {
        var bench = Bench()
        bench.conditions { $0.userIdle = false }
        let id = try bench.admit("p1", .processing)
        bench.tell { $0.pause(id, at: $1) }
        bench.conditions { $0.userIdle = true }
        bench.advance(by: .seconds(3_600))
        #expect(bench.launches(of: id).isEmpty && bench.reasons(id) == ["pausedByPerson"])
        bench.tell { $0.resume(id, at: $1) }
        #expect(bench.state(id) == .running)
    }

    @Test("rule 94: a paused task whose process is lost stays paused")
    func aPauseOutlastsACrash() throws {
        var bench = Bench()
        let id = try bench.admit("a", .continued)
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.paused(id, at: $1) }
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        bench.advance(by: .seconds(3_600))
        #expect(bench.launches(of: id).count == 1 && bench.reasons(id) == ["pausedByPerson"])
        bench.tell { $0.resume(id, at: $1) }
        #expect(bench.state(id) == .running)
    }

    @Test("rule 37: a backoff outlasts a switch that goes off and on")
    func aBackoffOutlastsASwitch() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("a", .continued) { $0.requiredResources = .gpu }
        bench.tell { $0.deviceFailed(id, at: $1) }
        bench.tell { $0.setBackgroundStatus(.denied, program: nil, at: $1) }
        bench.tell { $0.setBackgroundStatus(.available, program: nil, at: $1) }
        #expect(bench.reasons(id) == ["backoff"])
        bench.advance(by: .seconds(9))
        #expect(bench.launches(of: id).count == 1)
        bench.advance(by: .seconds(2))
        #expect(bench.launches(of: id).count == 2)
    }

    @Test("rule 85: of two adopted runs of one identifier the later request stands")
    func twoAdoptedRunsOfOneIdentifier() {
        var bench = Bench()
        bench.conditions { $0.userIdle = false }
        let request = Bench.request("p1", .processing)
        for number in [UInt64(3), 8, 5] {
            bench.tell {
                $0.adopt(request, id: JobID(number), program: Bench.program, submitted: .zero, attempts: 1, at: $1)
            }
        }
        #expect(bench.outcomes(of: JobID(3)) == [.stopped(.replaced)])
        #expect(bench.outcomes(of: JobID(5)) == [.stopped(.replaced)])
        #expect(bench.state(JobID(8)) == .waiting)
        bench.conditions { $0.userIdle = true }
        bench.advance(by: .seconds(61))
        #expect(bench.core.runningCount == 1)
    }

    @Test("rule 61: a task that was asked to pause and hangs is stalled")
    func aTaskThatHangsWhilePausingIsStalled() throws {
        var bench = Bench()
        let id = try bench.admit("a", .continued)
        bench.tell { $0.pause(id, at: $1) }
        bench.advance(by: .seconds(301))
        #expect(bench.expirations(of: id) == [.stalled])
    }

    @Test("rule 16: the next run of a request goes on when the one before it lost its device")
    func theNextRunGoesOnWithoutTheOneBeforeIt() throws {
        var bench = Bench(devices: [Bench.gpu])
        let first = try bench.admit("p1", .processing) { $0.requiredResources = .gpu }
        let next = try bench.admit("p1", .processing) { $0.requiredResources = .gpu }
        bench.tell { $0.deviceFailed(first, at: $1) }
        #expect(bench.outcomes(of: first) == [.stopped(.replaced)])
        #expect(bench.state(next) == .running)
    }

    @Test("rule 94: a paused task that gave back its device gets one again before it goes on")
    func aTaskWithoutItsDeviceDoesNotGoOn() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("a", .continued) {
            $0.requiredResources = .gpu
            $0.initiator = .script
        }
        bench.conditions { $0.availableMemoryBytes = 100 << 20 }
        bench.tell { $0.paused(id, at: $1) }
        #expect(bench.core.summary(id)?.device == nil)
        bench.conditions { $0.availableMemoryBytes = 8 << 30 }
        bench.advance(by: .seconds(61))
        #expect(bench.state(id) == .running)
        #expect(bench.core.summary(id)?.device == "gpu0")
    }

    @Test("rule 39: a device that comes back is still held by what runs on it")
    func aDeviceThatComesBackIsStillHeld() throws {
        var bench = Bench(devices: [Bench.gpu])
        let large: (inout TaskRequest) -> Void = {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 6 << 30
        }
        _ = try bench.admit("a", .continued, large)
        bench.tell { $0.capabilitiesChanged(devices: [], absences: [], at: $1) }
        bench.tell { $0.capabilitiesChanged(devices: [Bench.gpu], absences: [], at: $1) }
        let second = try bench.admit("b", .continued, large)
        #expect(bench.reasons(second) == ["noRoom"])
    }

    @Test("rule 87: what has waited long for a device that is paused keeps no other device from others")
    func waitingForAPausedDeviceReservesNothing() throws {
        let other = ComputeDevice(id: "gpu1", name: "GPU 1", memoryBytes: 8 << 30)
        var bench = Bench(devices: [Bench.gpu, other])
        _ = try bench.admit("p0", .processing)
        bench.tell { $0.setDevicePaused(true, device: "gpu1", at: $1) }
        let waiting = try bench.admit("a", .continued) {
            $0.requiredResources = .gpu
            $0.devices.excluded = ["gpu0"]
        }
        bench.advance(by: .seconds(601))
        let next = try bench.admit("b", .continued) { $0.requiredResources = .gpu }
        #expect(bench.state(waiting) == .waiting)
        #expect(bench.core.summary(next)?.device == "gpu0")
        bench.tell { $0.setDevicePaused(false, device: "gpu1", at: $1) }
        #expect(bench.core.summary(waiting)?.device == "gpu1")
    }

    @Test("rule 47: memory claimed since the latest reading is free again when its task has ended")
    func memoryIsFreeAgainWithoutAReading() throws {
        var bench = Bench()
        let large: (inout TaskRequest) -> Void = { $0.claim.memoryBytes = 5 << 30 }
        let first = try bench.admit("a", .continued, large)
        let second = try bench.admit("b", .continued, large)
        #expect(bench.reasons(second) == ["memoryClaim"])
        bench.tell { $0.completed(first, success: true, at: $1) }
        #expect(bench.state(second) == .running)
    }

    @Test("rule 65: foreground work that nothing can help does not keep the next from getting room")
    func roomIsMadeForTheNextForegroundWork() throws {
        var bench = Bench(settings: Self.oneSlot(), devices: [Bench.gpu])
        let background = try bench.admit("c", .continued) { $0.initiator = .script }
        bench.tell { $0.setDevicePaused(true, device: "gpu0", at: $1) }
        _ = try bench.admit("a", .continued) { $0.requiredResources = .gpu }
        _ = try bench.admit("b", .continued)
        #expect(bench.state(background) == .pausing)
    }

    @Test("rule 23: a request that must start at once is refused when its program is not there or others go first")
    func requestsThatWouldWaitAreRefused() throws {
        var bench = Bench()
        _ = try bench.admit("a", .continued) { $0.claim.memoryBytes = 4 << 30 }
        _ = try bench.admit("b", .continued) { $0.claim.memoryBytes = 4 << 30 }
        // There is room for it, but one with the same needs, larger than what is left, is before it.
        let small = Bench.request("c", .continued) {
            $0.claim.memoryBytes = (2 << 30) + (1 << 28)
            $0.strategy = .fail
        }
        #expect(bench.rejection(small)?.code == .immediateRunIneligible)
        bench.tell { $0.hostRemoved(program: Bench.program, at: $1) }
        let absent = Bench.request("c", .continued) { $0.strategy = .fail }
        #expect(bench.rejection(absent)?.first.detail == "hostAbsent")
        #expect(bench.core.waitingCount == 0)
    }

    @Test("rule 63: the time to answer for slow work does not run out while it is paused")
    func slowWorkIsNotDeclinedWhilePaused() throws {
        var bench = Bench()
        let id = try bench.admit("a", .continued) { $0.slowPolicy = .stop }
        for second in 1...300 where bench.notes(of: id).isEmpty {
            bench.advance(to: .seconds(second))
            let fraction = second < 120 ? Double(second) / 200 : 0.6
            bench.tell { $0.progressed(id, to: fraction, at: $1) }
        }
        try #require(bench.notes(of: id).count == 1)
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.paused(id, at: $1) }
        bench.advance(by: .seconds(120))
        bench.tell { $0.resume(id, at: $1) }
        bench.advance(by: .seconds(30))
        #expect(bench.expirations(of: id).isEmpty)
        bench.advance(by: .seconds(31))
        #expect(bench.expirations(of: id) == [.slowDeclined])
    }

    @Test("rule 89: a task whose pause is taken back runs by the terms of that moment")
    func aPauseTakenBackGivesNewTerms() throws {
        var bench = Bench()
        let id = try bench.admit("a", .continued) { $0.initiator = .script }
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.promote(id, at: $1) }
        bench.tell { $0.resume(id, at: $1) }
        #expect(bench.core.summary(id)?.terms?.priority == .foreground)
    }

    @Test("rule 54: a protection that ended during a pause is no deadline any more")
    func aProtectionThatIsOverIsNoDeadline() throws {
        var bench = Bench(settings: Self.oneSlot())
        let background = try bench.admit("a", .continued) { $0.initiator = .script }
        let foreground = try bench.admit("b", .continued)
        bench.tell { $0.paused(background, at: $1) }
        bench.tell { $0.completed(foreground, success: true, at: $1) }
        #expect(bench.state(background) == .running)
        bench.tell { $0.pause(background, at: $1) }
        bench.tell { $0.paused(background, at: $1) }
        bench.advance(by: .seconds(40))
        bench.tell { $0.resume(background, at: $1) }
        let deadline = bench.core.nextDeadline()
        #expect(deadline.map { $0 > bench.now } == true)
    }

    @Test("rule 40: a task that was moved to the CPU does not wait for the GPU to be free")
    func theCPUIsNotHeldByTheGPU() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("a", .continued) {
            $0.preferredResources = .gpu
            $0.initiator = .script
        }
        bench.conditions { $0.foreignGPULoad = 90 }
        bench.tell { $0.paused(id, at: $1) }
        bench.tell { $0.deviceFailed(id, at: $1) }
        #expect(bench.state(id) == .running)
    }

    @Test("rule 57: a retried refresh keeps its distance from the one that waits beside it")
    func twoWaitingRefreshesKeepTheirDistance() throws {
        var bench = Bench()
        bench.conditions { $0.thermal = .critical }
        let first = try bench.admit("refresh", .refresh)
        bench.tell { $0.stop(first, .userStop, at: $1) }
        _ = try bench.admit("a", .refresh)
        bench.tell { $0.retry(first, at: $1) }
        bench.conditions { $0.thermal = .nominal }
        bench.advance(by: .seconds(120))
        #expect(bench.core.runningCount + bench.core.jobs().count { $0.state == .ended } <= 1)
        #expect(bench.actions.count { if case .launch = $0 { true } else { false } } == 1)
    }

    @Test("rule 65, rule 87: nothing starts in the background only to give way to foreground work at once")
    func nothingStartsToGiveWayAtOnce() throws {
        var bench = Bench(settings: Self.oneSlot())
        let first = try bench.admit("a", .continued)
        let old = try bench.admit("p1", .processing)
        for _ in 0..<5 {
            bench.advance(by: .seconds(110))
            bench.tell { $0.progressed(first, to: nil, at: $1) }
        }
        bench.advance(by: .seconds(40))
        let foreground = try bench.admit("b", .continued)
        bench.tell { $0.completed(first, success: true, at: $1) }
        #expect(bench.state(foreground) == .running)
        #expect(bench.launches(of: old).isEmpty)
    }

    @Test("rule 87: background work that has waited for ten minutes has its turn, and keeps it for a while")
    func longWaitingWorkKeepsItsTurn() throws {
        var bench = Bench(settings: Self.oneSlot())
        let first = try bench.admit("a", .continued)
        let old = try bench.admit("c", .continued) { $0.initiator = .script }
        for _ in 0..<7 {
            bench.advance(by: .seconds(100))
            bench.tell { $0.progressed(first, to: nil, at: $1) }
        }
        let foreground = try bench.admit("b", .continued)
        bench.tell { $0.completed(first, success: true, at: $1) }
        #expect(bench.state(old) == .running)
        bench.advance(by: .seconds(29))
        #expect(bench.state(old) == .running)
        bench.advance(by: .seconds(2))
        #expect(bench.state(old) == .pausing)
        bench.tell { $0.paused(old, at: $1) }
        #expect(bench.state(foreground) == .running)
    }

    @Test("rule 65: background work leaves the memory that foreground work needs")
    func memoryIsLeftForForegroundWork() throws {
        var bench = Bench()
        _ = try bench.admit("a", .continued) { $0.claim.memoryBytes = 4 << 30 }
        let foreground = try bench.admit("b", .continued) { $0.claim.memoryBytes = 5 << 30 }
        let background = try bench.admit("p1", .processing) { $0.claim.memoryBytes = 1 << 30 }
        #expect(bench.state(foreground) == .waiting)
        #expect(bench.launches(of: background).isEmpty)
    }

    @Test("rule 91: a demotion that was held back outlasts the loss of a device")
    func aDemotionOutlastsTheLossOfADevice() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("a", .continued) {
            $0.requiredResources = .gpu
            $0.initiator = .script
        }
        bench.tell { $0.promote(id, at: $1) }
        bench.tell { $0.demote(id, at: $1) }
        #expect(bench.core.summary(id)?.isForeground == true)
        bench.tell { $0.deviceFailed(id, at: $1) }
        #expect(bench.core.summary(id)?.isForeground == false)
    }

    @Test("rule 39, rule 65: work in the background gives its device memory back to foreground work that needs it")
    func deviceMemoryIsGivenBackToForegroundWork() throws {
        var bench = Bench(devices: [Bench.gpu])
        let large: (inout TaskRequest) -> Void = {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 6 << 30
        }
        let background = try bench.admit("a", .continued) {
            large(&$0)
            $0.initiator = .script
        }
        bench.tell { $0.pause(background, at: $1) }
        bench.tell { $0.paused(background, at: $1) }
        let foreground = try bench.admit("b", .continued, large)
        #expect(bench.reasons(foreground) == ["noRoom"])
        // Paused, it keeps its memory; going on, it is asked for it after a while.
        bench.tell { $0.resume(background, at: $1) }
        #expect(bench.state(background) == .running)
        bench.advance(by: .seconds(31))
        #expect(bench.actions.contains(.pause(background, releasingMemory: true)))
        bench.tell { $0.paused(background, at: $1) }
        #expect(bench.state(foreground) == .running)
        #expect(bench.core.summary(foreground)?.device == "gpu0")
    }

    @Test(
        "rule 65, rule 87: what has waited long, but not for room, is preempted as soon as foreground work needs its device"
    )
    func aWaitForConditionsDoesNotProtect() throws {
        var bench = Bench(devices: [Bench.gpu])
        bench.conditions { $0.network = Conditions.Network.none }
        let background = try bench.admit("a", .processing) {
            $0.requiresNetwork = true
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 5 << 30
        }
        bench.advance(by: .seconds(1_200))
        bench.conditions { $0.network = .unmetered }
        bench.advance(by: .seconds(61))
        #expect(bench.state(background) == .running)
        let foreground = try bench.admit("cont.x", .continued) {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 5 << 30
        }
        #expect(bench.expirations(of: background) == [.preempted])
        bench.tell { $0.completed(background, success: false, at: $1) }
        #expect(bench.state(foreground) == .running)
    }

    @Test("rule 87: the memory kept for a paused task is for others as soon as a person pauses it")
    func aPersonsPauseEndsAReservation() throws {
        var bench = Bench()
        bench.conditions { $0.availableMemoryBytes = 3 << 30 }
        let kept = try bench.admit("cont.x", .continued) {
            $0.initiator = .script
            $0.claim.memoryBytes = 2 << 30
        }
        let foreground = try bench.admit("a", .continued) { $0.claim.memoryBytes = 2 << 30 }
        bench.tell { $0.paused(kept, at: $1) }
        #expect(bench.state(foreground) == .running)
        for step in 1...7 {
            bench.advance(by: .seconds(100))
            bench.tell { $0.progressed(foreground, to: Double(step) / 10, at: $1) }
        }
        bench.conditions { $0.availableMemoryBytes = 3 << 29 }
        let other = try bench.admit("p0", .processing) { $0.claim.memoryBytes = 1 << 29 }
        #expect(bench.reasons(other) == ["behindOthers"])
        bench.tell { $0.pause(kept, at: $1) }
        #expect(bench.state(other) == .running)
    }

    @Test("rule 87: what has waited long for memory keeps nothing from work that takes none")
    func aReservationKeepsOnlyWhatIsLacking() throws {
        var bench = Bench(devices: [Bench.gpu, ComputeDevice(id: "gpu1", name: "GPU 1", memoryBytes: 2 << 30)])
        bench.conditions { $0.availableMemoryBytes = 3 << 30 }
        _ = try bench.admit("p0", .processing) {
            $0.requiredResources = .gpu
            $0.claim = .init(memoryBytes: 1 << 30, deviceMemoryBytes: 6 << 30)
        }
        let large = try bench.admit("p1", .processing) { $0.claim.memoryBytes = 2 << 30 }
        let onDevice = try bench.admit("p2", .processing) {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 7 << 30
        }
        bench.advance(by: .seconds(601))
        #expect(bench.reasons(large) == ["memoryClaim"])
        #expect(bench.reasons(onDevice) == ["noRoom"])
        let small = try bench.admit("p3", .processing) { $0.claim.memoryBytes = 1 << 20 }
        #expect(bench.reasons(small) == ["behindOthers"])
        let without = try bench.admit("p4", .processing)
        #expect(bench.state(without) == .running)
        let elsewhere = try bench.admit("p5", .processing) {
            $0.requiredResources = .gpu
            $0.claim.deviceMemoryBytes = 1 << 30
            $0.devices.ordered = ["gpu1"]
        }
        #expect(bench.core.summary(elsewhere)?.device == "gpu1")
    }

    @Test("rule 47: a reading that shows enough memory ends the shedding in the moment of the next step")
    func aNewReadingComesBeforeShedding() throws {
        var bench = Bench()
        let ids = try ["cont.x", "cont.y"].map { name in
            try bench.admit(name, .continued) { $0.initiator = .script }
        }
        bench.advance(by: .seconds(61))
        bench.conditions { $0.availableMemoryBytes = 100 << 20 }
        #expect(ids.map { bench.state($0) } == [.pausing, .running])
        bench.now += .seconds(1)
        bench.conditions { $0.availableMemoryBytes = 8 << 30 }
        #expect(!bench.actions.contains(.pause(ids[1], releasingMemory: true)))
        #expect(bench.state(ids[1]) == .running)
    }
}
