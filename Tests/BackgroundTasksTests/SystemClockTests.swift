import BackgroundTasks
import Testing

@Suite struct SystemClockTests {
    @Test("rule 54: an alarm of the kernel rings once, and not before its time")
    func rings() async {
        let clock = SystemClock()
        let (rings, ring) = AsyncStream<Duration>.makeStream()
        let alarm = clock.makeAlarm { ring.yield(clock.now) }
        let time = clock.now + .milliseconds(20)
        alarm.set(at: time)
        for await rung in rings {
            #expect(rung >= time)
            break
        }
    }

    @Test("rule 54: a moment that has passed is soon, and one that was replaced does not count")
    func replaced() async {
        let clock = SystemClock()
        let (rings, ring) = AsyncStream<Int>.makeStream()
        let first = clock.makeAlarm { ring.yield(1) }
        let second = clock.makeAlarm { ring.yield(2) }
        first.set(at: clock.now + .seconds(3_600))
        first.set(at: nil)
        second.set(at: clock.now + .seconds(3_600))
        second.set(at: .zero)
        for await number in rings {
            #expect(number == 2)
            break
        }
    }

    @Test("rule 54: a moment further away than the kernel counts is no fault, and does not come")
    func farMoment() async {
        let clock = SystemClock()
        let (rings, ring) = AsyncStream<Int>.makeStream()
        let far = clock.makeAlarm { ring.yield(1) }
        let near = clock.makeAlarm { ring.yield(2) }
        far.set(at: .seconds(1_000_000_000_000))
        near.set(at: clock.now + .milliseconds(20))
        var heard = rings.makeAsyncIterator()
        let first = await heard.next()
        #expect(first == 2)
        far.set(at: .zero)
        let second = await heard.next()
        #expect(second == 1)
    }

    @Test("rule 54: the clock does not go back, and the wall clock shows this century")
    func readings() {
        let clock = SystemClock()
        let first = clock.now
        #expect(clock.now >= first)
        #expect(clock.wallNow > .seconds(1_700_000_000))
        _ = clock.watchWallClock {}
    }
}
