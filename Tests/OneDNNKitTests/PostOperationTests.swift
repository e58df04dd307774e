import OneDNNKit
import Testing

@Suite struct PostOperationTests {
    /// Any order of up to four steps behind a convolution or a product, against the same steps in double precision.
    @Test func stepsAreDoneInOrder() throws {
        for seed in 0..<UInt64(60) {
            var fixture = try Fixture(seed: seed)
            let shape = ConvolutionCase(spatialRank: 2, &fixture)
            let dimensions = shape.destinationDimensions
            let source = Tensor.random(shape.sourceDimensions, using: &fixture.generator)
            let weights = Tensor.random(shape.weightsDimensions, using: &fixture.generator)
            let bias = shape.hasBias ? Tensor.random([shape.channels], using: &fixture.generator) : nil
            let residual = Tensor.random(dimensions, using: &fixture.generator)
            var inputs: [Argument: Tensor] = [.source: source, .weights: weights]
            inputs[.bias] = bias
            let plain = shape.expected(source, weights, bias)
            var expected = plain.values
            var attributes = Attributes()
            var summed = false
            for step in 0..<fixture.pick(1...4) {
                switch fixture.pick(0...2) {
                case 0 where !summed:
                    let scale = fixture.pick([Float(1), 0.5])
                    attributes.postOperations.append(.sum(scale: scale))
                    inputs[.destination] = residual
                    expected = zip(expected, residual.values).map { $0 + Double(scale) * $1 }
                    summed = true
                case 1:
                    // Functions that do not enlarge errors.
                    let function = fixture.pick([
                        ElementFunction.relu(), .relu(slope: 0.25), .clip(0, 6), .hardSwish, .swish(), .geluErf,
                        .sigmoid,
                    ])
                    attributes.postOperations.append(.elementWise(function))
                    expected = expected.map { function($0) }
                default:
                    let function = fixture.pick([BinaryFunction.add, .subtract, .multiply, .maximum])
                    let operand = Tensor.random(
                        fixture.pick([dimensions, [1, shape.channels, 1, 1], [1, 1, 1, 1]]), using: &fixture.generator)
                    attributes.postOperations.append(
                        .binary(function, try MemoryDescriptor(operand.dimensions, .float32)))
                    inputs[.postOperation(step)] = operand
                    let target = Tensor(dimensions) { _ in 0 }
                    expected = expected.indices.map { function(expected[$0], operand.repeating(target.indices($0))) }
                }
            }
            let layout = fixture.pick([MemoryDescriptor.Layout.chosenByPrimitive, .channelsLast])
            let operation = try shape.operation(
                (.float32, .float32, .float32, .float32), layout, weightsLayout: .chosenByPrimitive)
            let result = try fixture.run(operation, with: attributes, inputs)
            // The convolution's own bound, see `expectSums`, and that of four functions; none has a slope above 1.13.
            let magnitude = plain.magnitudes.max() ?? 0
            let tolerance =
                2 * (Double(2 * plain.terms + 8) * 0x1p-24 * magnitude + 4 * ElementWiseTests.tolerance)
            expectClose(
                result, expected, tolerance: tolerance, scale: 1, "seed \(seed): \(operation) with \(attributes)")
        }
    }

    @Test func aProductTakesThemToo() throws {
        for seed in 0..<UInt64(20) {
            var fixture = try Fixture(seed: seed)
            let (batch, m, k, n) = (
                fixture.pick(1...3), fixture.pick(1...20), fixture.pick(1...64), fixture.pick(1...40)
            )
            let source = Tensor.random([batch, m, k], using: &fixture.generator)
            let weights = Tensor.random([1, k, n], using: &fixture.generator)
            let residual = Tensor.random([batch, m, n], using: &fixture.generator)
            let factor = Tensor.random([1, 1, n], using: &fixture.generator)
            let attributes = Attributes([
                .elementWise(.geluErf), .binary(.multiply, try MemoryDescriptor([1, 1, n], .float32)), .sum(),
            ])
            let operation = MatrixProduct(
                try MemoryDescriptor([batch, m, k], .float32), weights: try MemoryDescriptor([1, k, n], .float32),
                destination: try MemoryDescriptor([batch, m, n], .float32))
            let expected = residual.values.indices.map { place in
                let at = residual.indices(place)
                let dot = (0..<k).reduce(0) {
                    $0 + source.repeating([at[0], at[1], $1]) * weights.repeating([0, $1, at[2]])
                }
                return ElementFunction.geluErf(dot) * factor.values[at[2]] + residual.values[place]
            }
            let result = try fixture.run(
                operation, with: attributes,
                [.source: source, .weights: weights, .destination: residual, .postOperation(1): factor])
            expectClose(
                result, expected, tolerance: 2 * (Double(2 * k + 8) * 0x1p-24 * Double(k) + ElementWiseTests.tolerance),
                "seed \(seed): \(operation)")
        }
    }
}
