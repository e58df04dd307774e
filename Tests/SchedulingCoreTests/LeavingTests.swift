import SchedulingCore
import TaskModel
import Testing

@Suite struct LeavingTests {
    @Test("rule 78: continued work that a sleep stopped waits in its old place, and goes on when the machine is back")
    func goesOn() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings)
        let first = try bench.admit("cont.first", .continued)
        bench.advance(by: .seconds(1))
        let second = try bench.admit("cont.second", .continued)
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        #expect(bench.expirations(of: first) == [.sleep])
        bench.tell { $0.completed(first, success: false, at: $1) }
        #expect(bench.state(first) == .waiting && bench.state(second) == .waiting)
        #expect(bench.outcomes(of: first).isEmpty)
        #expect(bench.reasons(first) == ["machineLeaves"])
        bench.advance(by: .seconds(3_600))
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.launches(of: first).map(\.attempt) == [1, 2])
        #expect(bench.state(second) == .waiting)
    }

    @Test("rule 78: work that was finished when it was told of the sleep is done")
    func finished() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.progressed(id, to: 1, at: $1) }
        bench.tell { $0.completed(id, success: true, at: $1) }
        #expect(bench.outcomes(of: id) == [.completed(failures: 0)])
    }

    @Test("rule 78: processing that a sleep stopped ends with that reason, and a new request waits for the return")
    func processing() throws {
        var bench = Bench()
        let id = try bench.admit("a", .processing)
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.completed(id, success: false, at: $1) }
        #expect(bench.outcomes(of: id) == [.stopped(.sleep)])
        let next = try bench.admit("a", .processing)
        #expect(bench.reasons(next) == ["machineLeaves"])
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.state(next) == .running)
    }

    @Test("rule 78, rule 23: a machine that leaves starts nothing at once, and says so")
    func immediacy() throws {
        var bench = Bench()
        bench.tell { $0.machineLeaves(.shutdown, at: $1) }
        let rejection = bench.rejection(Bench.request("cont.x", .continued) { $0.strategy = .fail })
        #expect(rejection?.first.code == .immediateRunIneligible && rejection?.first.detail == "machineLeaves")
        #expect(rejection?.first.sentence == "The machine is about to shut down.")
    }

    @Test("rule 78: a person's stop outlasts the sleep")
    func stopped() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.stop(id, .userStop, at: $1) }
        #expect(bench.expirations(of: id) == [.sleep])
        bench.tell { $0.completed(id, success: false, at: $1) }
        #expect(bench.outcomes(of: id) == [.stopped(.userStop)])
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.launches(of: id).count == 1)
    }

    @Test("rule 78, rule 73: work that did not stop in its grace may still be at it, and is not taken up by itself")
    func overran() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.advance(by: .seconds(5))
        #expect(bench.actions.contains(.kill(id)))
        #expect(bench.outcomes(of: id) == [.stopped(.sleep)])
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.launches(of: id).count == 1)
        bench.tell { $0.retry(id, at: $1) }
        #expect(bench.launches(of: id).count == 2)
    }

    @Test("rule 78: paused work stays paused over a sleep, and is stopped by a shutdown")
    func paused() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.paused(id, at: $1) }
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.state(id) == .paused && bench.expirations(of: id).isEmpty)
        bench.tell { $0.machineLeaves(.shutdown, at: $1) }
        #expect(bench.expirations(of: id) == [.shutdown])
    }

    @Test("rule 78, rule 37: runs that a sleep ended are no failures of the device")
    func interruptions() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("cont.x", .continued) { $0.requiredResources = .gpu }
        for _ in 0..<bench.core.settings.maxAttempts {
            bench.tell { $0.machineLeaves(.sleep, at: $1) }
            bench.tell { $0.completed(id, success: false, at: $1) }
            bench.tell { $0.machineReturned(at: $1) }
        }
        bench.tell { $0.deviceFailed(id, at: $1) }
        #expect(bench.state(id) == .waiting && bench.reasons(id).contains("backoff"))
    }

    @Test("rule 78: work that is about to pause does not go on while the machine leaves, and does when it is back")
    func pausing() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued) { $0.requiresNetwork = true }
        bench.conditions { $0.network = Conditions.Network.none }
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.conditions { $0.network = .unmetered }
        bench.advance(by: .seconds(61))
        #expect(bench.state(id) == .pausing && bench.expirations(of: id).isEmpty)
        #expect(bench.reasons(id) == ["machineLeaves"])
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.state(id) == .running)
    }

    @Test("rule 78, rule 94: what a person pauses or resumes while the machine leaves does so when it is back")
    func persons() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.resume(id, at: $1) }
        #expect(bench.state(id) == .pausing)
        bench.tell { $0.paused(id, at: $1) }
        #expect(bench.state(id) == .paused && bench.reasons(id).contains("machineLeaves"))
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.state(id) == .running)
    }

    @Test("rule 78, rule 99: no launch is simulated while the machine leaves")
    func simulated() throws {
        var bench = Bench()
        bench.conditions { $0.userIdle = false }
        let id = try bench.admit("a", .processing)
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.simulateLaunch(id, at: $1) }
        #expect(bench.launches(of: id).isEmpty)
        bench.tell { $0.machineReturned(at: $1) }
        bench.tell { $0.simulateLaunch(id, at: $1) }
        #expect(bench.launches(of: id).count == 1)
    }

    @Test("rule 78, rule 52: work that a condition paused goes on after a shutdown that does not come")
    func heldByACondition() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued) { $0.requiresNetwork = true }
        bench.conditions { $0.network = Conditions.Network.none }
        bench.tell { $0.paused(id, at: $1) }
        bench.tell { $0.machineLeaves(.shutdown, at: $1) }
        #expect(bench.expirations(of: id) == [.shutdown])
        bench.tell { $0.completed(id, success: false, at: $1) }
        #expect(bench.state(id) == .waiting)
        bench.conditions { $0.network = .unmetered }
        bench.advance(by: .seconds(61))
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.launches(of: id).map(\.attempt) == [1, 2])
    }

    @Test("rule 78, rule 94: work that a person had paused, or was pausing, does not go on after a shutdown by itself")
    func heldByAPerson() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.pause(id, at: $1) }
        bench.tell { $0.machineLeaves(.shutdown, at: $1) }
        bench.tell { $0.completed(id, success: false, at: $1) }
        #expect(bench.outcomes(of: id) == [.stopped(.shutdown)])
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.launches(of: id).count == 1)
    }

    @Test("rule 78, rule 87: foreground work whose turn a sleep cut short goes before all that is urgent")
    func turnCutShort() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        settings.reserveAfter = .seconds(10)
        var bench = Bench(settings: settings)
        let holder = try bench.admit("cont.h", .continued)
        let before = try bench.admit("cont.b", .continued) { $0.initiator = .script }
        let urgent = try bench.admit("cont.u", .continued) { $0.initiator = .script }
        bench.advance(by: .seconds(70))
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.completed(holder, success: true, at: $1) }
        #expect(bench.state(before) == .running)
        bench.tell { $0.completed(before, success: true, at: $1) }
        #expect(bench.state(id) == .running)
        bench.advance(by: .seconds(15))
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.completed(id, success: false, at: $1) }
        bench.advance(by: .seconds(3_600))
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.state(id) == .running && bench.state(urgent) == .waiting)
    }

    @Test("rule 78, rule 87: a sleep is no waiting for room")
    func sleepIsNoWaiting() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 3
        settings.reserveAfter = .seconds(30)
        var bench = Bench(settings: settings)
        bench.conditions { $0.availableMemoryBytes = 3 << 30 }
        let holder = try bench.admit("cont.h", .continued) { $0.claim.memoryBytes = 1 << 30 }
        let big = try bench.admit("a", .processing) { $0.claim.memoryBytes = 2 << 30 }
        #expect(bench.reasons(big) == ["memoryClaim"])
        bench.advance(by: .seconds(10))
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.completed(holder, success: false, at: $1) }
        bench.advance(by: .seconds(3_600))
        bench.tell { $0.machineReturned(at: $1) }
        #expect(bench.state(holder) == .running)
        let small = try bench.admit("b", .processing) { $0.claim.memoryBytes = 1 << 20 }
        #expect(bench.state(big) == .waiting && bench.state(small) == .running)
        bench.advance(by: settings.reserveAfter)
        let late = try bench.admit("c", .processing) { $0.claim.memoryBytes = 1 << 20 }
        #expect(bench.state(late) == .waiting && bench.reasons(late) == ["behindOthers"])
    }
}
