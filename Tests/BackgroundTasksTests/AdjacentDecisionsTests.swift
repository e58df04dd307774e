import BackgroundTasks
import TaskModel
import Testing

@Suite struct AdjacentDecisionsTests {
    // MARK: Assertions

    @Test(
        "rule 100, A40, A41: in the foreground there is no limit; the background has 30 s with an assertion and 5 s without"
    )
    func remaining() throws {
        var assertions = BackgroundAssertions()
        let id = assertions.begin("save", at: .zero)
        #expect(id != nil)
        #expect(assertions.remaining(at: .seconds(9_999)) == nil)
        assertions.wentToBackground(at: .seconds(100))
        #expect(assertions.remaining(at: .seconds(110)) == .seconds(20))
        #expect(assertions.nextDeadline == .seconds(125))
        assertions.cameToForeground()
        #expect(assertions.remaining(at: .seconds(110)) == nil && assertions.nextDeadline == nil)

        var without = BackgroundAssertions()
        without.wentToBackground(at: .zero)
        #expect(without.remaining(at: .seconds(1)) == .seconds(4))
        #expect(without.nextDeadline == nil)
        let late = without.begin("save", at: .seconds(4))
        #expect(late != nil && without.remaining(at: .seconds(4)) == .seconds(26))
    }

    @Test("A40: when the time is over nothing can be begun any more")
    func invalid() {
        var assertions = BackgroundAssertions()
        assertions.wentToBackground(at: .zero)
        let late = assertions.begin("late", at: .seconds(5))
        #expect(late == nil)
    }

    @Test("rule 100, A40: handlers are called once before the end, and what is not ended then is named")
    func watchdog() {
        var assertions = BackgroundAssertions()
        let first = assertions.begin("first", at: .zero) ?? 0
        let second = assertions.begin("second", at: .zero) ?? 0
        assertions.wentToBackground(at: .zero)
        let early = assertions.timePassed(at: .seconds(24))
        #expect(early.isEmpty)
        let warned = assertions.timePassed(at: .seconds(25))
        #expect(warned == [.callHandlers([first, second])])
        let problem = assertions.end(first)
        #expect(problem == nil)
        let again = assertions.timePassed(at: .seconds(29))
        #expect(again.isEmpty && assertions.nextDeadline == .seconds(30))
        let over = assertions.timePassed(at: .seconds(30))
        #expect(over == [.overran([.init(id: second, name: "second")])])
        let twice = assertions.end(second)
        #expect(twice?.code == "unbalancedEnd")
        #expect(assertions.held.isEmpty)
    }

    // MARK: Fetch

    @Test("rule 100, A42: the fetch interval is never by default, and a floor when it is set")
    func fetch() {
        var plan = FetchPlan()
        #expect(plan.nextBegin(at: .seconds(50)) == nil)
        plan.setMinimum(.seconds(3_600))
        #expect(plan.nextBegin(at: .seconds(50)) == .seconds(50))
        plan.began(at: .seconds(60))
        #expect(plan.nextBegin(at: .seconds(70)) == .seconds(3_660))
        #expect(plan.nextBegin(at: .seconds(9_000)) == .seconds(9_000))
        plan.setMinimum(nil)
        #expect(plan.nextBegin(at: .seconds(9_000)) == nil)
    }

    // MARK: Pokes

    @Test("rule 100, A45: pokes are merged and heard at most three times in any hour")
    func pokes() {
        var limiter = PokeLimiter()
        var heard: [Duration] = []
        var counted = 0
        for minute in 0..<600 {
            let now = Duration.seconds(minute * 60)
            limiter.poked(["minute": "\(minute)"])
            while let (payload, count) = limiter.take(at: now, mayRun: true) {
                #expect(payload == ["minute": "\(minute)"])
                heard.append(now)
                counted += count
            }
        }
        for start in heard {
            #expect(heard.filter { $0 >= start && $0 < start + .seconds(3_600) }.count <= 3)
        }
        #expect(heard.count == 30)
        #expect(counted > 560)
    }

    @Test("A45: pokes wait while the program may not run, and of equal keys the last counts")
    func keptPokes() {
        var limiter = PokeLimiter()
        limiter.poked(["a": "1", "b": "1"])
        limiter.poked(["b": "2"])
        let refused = limiter.take(at: .zero, mayRun: false)
        #expect(refused == nil)
        let taken = limiter.take(at: .seconds(1), mayRun: true)
        #expect(taken?.payload == ["a": "1", "b": "2"] && taken?.count == 2)
        #expect(limiter.nextDeadline == nil)
    }

    // MARK: Activities

    @Test("A47: an activity runs within its tolerance, repeats at its pace, and is called again soon when it defers")
    func activity() {
        var plan = ActivityPlan()
        plan.interval = .seconds(3_600)
        plan.tolerance = .seconds(600)
        plan.repeats = true
        let first = plan.scheduled(at: .zero)
        #expect(first == .seconds(3_000))
        #expect(plan.deferred(at: .seconds(3_100)) == .seconds(3_100))
        let second = plan.finished(at: .seconds(3_200))
        #expect(second == .seconds(6_600))
        let afterSleep = plan.finished(at: .seconds(50_000))
        #expect(afterSleep == .seconds(50_000))
        let next = plan.finished(at: .seconds(50_010))
        #expect(next == .seconds(53_000))
    }

    @Test("A47: an activity that does not repeat runs once")
    func once() {
        var plan = ActivityPlan()
        plan.interval = .seconds(100)
        let first = plan.scheduled(at: .seconds(7))
        #expect(first == .seconds(57))
        let next = plan.finished(at: .seconds(60))
        #expect(next == nil)
    }
}
