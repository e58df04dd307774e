import SchedulingCore
import SeededNumbers
import TaskModel
import Testing

@Suite struct ExpirationTests {
    @Test("rule 69: the reason comes with the expiration itself, and the first one counts")
    func reason() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.stop(id, .quota, at: $1) }
        bench.tell { $0.stop(id, .userStop, at: $1) }
        #expect(bench.expirations(of: id) == [.quota])
        bench.tell { $0.completed(id, success: false, at: $1) }
        #expect(bench.outcomes(of: id) == [.stopped(.quota)])
    }

    @Test("rule 70: a task is told to expire at most once, and not after it has completed")
    func once() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.completed(id, success: true, at: $1) }
        bench.tell { $0.stop(id, .userStop, at: $1) }
        bench.tell { $0.stopAll(.shutdown, at: $1) }
        #expect(bench.expirations(of: id).isEmpty)
        #expect(bench.outcomes(of: id) == [.completed(failures: 0)])
    }

    @Test("rule 71, A24: all tasks that expire together have one deadline, however many they are")
    func oneGrace() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 20
        var bench = Bench(settings: settings)
        for index in 0..<20 { _ = try bench.admit("cont.\(index)", .continued) }
        bench.advance(by: .seconds(7))
        bench.tell { $0.stopAll(.sleep, at: $1) }
        let deadlines = bench.actions.compactMap { action -> Duration? in
            if case .expire(_, .sleep, let deadline) = action { deadline } else { nil }
        }
        #expect(deadlines == Array(repeating: .seconds(12), count: 20))
    }

    @Test("rule 73, A26: a task that has not completed when its grace ends is killed, and ends with its reason")
    func graceEnds() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.stop(id, .userStop, at: $1) }
        bench.advance(by: .milliseconds(4_999))
        #expect(!bench.actions.contains(.kill(id)))
        bench.advance(by: .milliseconds(1))
        #expect(bench.actions.contains(.kill(id)))
        #expect(bench.outcomes(of: id) == [.stopped(.userStop)])
        bench.tell { $0.completed(id, success: true, at: $1) }
        #expect(bench.outcomes(of: id).count == 1, "what comes later is ignored")
    }

    @Test("rule 74: completion counts once; success after an expiration counts only with finished progress")
    func completionCounts() throws {
        var bench = Bench()
        let unfinished = try bench.admit("cont.unfinished", .continued)
        let finished = try bench.admit("cont.finished", .continued)
        bench.tell { $0.progressed(unfinished, to: 0.9, at: $1) }
        bench.tell { $0.progressed(finished, to: 1, at: $1) }
        bench.tell { $0.stopAll(.userStop, at: $1) }
        for id in [unfinished, finished, unfinished, finished] {
            bench.tell { $0.completed(id, success: true, at: $1) }
        }
        #expect(bench.outcomes(of: unfinished) == [.stopped(.userStop)])
        #expect(bench.outcomes(of: finished) == [.completed(failures: 0)])
    }

    @Test("rule 75: chunks sized to their target let a stop wait for at most two targets and 50 ms, in 99 of 100 cases")
    func stopLatency() {
        var random = SeededGenerator(seed: 75)
        let target: Duration = .milliseconds(50)
        var latencies: [Duration] = []
        for _ in 0..<2_000 {
            var sizer = ChunkSizer()
            var left = 1_000_000
            let stopAfter: Duration = .microseconds(Int.random(in: 0..<2_000_000, using: &random))
            var now: Duration = .zero
            while true {
                let units = sizer.next(target: target, remaining: left)
                // Units take 0.1 ms each, give or take half of it for the whole chunk.
                let wall: Duration = .microseconds(units * Int.random(in: 50...150, using: &random))
                if now + wall >= stopAfter {
                    latencies.append(now + wall - stopAfter)
                    break
                }
                now += wall
                left -= units
                sizer.finished(units: units, in: wall)
            }
        }
        #expect(latencies.sorted()[latencies.count * 99 / 100] <= target * 2 + .milliseconds(50))
    }

    @Test("rule 78: before sleep everything that runs is told to stop with that reason")
    func sleep() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.stopAll(.sleep, at: $1) }
        #expect(bench.expirations(of: id) == [.sleep])
    }

    @Test(
        "rule 79, A23: a removed host loses its queued continued requests; what ran ends without a handler and can be resumed"
    )
    func hostRemoved() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings)
        let running = try bench.admit("cont.running", .continued)
        let queued = try bench.admit("cont.queued", .continued)
        let processing = try bench.admit("a", .processing)
        bench.tell { $0.hostRemoved(program: Bench.program, at: $1) }
        #expect(bench.expirations(of: running).isEmpty)
        #expect(bench.outcomes(of: running) == [.stopped(.hostRemoved)])
        #expect(bench.outcomes(of: queued) == [.stopped(.hostRemoved)])
        #expect(bench.reasons(processing) == ["hostAbsent"])
        bench.tell { $0.retry(running, at: $1) }
        bench.tell { $0.hostReturned(program: Bench.program, at: $1) }
        #expect(bench.state(running) == .running, "its record was resumable")
        #expect(bench.launches(of: running).count == 2)
    }

    @Test(
        "rule 80, A22: completed entries go after 5 s, failed ones stay until dismissed, and a retry uses the same entry"
    )
    func dismissal() throws {
        var bench = Bench()
        let good = try bench.admit("cont.good", .continued)
        let bad = try bench.admit("cont.bad", .continued)
        bench.tell { $0.completed(good, success: true, at: $1) }
        bench.tell { $0.completed(bad, success: false, at: $1) }
        bench.advance(by: .seconds(5))
        #expect(bench.actions.contains(.dismiss(good)))
        bench.advance(by: .seconds(100_000))
        #expect(bench.state(bad) == .ended)
        bench.tell { $0.retry(bad, at: $1) }
        #expect(bench.launches(of: bad).count == 2)
        bench.tell { $0.completed(bad, success: false, at: $1) }
        bench.tell { $0.dismiss(bad, at: $1) }
        #expect(bench.state(bad) == nil)
    }
}
