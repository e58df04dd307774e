import Inference
import Testing

@Suite struct ArenaPlanTests {
    @Test(arguments: 1...50) func buffersThatAreNeededTogetherDoNotOverlap(seed: UInt64) {
        var fixture = GraphFixture(seed: seed)
        let requests = (0..<fixture.pick(1...60)).map { _ in
            let first = fixture.pick(0...40)
            return ArenaPlan.Request(byteCount: fixture.pick(0...5000), steps: first...(first + fixture.pick(0...10)))
        }
        let plan = ArenaPlan(requests)
        for (one, offset) in plan.offsets.enumerated() {
            #expect(offset % ArenaPlan.alignment == 0)
            #expect(offset + requests[one].byteCount <= plan.byteCount)
            for other in 0..<one where requests[one].steps.overlaps(requests[other].steps) {
                #expect(
                    offset + requests[one].byteCount <= plan.offsets[other]
                        || plan.offsets[other] + requests[other].byteCount <= offset,
                    "seed \(seed): \(one) and \(other)")
            }
        }
        let alive = (0...50).map { step in
            requests.reduce(0) { $0 + ($1.steps.contains(step) ? $1.byteCount : 0) }
        }
        #expect(plan.byteCount >= alive.max() ?? 0)
    }

    @Test func whatLiesWithinAnotherTakesNoRoomOfItsOwn() throws {
        let first = try #require(
            BufferNesting().adding(
                Joint(buffer: 2, parts: [.init(buffer: 0, offset: 0), .init(buffer: 1, offset: 640)])))
        #expect(first.adding(Joint(buffer: 3, parts: [.init(buffer: 1, offset: 0)])) == nil)
        let both = try #require(first.adding(Joint(buffer: 3, parts: [.init(buffer: 2, offset: 128)])))
        let place = both.place(of: 1)
        #expect(place.whole == 3 && place.offset == 768)
        let plan = ArenaPlan([640, 640, 1280, 1408, 64].map { .init(byteCount: $0, steps: 0...0) }, both)
        #expect(plan.byteCount == 1408 + 64)
        #expect(plan.offsets.prefix(4).map { $0 - plan.offsets[3] } == [128, 768, 128, 0])
    }

    @Test func aChainTakesTheRoomOfItsLargestNeighbours() {
        // Each buffer is read by the next step: two at a time.
        let sizes = [640, 1280, 320, 640]
        let plan = ArenaPlan(sizes.enumerated().map { .init(byteCount: $1, steps: $0...($0 + 1)) })
        #expect(plan.byteCount == 1920)
        #expect(ArenaPlan([]).byteCount == 0)
    }
}
