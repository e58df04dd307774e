import SchedulingCore
import Testing

@Suite struct GivingWayTests {
    /// A processor shared with others: turns of the work, waits for it, and absences.
    private struct Processor {
        var way = GivingWay()
        var now: Duration = .seconds(1)
        var waiting: Duration = .zero
        var worked: Duration = .zero
        var idleTime: Duration = .zero
        /// The longest so far.
        var absence: Duration = .zero

        /// Works and waits again and again, and stays away while a share of the time is idle.
        mutating func turns(
            _ count: Int, of work: Duration, waiting wait: Duration, yield: Duration = .zero, idle: Double?
        ) {
            absence = .zero
            for _ in 0..<count {
                now += work + wait
                worked += work
                waiting += wait
                guard
                    let absence = way.absence(afterYield: yield, waiting: idle == nil ? nil : waiting, at: now)
                else { continue }
                self.absence = max(self.absence, absence)
                now += absence
                // As the kernel counts it.
                let before = Int(idleTime / .milliseconds(10))
                idleTime += absence * (idle ?? 0)
                let counted = Duration.milliseconds((Int(idleTime / .milliseconds(10)) - before) * 10)
                way.isBack(after: absence, idle: idle == nil ? nil : counted, at: now)
            }
        }
    }

    @Test func whoFindsNobodyStays() {
        var processor = Processor()
        processor.turns(1000, of: .milliseconds(1), waiting: .microseconds(10), idle: 0)
        #expect(processor.absence == .zero)
    }

    @Test("rule 88: others that share the processors equally and want them all get nearly all of them")
    func othersThatWantEverythingGetNearlyAll() {
        var processor = Processor()
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(4), idle: 0)
        let (begin, worked) = (processor.now, processor.worked)
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(4), idle: 0)
        #expect((processor.worked - worked) / (processor.now - begin) < 0.03)
    }

    @Test func othersThatWantLittleDoNotMakeItStayAway() {
        var processor = Processor()
        processor.turns(1000, of: .milliseconds(18), waiting: .milliseconds(2), idle: 0)
        #expect(processor.absence == .zero)
    }

    @Test func othersThatLeaveIdleTimeAreLeftToQuickly() {
        var processor = Processor()
        processor.turns(1000, of: .milliseconds(8), waiting: .milliseconds(8), idle: 0.5)
        #expect(processor.absence > .zero && processor.absence <= .milliseconds(50))
    }

    @Test func absencesShrinkWhenOthersLeaveIdleTime() {
        var processor = Processor()
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(4), idle: 0)
        #expect(processor.absence == .milliseconds(400))
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(4), idle: 1)
        processor.turns(10, of: .milliseconds(4), waiting: .milliseconds(4), idle: 1)
        #expect(processor.absence <= .milliseconds(20))
    }

    @Test func othersThatWereGoneBeginAnew() {
        var processor = Processor()
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(4), idle: 0)
        processor.turns(100, of: .milliseconds(4), waiting: .zero, idle: 0)
        processor.turns(5, of: .milliseconds(4), waiting: .milliseconds(4), idle: 0)
        #expect(processor.absence > .zero && processor.absence <= .milliseconds(50))
    }

    @Test func whereWaitsAreNotCountedAYieldTells() {
        var processor = Processor()
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(4), yield: .microseconds(50), idle: nil)
        #expect(processor.absence == .zero)
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(4), yield: .milliseconds(4), idle: nil)
        #expect(processor.absence == .milliseconds(8))
        processor.turns(100, of: .milliseconds(4), waiting: .milliseconds(90), yield: .milliseconds(90), idle: nil)
        #expect(processor.absence == .milliseconds(50))
    }
}
