import JobLink
import Testing

/// What a worker makes of words that it reads late.
@Suite struct NextItemTests {
    private let permit: BeginPermit
    private let next: NextItem<Int>

    init() throws {
        permit = try #require(BeginPermit())
        next = NextItem(permit)
    }

    /// Takes the next item; what is to be heard on the way comes once.
    private func take(_ words: @escaping () -> Void = {}) -> (item: Int?, heard: Int) {
        var heard = 0
        let item = next.take {
            heard += 1
            if heard == 1 { words() }
        }
        return (item, heard)
    }

    @Test func whatComesAheadBeginsWithItsPermit() {
        next.give(0)
        next.sendAhead(1)
        permit.give()
        #expect(take() == (0, 0))
        #expect(permit.take(), "it is there while the first item is in work, whatever was read")
        #expect(take() == (nil, 0))
        permit.give()
        #expect(take() == (1, 1))
        #expect(!permit.take())
    }

    @Test func aPermitThatCameBeforeItsItemIsLeft() {
        permit.give()
        #expect(take() == (nil, 0))
        next.give(0)
        #expect(take() == (0, 0))
        #expect(permit.take())
    }

    @Test func whatWasTakenBackDoesNotBeginWithThePermitOfALaterItem() {
        next.sendAhead(1)
        permit.give()
        let taken = take {
            #expect(next.withdraw() == 1)
            next.sendAhead(2)
        }
        #expect(taken == (2, 2))
        #expect(!permit.take())
    }

    @Test func theItemsThatFollowOneThatWasTakenBackMayBothHaveArrived() {
        next.sendAhead(1)
        permit.give()
        let taken = take {
            #expect(next.withdraw() == 1)
            next.sendAhead(2)
            // What was in work when 1 was taken back has ended meanwhile, and 3 comes after 2.
            next.sendAhead(3)
            permit.give()
        }
        #expect(taken == (2, 2))
        #expect(take() == (3, 1))
        #expect(!permit.take())
    }

    @Test func ofTwoItemsThatArrivedTheLaterOneIsTakenBack() {
        next.sendAhead(1)
        permit.give()
        let taken = take {
            #expect(next.withdraw() == 1)
            next.sendAhead(2)
            next.sendAhead(3)
            #expect(next.withdraw() == 3)
        }
        #expect(taken == (2, 2))
        #expect(next.withdraw() == nil)
        #expect(!permit.take())
    }

    @Test func thePermitOfWhatComesAfterTheNextItemIsLeft() {
        next.sendAhead(1)
        permit.give()
        let taken = take {
            #expect(next.withdraw() == 1)
            next.give(2)
            next.sendAhead(3)
        }
        #expect(taken == (2, 1))
        #expect(permit.take())
        permit.give()
        #expect(take() == (3, 1))
    }

    @Test func whatIsTakenBackMayBeTheItemAfterTheOneThatBegins() {
        next.sendAhead(1)
        permit.give()
        let taken = take {
            next.sendAhead(2)
            #expect(next.withdraw() == 2)
        }
        #expect(taken == (1, 1))
        #expect(!permit.take())
        #expect(next.withdraw() == nil)
    }
}
