import SchedulingCore
import TaskModel
import Testing

@Suite struct RunningTests {
    @Test("rule 57, A34: a refresh has 30 s, then it is expired")
    func refreshTime() throws {
        var bench = Bench()
        let id = try bench.admit("refresh", .refresh)
        bench.advance(by: .milliseconds(29_999))
        #expect(bench.expirations(of: id).isEmpty)
        bench.advance(by: .milliseconds(1))
        #expect(bench.expirations(of: id) == [.timeBudget])
    }

    @Test("rule 57, A38: quick and useful refreshes bring the next one nearer, overruns push it away")
    func refreshInterval() throws {
        func interval(_ end: (inout Bench, JobID) -> Void) throws -> Duration {
            var bench = Bench()
            let first = try bench.admit("refresh", .refresh)
            end(&bench, first)
            let next = try bench.admit("refresh", .refresh)
            #expect(bench.reasons(next) == ["refreshInterval"])
            return try #require(bench.core.why(next).first?.earliest)
        }
        let quick = try interval { bench, id in
            bench.advance(by: .seconds(2))
            bench.tell { $0.completed(id, success: true, at: $1) }
        }
        let slow = try interval { bench, id in
            bench.advance(by: .seconds(20))
            bench.tell { $0.completed(id, success: true, at: $1) }
        }
        let overrun = try interval { bench, id in
            bench.advance(by: .seconds(31))
            bench.tell { $0.completed(id, success: false, at: $1) }
        }
        #expect(quick < slow)
        #expect(slow < overrun)
    }

    @Test(
        "rule 58, A31: processing that has not started in 48 hours is told to be overdue, with the time for each reason"
    )
    func overdue() throws {
        var bench = Bench()
        bench.advance(by: .seconds(100))
        bench.conditions { $0.userIdle = false }
        let id = try bench.admit("a", .processing)
        bench.advance(by: .seconds(48 * 3_600 - 1))
        #expect(bench.notes(of: id).isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.notes(of: id) == [.overdue(waited: .seconds(48 * 3_600))])
        let times = bench.core.timePerReason(id)
        #expect(times.first?.code == .condition(.idle))
        #expect(times.first?.time == .seconds(48 * 3_600))
    }

