import SchedulingCore
import Testing

/// A machine whose processors are shared evenly between the work and others, and what becomes of both.
@Suite struct SpareProcessorsTests {
    private struct SharedMachine {
        static let step: Duration = .milliseconds(100)
        var spare: SpareProcessors
        let processors: Double
        /// Processors that others would use, and that the work would.
        var wanted = 0.0
        var ownWanted: Double
        private(set) var now: Duration = .seconds(5)
        /// Processor time so far, in seconds.
        private(set) var idle = 0.0
        private(set) var own = 0.0
        private(set) var others = 0.0

        init(processors: Int = 2) {
            spare = SpareProcessors(processors: processors)
            self.processors = Double(processors)
            ownWanted = Double(processors)
        }

        /// - Returns: Processors that others used on the average, and that the work did.
        @discardableResult mutating func run(_ time: Duration) -> (others: Double, own: Double) {
            let before = (others: others, own: own)
            let seconds = time / .seconds(1)
            for _ in 0..<Int(time / Self.step) {
                let length = Self.step / .seconds(1)
                let mine = min(ownWanted, spare.limit ?? processors)
                // Each has half where both want it, and what the other leaves.
                let theirs = min(wanted, max(processors / 2, processors - mine))
                let rest = min(mine, processors - theirs)
                others += theirs * length
                own += rest * length
                idle += (processors - theirs - rest) * length
                now += Self.step
                // As the kernel counts it.
                let counted = Duration.milliseconds(Int(idle * 100) * 10)
                spare.look(.init(at: now, idle: counted, own: .microseconds(Int(own * 1e6))))
            }
            return ((others - before.others) / seconds, (own - before.own) / seconds)
        }
    }

    @Test func nobodyElseMeansNoLimit() {
        var machine = SharedMachine()
        #expect(machine.run(.seconds(10)).own > 1.999)
        #expect(machine.spare.limit == nil)
    }

    @Test func othersThatWantLittleMeanNoLimit() {
        var machine = SharedMachine()
        machine.wanted = 0.2
        #expect(machine.run(.seconds(10)).own > 1.79)
        #expect(machine.spare.limit == nil)
    }

    @Test("rule 88: others that want every processor have nearly all of them soon", arguments: [1, 2, 16])
    func othersThatWantEverythingHaveIt(processors: Int) {
        var machine = SharedMachine(processors: processors)
        machine.run(.seconds(3))
        machine.wanted = Double(processors)
        let atFirst = machine.run(.seconds(1))
        #expect(atFirst.others / machine.wanted > 0.75)
        let then = machine.run(.seconds(30))
        #expect(then.others / machine.wanted > 0.97)
        #expect(then.own > 0, "it has to end one day")
    }

    @Test("rule 88: what others leave is used", arguments: [0.5, 1.0])
    func othersThatAreNotHeldBackCostNothing(wanted: Double) {
        var machine = SharedMachine()
        machine.wanted = wanted
        let shares = machine.run(.seconds(30))
        #expect(shares.others / wanted > 0.99)
        #expect(shares.own / (2 - wanted) > 0.95)
    }

    @Test func othersThatAreHeldBackInPartGetMostOfIt() {
        var machine = SharedMachine()
        machine.wanted = 1.6
        let shares = machine.run(.seconds(30))
        #expect(shares.others / 1.6 > 0.95)
        #expect(shares.own / 0.4 > 0.7)
    }

    @Test func othersThatLeaveGiveEverythingBackAtOnce() {
        var machine = SharedMachine()
        machine.wanted = 2
        machine.run(.seconds(10))
        #expect(machine.spare.limit != nil)
        machine.wanted = 0
        machine.run(.milliseconds(500))
        #expect(machine.spare.limit == nil)
    }

    @Test func othersThatComeToWantMoreWaitForTheNextTrial() {
        var machine = SharedMachine()
        machine.wanted = 1
        machine.run(.seconds(10))
        machine.wanted = 2
        machine.run(.seconds(3))
        #expect(machine.run(.seconds(10)).others > 1.94)
    }

    @Test func workThatWantsLittleIsNotCutBack() {
        var machine = SharedMachine()
        machine.ownWanted = 0.02
        machine.wanted = 1.98
        #expect(machine.run(.seconds(10)).own > 0.019)
    }

    @Test func sumsThatFallBackBeginAnew() {
        var spare = SpareProcessors(processors: 2)
        spare.look(.init(at: .seconds(1), idle: .seconds(9), own: .seconds(9)))
        spare.look(.init(at: .seconds(2), idle: .seconds(1), own: .seconds(1)))
        #expect(spare.limit == nil)
        spare.look(.init(at: .seconds(3), idle: .seconds(1), own: .seconds(2)))
        #expect(spare.limit == 0.25)
    }
}
