import Foundation
import OneDNNKit
import Testing

@Suite struct NormalizationTests {
    /// exp is a polynomial in float32 with a few units in the last place of error, and n terms are added.
    private func tolerance(_ count: Int) -> Double { Double(count + 16) * 0x1p-23 }

    @Test func softmaxSumsToOneAlongTheAxis() throws {
        for seed in 0..<UInt64(50) {
            var fixture = try Fixture(seed: seed)
            let dimensions = (0..<fixture.pick(2...4)).map { _ in fixture.pick([1, 2, 7, 16, 33]) }
            let axis = fixture.pick(0...(dimensions.count - 1))
            let isLogarithm = fixture.pick(0...1) == 1
            let source = Tensor.random(dimensions, in: -20...20, using: &fixture.generator)
            let step = source.strides[axis]
            let expected = source.values.indices.map { place in
                let first = place - source.indices(place)[axis] * step
                let line = (0..<dimensions[axis]).map { source.values[first + $0 * step] }
                let largest = line.max() ?? 0
                let sum = line.reduce(0) { $0 + exp($1 - largest) }
                let shifted = source.values[place] - largest
                return isLogarithm ? shifted - log(sum) : exp(shifted) / sum
            }
            let operation = Softmax(try MemoryDescriptor(dimensions, .float32), axis: axis, isLogarithm: isLogarithm)
            // The argument of exp, up to 40, is rounded to 24 bits before: 40 * 2^-24 of the result.
            expectClose(
                try fixture.run(operation, [.source: source]), expected, tolerance: tolerance(dimensions[axis] + 40),
                "seed \(seed): \(operation)")
        }
    }

    @Test func localResponsesAreOverNeighbouringChannels() throws {
        for seed in 0..<UInt64(30) {
            var fixture = try Fixture(seed: seed)
            let dimensions = [
                fixture.pick(1...2), fixture.pick([1, 5, 16, 20]), fixture.pick(1...5), fixture.pick(1...9),
            ]
            let size = fixture.pick([1, 3, 5, 7])
            let source = Tensor.random(dimensions, in: -8...8, using: &fixture.generator)
            let (alpha, beta, bias) = (0.5, fixture.pick([0.5, 0.75]), 2.0)
            let step = source.strides[1]
            let expected = source.values.indices.map { place in
                let channel = source.indices(place)[1]
                let neighbours = max(channel - size / 2, 0)...min(channel + size / 2, dimensions[1] - 1)
                let sum = neighbours.reduce(0.0) { sum, other in
                    let value = source.values[place + (other - channel) * step]
                    return sum + value * value
                }
                return source.values[place] * pow(bias + alpha / Double(size) * sum, -beta)
            }
            let operation = LocalResponseNormalization(
                try MemoryDescriptor(dimensions, .float32), size: size, alpha: Float(alpha), beta: Float(beta),
                bias: Float(bias))
            expectClose(
                try fixture.run(operation, [.source: source]), expected, tolerance: tolerance(size),
                "seed \(seed): \(operation)")
        }
    }

    @Test func localResponsesOverAnEvenNumberOfChannelsAreRefused() throws {
        let source = try MemoryDescriptor([1, 8, 2, 2], .float32)
        let operation = LocalResponseNormalization(source, size: 4, alpha: 1, beta: 0.75, bias: 1)
        let error = #expect(throws: OneDNNError.self) { try Primitive(operation, on: CPUEngine()) }
        #expect(error?.code == .invalidArguments)
    }

    @Test func layerNormalizationIsAlongTheLastDimension() throws {
        for seed in 0..<UInt64(40) {
            var fixture = try Fixture(seed: seed)
            let width = fixture.pick([2, 16, 33, 192])
            let dimensions = (0..<fixture.pick(1...2)).map { _ in fixture.pick(1...9) } + [width]
            let (hasScale, hasShift) = (fixture.pick(0...1) == 1, fixture.pick(0...1) == 1)
            let source = Tensor.random(dimensions, in: -2...3, using: &fixture.generator)
            let scale = Tensor.random([width], using: &fixture.generator)
            let shift = Tensor.random([width], using: &fixture.generator)
            let epsilon = 1e-3
            let expected = source.values.indices.map { place in
                let line = source.values[(place - place % width)..<(place - place % width + width)]
                let mean = line.reduce(0, +) / Double(width)
                let variance = line.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(width)
                let normal = (source.values[place] - mean) / (variance + Double(Float(epsilon))).squareRoot()
                return (hasScale ? scale.values[place % width] : 1) * normal
                    + (hasShift ? shift.values[place % width] : 0)
            }
            var inputs: [Argument: Tensor] = [.source: source]
            if hasScale { inputs[.scale] = scale }
            if hasShift { inputs[.shift] = shift }
            let operation = LayerNormalization(
                try MemoryDescriptor(dimensions, .float32), epsilon: Float(epsilon), hasScale: hasScale,
                hasShift: hasShift)
            // Errors of mean and variance, n + 16 roundings of numbers up to 5, are divided by at least
            // sqrt(epsilon), 0.03; the line's own spread is mostly about 1.4, so 64 covers two close elements too.
            expectClose(
                try fixture.run(operation, inputs), expected, tolerance: 64 * tolerance(width),
                "seed \(seed): \(operation)")
        }
    }
}
