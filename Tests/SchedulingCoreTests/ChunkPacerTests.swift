import SchedulingCore
import Testing

@Suite struct ChunkPacerTests {
    @Test func withoutTermsNothingRests() {
        var pacer = ChunkPacer()
        pacer.itemBegins(at: .zero)
        #expect(pacer.step(fraction: 0.5, at: .seconds(100)) == .goOn)
    }

    @Test("rule 88: after a chunk it rests until the duty cycle holds")
    func afterAChunkItRestsUntilTheDutyCycleHolds() {
        var pacer = ChunkPacer()
        pacer.setTerms(chunkTarget: .milliseconds(50), dutyCycle: 0.25, at: .zero)
        pacer.itemBegins(at: .zero)
        #expect(pacer.step(fraction: 0, at: .milliseconds(49)) == .goOn)
        #expect(pacer.step(fraction: 0, at: .milliseconds(50)) == .rest(until: .milliseconds(200)))
        #expect(pacer.step(fraction: 0, at: .milliseconds(199)) == .rest(until: .milliseconds(200)))
        #expect(pacer.step(fraction: 0, at: .milliseconds(201)) == .goOn)
        #expect(pacer.step(fraction: 0, at: .milliseconds(250)) == .goOn)
        #expect(
            pacer.step(fraction: 0, at: .milliseconds(261)) == .rest(until: .milliseconds(441)), "a late band counts")
    }

    @Test func theDutyCycleHoldsOverManyShortItems() {
        var pacer = ChunkPacer()
        pacer.setTerms(chunkTarget: .milliseconds(50), dutyCycle: 0.5, at: .zero)
        var now = Duration.zero
        var worked = Duration.zero
        for _ in 0..<100 {
            pacer.itemBegins(at: now)
            for _ in 0..<4 {
                now += .milliseconds(5)
                worked += .milliseconds(5)
                if case .rest(let end) = pacer.step(fraction: 0, at: now) { now = end }
            }
            pacer.itemEnds(at: now)
        }
        #expect(worked / now > 0.49 && worked / now < 0.52)
    }

    @Test("rule 89: new terms hold from the next chunk, and end a rest by the old ones")
    func newTermsEndARest() {
        var pacer = ChunkPacer()
        pacer.setTerms(chunkTarget: .milliseconds(50), dutyCycle: 0.1, at: .zero)
        pacer.itemBegins(at: .zero)
        #expect(pacer.step(fraction: 0, at: .milliseconds(50)) == .rest(until: .milliseconds(500)))
        pacer.setTerms(chunkTarget: .milliseconds(300), dutyCycle: 1, at: .milliseconds(60))
        #expect(pacer.step(fraction: 0, at: .milliseconds(60)) == .goOn)
        #expect(pacer.step(fraction: 0, at: .seconds(10)) == .goOn)
    }

    @Test("rule 94: what is halted stays so until it may go on") func whatIsHaltedStaysSo() {
        var pacer = ChunkPacer()
        pacer.setTerms(chunkTarget: .milliseconds(50), dutyCycle: 0.5, at: .zero)
        pacer.itemBegins(at: .zero)
        pacer.halt()
        #expect(pacer.step(fraction: 0, at: .milliseconds(5)) == .halt)
        #expect(pacer.step(fraction: 0, at: .seconds(500)) == .halt)
        pacer.goOn(at: .seconds(500))
        #expect(pacer.step(fraction: 0, at: .seconds(500)) == .goOn, "the time it stood still was no work")
    }

    @Test("rule 75: an item that can be done in time is done, another is given up")
    func anItemThatCanBeDoneInTimeIsDone() {
        var pacer = ChunkPacer()
        pacer.itemBegins(at: .zero)
        pacer.finish(by: .milliseconds(150))
        #expect(pacer.step(fraction: 0.8, at: .milliseconds(100)) == .goOn)
        #expect(pacer.step(fraction: 0.81, at: .milliseconds(150)) == .giveUp)
        pacer.itemBegins(at: .seconds(1))
        #expect(pacer.step(fraction: 0, at: .seconds(1)) == .goOn, "that was for the item before")
        pacer.finish(by: .milliseconds(1150))
        #expect(pacer.step(fraction: 0.7, at: .milliseconds(1100)) == .goOn)
        #expect(pacer.step(fraction: 0.6, at: .milliseconds(1100)) == .giveUp)
        #expect(pacer.step(fraction: 0, at: .milliseconds(1100)) == .giveUp)
    }

    @Test func aHaltedItemThatIsToEndGoesOnOrIsGivenUpByItsTimeAtWork() {
        var pacer = ChunkPacer()
        pacer.itemBegins(at: .zero)
        pacer.halt()
        #expect(pacer.step(fraction: 0.9, at: .milliseconds(90)) == .halt)
        pacer.finish(by: .milliseconds(10_050))
        #expect(pacer.step(fraction: 0.9, at: .seconds(10)) == .goOn, "90 ms of work made 90 %")
    }
}