    @Test("rule 60: totals may grow; a falling fraction is tolerated and noted")
    func fallingFraction() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.progressed(id, to: 0.5, at: $1) }
        bench.tell { $0.progressed(id, to: 0.25, at: $1) }
        #expect(bench.notes(of: id) == [.progressFell(from: 0.5, to: 0.25)])
        #expect(bench.core.summary(id)?.fraction == 0.25)
        #expect(bench.state(id) == .running)
    }

    @Test("rule 61, A20: silence warns at half of its limit and expires at all of it, with the measured numbers")
    func stall() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.advance(by: .seconds(150))
        #expect(bench.notes(of: id) == [.stallWarning(silence: .seconds(150), limit: .seconds(300))])
        bench.advance(by: .seconds(149))
        #expect(bench.expirations(of: id).isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.notes(of: id).last == .stalled(silence: .seconds(300), limit: .seconds(300)))
        #expect(bench.expirations(of: id) == [.stalled])
    }

    @Test(
        "rule 61: the limit is 60 s in the background, eight recent chunks if those are longer, and 15 minutes at most")
    func stallLimit() {
        var watch = ProgressWatch(at: .zero)
        #expect(watch.stallLimit(isForeground: false) == .seconds(60))
        _ = watch.progressed(to: 0.1, at: .seconds(20))
        #expect(watch.stallLimit(isForeground: false) == .seconds(160))
        _ = watch.progressed(to: 0.2, at: .seconds(500))
        #expect(watch.stallLimit(isForeground: false) == .seconds(900))
    }

    @Test("rule 62: a heartbeat extends the limit once for each phase, not for ever")
    func heartbeat() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.advance(by: .seconds(299))
        bench.tell { $0.heartbeat(id, phase: "compiling kernel", at: $1) }
        bench.advance(by: .seconds(299))
        #expect(bench.expirations(of: id).isEmpty)
        bench.tell { $0.heartbeat(id, phase: "compiling kernel", at: $1) }
        bench.advance(by: .seconds(1))
        #expect(bench.expirations(of: id) == [.stalled])
    }

    /// Progress at one rate for three minutes, then at another.
    private func slowed(_ bench: inout Bench, _ id: JobID, to rate: Double, for seconds: Int = 120) {
        var fraction = 0.0
        for second in 1...(180 + seconds) {
            bench.advance(by: .seconds(1))
            fraction += second <= 180 ? 0.001 : rate
            bench.tell { $0.progressed(id, to: fraction, at: $1) }
        }
    }

    @Test("rule 63: work below a quarter of its own earlier rate asks, and goes on when nobody answers")
    func slow() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        slowed(&bench, id, to: 0.0001)
        guard case .slow(let share) = try #require(bench.notes(of: id).first) else {
            Issue.record("the first note is not about slowness")
            return
        }
        #expect(share < 0.25)
        bench.advance(by: .seconds(61))
        #expect(bench.state(id) == .running)
    }

    @Test("rule 63: the answer no, or the policy to stop when nobody answers, ends slow work as slowDeclined")
    func slowDeclined() throws {
        var bench = Bench()
        let asked = try bench.admit("cont.asked", .continued)
        slowed(&bench, asked, to: 0.0001, for: 60)
        bench.tell { $0.answerSlow(asked, goOn: false, at: $1) }
        #expect(bench.expirations(of: asked) == [.slowDeclined])
        var other = Bench()
        let left = try other.admit("cont.left", .continued) { $0.slowPolicy = .stop }
        slowed(&other, left, to: 0.0001)
        #expect(other.expirations(of: left) == [.slowDeclined])
    }

    @Test("rule 63: pacing by the scheduler counts neither as slow nor as stalled")
    func pacingIsNotSlow() {
        var watch = ProgressWatch(at: .zero)
        var notes: [ProgressWatch.Note] = []
        for second in 1...600 {
            if second == 200 { watch.setEffort(0.1, at: .seconds(second)) }
            let fraction = second <= 200 ? Double(second) * 0.001 : 0.2 + Double(second - 200) * 0.0001
            notes += watch.progressed(to: fraction, at: .seconds(second))
        }
        #expect(notes.isEmpty)
        #expect(watch.stallLimit(isForeground: false) == .seconds(600))
    }

    @Test("rule 64: a total that is not known needs no fraction, only signs of life")
    func indeterminate() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        for _ in 0..<10 {
            bench.advance(by: .seconds(250))
            bench.tell { $0.progressed(id, to: nil, at: $1) }
        }
        #expect(bench.state(id) == .running)
        #expect(bench.core.summary(id)?.fraction == nil)
    }

    @Test("rule 67: the time left is a range from recent rates, and follows promotion at once")
    func timeLeft() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued) { $0.initiator = .script }
        bench.conditions { $0.cpuPressure = 90 }
        for second in 1...20 {
            bench.advance(by: .seconds(1))
            bench.tell { $0.progressed(id, to: Double(second) * 0.01 + Double(max(second - 10, 0)) * 0.01, at: $1) }
        }
        let paced = try #require(bench.core.summary(id)?.secondsLeft)
        #expect(paced.lowerBound < paced.upperBound)
        bench.tell { $0.promote(id, at: $1) }
        let promoted = try #require(bench.core.summary(id)?.secondsLeft)
        #expect(promoted.upperBound < paced.upperBound)
        #expect(promoted.lowerBound < paced.lowerBound)
    }

    @Test("rule 68: items that failed are counted, and the task ends completed with that many failures")
    func itemFailures() throws {
        var bench = Bench()
        let id = try bench.admit("cont.x", .continued)
        bench.tell { $0.completed(id, success: true, failures: 3, at: $1) }
        #expect(bench.outcomes(of: id) == [.completed(failures: 3)])
    }
}
