import OneDNNKit
import Testing

extension BinaryFunction {
    static let all: [BinaryFunction] = [.add, .subtract, .multiply, .divide, .minimum, .maximum]

    func callAsFunction(_ a: Double, _ b: Double) -> Double {
        switch self {
        case .add: a + b
        case .subtract: a - b
        case .multiply: a * b
        case .divide: a / b
        case .minimum: min(a, b)
        case .maximum: max(a, b)
        }
    }
}

@Suite struct BinaryTests {
    @Test(arguments: BinaryFunction.all) func eitherOperandIsRepeatedAlongDimensionsOfOne(function: BinaryFunction)
        throws
    {
        for seed in 0..<UInt64(30) {
            var fixture = try Fixture(seed: seed)
            let dimensions = (0..<fixture.pick(1...4)).map { _ in fixture.pick([1, 2, 5, 16, 17]) }
            var operands: [Tensor] = []
            let repeated = fixture.pick(0...2)
            for operand in 0..<2 {
                let shape = dimensions.map { repeated == operand && fixture.pick(0...1) == 1 ? 1 : $0 }
                operands.append(Tensor.random(shape, in: 0.5...2, using: &fixture.generator))
            }
            let target = Tensor(dimensions) { _ in 0 }
            let expected = target.values.indices.map {
                function(operands[0].repeating(target.indices($0)), operands[1].repeating(target.indices($0)))
            }
            let operation = Binary(
                function, try MemoryDescriptor(operands[0].dimensions, .float32),
                try MemoryDescriptor(operands[1].dimensions, .float32),
                destination: try MemoryDescriptor(dimensions, .float32))
            let result = try fixture.run(operation, [.source: operands[0], .secondSource: operands[1]])
            // One rounding; the division may be by a reciprocal, which is another.
            expectClose(result, expected, tolerance: 0x1p-22, "seed \(seed): \(operation)")
        }
    }

    @Test func sumsAreScaledSourceBySource() throws {
        for seed in 0..<UInt64(20) {
            var fixture = try Fixture(seed: seed)
            let dimensions = [fixture.pick(1...3), fixture.pick([3, 16]), fixture.pick(1...6)]
            let count = fixture.pick(1...5)
            let scales = (0..<count).map { _ in Float.random(in: -2...2, using: &fixture.generator) }
            let sources = (0..<count).map { _ in Tensor.random(dimensions, using: &fixture.generator) }
            let descriptor = try MemoryDescriptor(dimensions, .float32)
            let operation = Sum(sources.map { _ in descriptor }, scales: scales, destination: descriptor)
            let expected = sources[0].values.indices.map { i in
                zip(sources, scales).reduce(0) { $0 + Double($1.1) * $1.0.values[i] }
            }
            var inputs: [Argument: Tensor] = [:]
            for (i, source) in sources.enumerated() { inputs[.source(i)] = source }
            // Five products and sums of at most 10.
            expectClose(
                try fixture.run(operation, inputs), expected, tolerance: 100 * 0x1p-24, "seed \(seed): \(operation)")
        }
    }

    @Test func concatenationsKeepEveryElement() throws {
        for seed in 0..<UInt64(40) {
            var fixture = try Fixture(seed: seed)
            let rank = fixture.pick(1...4)
            let axis = fixture.pick(0...(rank - 1))
            let shared = (0..<rank).map { _ in fixture.pick([1, 2, 5, 16]) }
            let sources = (0..<fixture.pick(1...5)).map { _ in
                var dimensions = shared
                dimensions[axis] = fixture.pick([1, 3, 16, 20])
                return Tensor.random(dimensions, using: &fixture.generator)
            }
            var whole = shared
            whole[axis] = sources.reduce(0) { $0 + $1.dimensions[axis] }
            let layout = fixture.pick([MemoryDescriptor.Layout.plain, .channelsLast])
            let operation = Concatenation(
                try sources.map { try MemoryDescriptor($0.dimensions, .float32, layout) }, axis: axis,
                destination: try MemoryDescriptor(whole, .float32, layout))
            var inputs: [Argument: Tensor] = [:]
            for (i, source) in sources.enumerated() { inputs[.source(i)] = source }
            let target = Tensor(whole) { _ in 0 }
            let expected = target.values.indices.map { place in
                var at = target.indices(place)
                var source = 0
                while at[axis] >= sources[source].dimensions[axis] {
                    at[axis] -= sources[source].dimensions[axis]
                    source += 1
                }
                return sources[source].repeating(at)
            }
            #expect(try fixture.run(operation, inputs).values == expected, "seed \(seed): \(operation)")
        }
    }
}

/// Layouts of operands that oneDNN 2.6.3 takes for others.
@Suite struct BinaryLayoutTests {
    /// Each pair of orders, with axes of one element or without, and with a function or a number for each channel behind it.
    @Test func anyOrderOfAnyOperandIsRight() throws {
        var taken = 0
        for seed in 0..<UInt64(300) {
            var fixture = try Fixture(seed: seed)
            let dimensions = (0..<fixture.pick(1...4)).map { _ in fixture.pick([1, 1, 2, 3, 5, 16]) }
            let isRepeated = fixture.pick(0...2) == 0
            func operand(_ isRepeated: Bool) throws -> (Tensor, MemoryDescriptor) {
                let shape = dimensions.map { isRepeated && fixture.pick(0...1) == 0 ? 1 : $0 }
                var strides = shape
                var step = 1
                for axis in shape.indices.shuffled(using: &fixture.generator) {
                    strides[axis] = step
                    step *= shape[axis]
                }
                return (
                    Tensor.random(shape, using: &fixture.generator),
                    try MemoryDescriptor(shape, .float32, strides: strides)
                )
            }
            let (first, second) = (try operand(false), try operand(isRepeated))
            var channels = dimensions.map { _ in 1 }
            if channels.count > 1 { channels[1] = dimensions[1] }
            let shift = Tensor.random(channels, using: &fixture.generator)
            let isShifted = fixture.pick(0...1) == 0
            let operation = Binary(.multiply, first.1, second.1, destination: first.1)
            let attributes = Attributes(isShifted ? [.binary(.add, try MemoryDescriptor(channels, .float32))] : [])
            let expected = first.0.values.indices.map { place in
                let at = first.0.indices(place)
                return first.0.values[place] * second.0.repeating(at) + (isShifted ? shift.repeating(at) : 0)
            }
            var inputs: [Argument: Tensor] = [.source: first.0, .secondSource: second.0]
            if isShifted { inputs[.postOperation(0)] = shift }
            let primitive: Primitive
            do throws(OneDNNError) {
                primitive = try Primitive(operation, attributes, on: fixture.engine)
            } catch {
                // Its loops have no form for every chain.
                #expect(error.code == .unimplemented, "seed \(seed): \(error)")
                continue
            }
            taken += 1
            expectClose(
                try fixture.run(primitive, inputs), expected, tolerance: 0x1p-22,
                "seed \(seed): \(operation) with \(attributes), \(primitive.implementation)")
        }
        #expect(taken > 200)
    }
}
