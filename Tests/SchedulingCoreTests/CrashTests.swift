import SchedulingCore
import TaskModel
import Testing

/// Tasks whose process was lost.
@Suite struct CrashTests {
    private static func requeues(of id: JobID, in bench: Bench) -> [Duration] {
        bench.actions.compactMap { if case .requeue(id, let notBefore) = $0 { notBefore } else { nil } }
    }

    /// Crashes what runs, and plays the wait before the next attempt.
    private static func crash(_ id: JobID, _ bench: inout Bench, waits: Duration) {
        let end = bench.now + waits
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        #expect(requeues(of: id, in: bench).last == end)
        #expect(bench.state(id) == .waiting && bench.reasons(id) == ["backoff"])
        bench.advance(to: end - .milliseconds(1))
        #expect(bench.state(id) == .waiting)
        bench.advance(to: end)
        #expect(bench.state(id) == .running)
    }

    @Test(
        "rule 85: after each crash a task waits twice as long before it is tried again, and after the fourth it has failed"
    )
    func backoff() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        for seconds in [10, 20, 40] { Self.crash(id, &bench, waits: .seconds(seconds)) }
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        #expect(bench.outcomes(of: id) == [.failed(code: "signal9")])
        #expect(bench.launches(of: id).map(\.attempt) == [1, 2, 3, 4])
        bench.advance(by: .seconds(3_600))
        #expect(bench.launches(of: id).count == 4)
    }

    @Test("rule 85: the wait after a crash has a longest length")
    func longest() throws {
        var settings = SchedulerSettings()
        settings.maxAttempts = 100
        settings.longestBackoff = .seconds(60)
        var bench = Bench(settings: settings)
        let id = try bench.admit("cont.x", .continued)
        for seconds in [10, 20, 40] + Array(repeating: 60, count: 70) {
            Self.crash(id, &bench, waits: .seconds(seconds))
        }
    }

    @Test("rule 85, rule 37: crashes and lost devices count together")
    func together() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("cont.x", .continued) { $0.requiredResources = .gpu }
        bench.tell { $0.deviceFailed(id, at: $1) }
        bench.advance(by: .seconds(10))
        Self.crash(id, &bench, waits: .seconds(20))
        bench.tell { $0.deviceFailed(id, at: $1) }
        bench.advance(by: .seconds(40))
        bench.tell { $0.crashed(id, code: "exit1", at: $1) }
        #expect(bench.outcomes(of: id) == [.failed(code: "exit1")])
    }

    @Test("rule 85: a crash after a restart of the host counts with those before it")
    func adopted() throws {
        var bench = Bench()
        let request = Bench.request("cont.x", .continued)
        let id = JobID(7)
        bench.tell {
            $0.adopt(request, id: id, program: Bench.program, submitted: .zero, attempts: 9, losses: 2, at: $1)
        }
        Self.crash(id, &bench, waits: .seconds(40))
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        #expect(bench.outcomes(of: id) == [.failed(code: "signal9")])
    }

    @Test("rule 85, rule 29: a task that waits after a crash can be stopped, and is not started again")
    func stopped() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        bench.tell { $0.stop(id, .userStop, at: $1) }
        #expect(bench.outcomes(of: id) == [.stopped(.userStop)])
        #expect(bench.core.nextDeadline() == nil)
        bench.advance(by: .seconds(600))
        #expect(bench.launches(of: id).count == 1)
    }

    @Test("rule 85, rule 69: a task that crashes while it is to stop has stopped for that reason")
    func expiring() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.stop(id, .userStop, at: $1) }
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        #expect(bench.outcomes(of: id) == [.stopped(.userStop)])
        #expect(Self.requeues(of: id, in: bench).isEmpty)
        bench.advance(by: .seconds(600))
        #expect(bench.outcomes(of: id).count == 1 && bench.launches(of: id).count == 1)
    }

    @Test("rule 85, rule 78: a crash of work that a sleep stops is no loss, and the work goes on afterwards")
    func sleeping() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.machineLeaves(.sleep, at: $1) }
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        #expect(Self.requeues(of: id, in: bench) == [bench.now])
        bench.tell { $0.machineReturned(at: $1) }
        Self.crash(id, &bench, waits: .seconds(10))
    }

    @Test("rule 85, rule 15: work that was asked for anew while it ran is not tried again after a crash")
    func askedAnew() throws {
        var bench = Bench()
        let first = try bench.admit("a", .processing)
        let second = try bench.admit("a", .processing)
        #expect(bench.state(second) == .waiting)
        bench.tell { $0.crashed(first, code: "signal9", at: $1) }
        #expect(bench.outcomes(of: first) == [.stopped(.replaced)])
        #expect(bench.state(second) == .running)
    }

    @Test("rule 85, rule 89: a task promoted while it waits after a crash runs in the foreground")
    func promoted() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued) { $0.initiator = .script }
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        bench.tell { $0.promote(id, at: $1) }
        #expect(bench.reasons(id) == ["backoff"])
        bench.advance(by: .seconds(10))
        #expect(bench.launches(of: id).last?.terms.priority == .foreground)
    }

    @Test("rule 85: a crash of what has ended, or waits, changes nothing")
    func late() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        let actions = bench.actions.count
        bench.tell { $0.crashed(id, code: "signal9", at: $1) }
        bench.tell { $0.crashed(JobID(99), code: "signal9", at: $1) }
        #expect(bench.actions.count == actions)
    }
}
