import Inference
import Testing

@Suite struct StridedViewTests {
    /// Offsets of all elements in row-major order.
    private func offsets(_ shape: [Int], _ strides: [Int]) -> [Int] {
        zip(shape, strides).reduce([0]) { list, axis in
            list.flatMap { start in (0..<axis.0).map { start + $0 * axis.1 } }
        }
    }

    @Test(arguments: 1...300) func anotherShapeHasTheSameElements(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = (0..<fixture.pick(1...4)).map { _ in fixture.pick([1, 2, 3, 4]) }
        let order = shape.indices.shuffled(using: &fixture.random)
        var strides = shape
        // Now and then there is something between the elements.
        var step = fixture.pick([1, 1, 2])
        for axis in order {
            strides[axis] = step
            step *= shape[axis] * fixture.pick([1, 1, 1, 2])
        }
        var rest = shape.reduce(1, *)
        var target: [Int] = []
        while rest > 1 || target.isEmpty || fixture.pick(0...2) == 0 {
            let extent = fixture.pick((1...rest).filter { rest % $0 == 0 })
            target.append(extent)
            rest /= extent
        }
        let found = StridedView.strides(shape, strides, as: target)
        // It can be done without moving just where some strides give the same offsets.
        let wanted = offsets(shape, strides)
        var steps = target.map { _ in 0 }
        var size = 1
        for axis in target.indices.reversed() {
            if target[axis] > 1 { steps[axis] = wanted[size] - wanted[0] }
            size *= target[axis]
        }
        if offsets(target, steps) == wanted {
            let found = try #require(found, "seed \(seed): \(shape) with \(strides) as \(target)")
            #expect(offsets(target, found) == wanted, "seed \(seed): \(shape) with \(strides) as \(target)")
        } else {
            #expect(found == nil, "seed \(seed): \(shape) with \(strides) as \(target)")
        }
    }

    @Test func axesThatAreMerged() {
        #expect(StridedView.mergedAxes([2, 3, 4, 5], as: [6, 4, 5]) == [[0, 1], [2], [3]])
        #expect(StridedView.mergedAxes([2, 1, 3], as: [2, 3]) == [[0], [1, 2]])
        #expect(StridedView.mergedAxes([4, 3], as: [2, 6]) == nil)
        #expect(StridedView.mergedAxes([6], as: [2, 3]) == nil)
    }
}
