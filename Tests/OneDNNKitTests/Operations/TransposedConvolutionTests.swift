import OneDNNKit
import Testing

@Suite struct TransposedConvolutionTests {
    /// Every source element adds its multiple of the kernel to the destination.
    @Test(arguments: 1...3) func everyShapeIsWhatPlainLoopsGive(spatialRank: Int) throws {
        for seed in 0..<UInt64(30) {
            var fixture = try Fixture(seed: seed)
            let batch = fixture.pick(1...2)
            let groups = fixture.pick([1, 1, 2])
            let (inputs, outputs) = (fixture.pick([1, 3, 16, 17]), fixture.pick([1, 4, 16, 19]))
            let range = 0..<spatialRank
            let size = range.map { _ in fixture.pick(1...6) }
            let kernel = range.map { _ in fixture.pick(2...4) }
            let window = Window(
                strides: range.map { _ in fixture.pick(1...3) }, dilations: range.map { _ in fixture.pick([1, 1, 2]) },
                paddingBefore: range.map { _ in fixture.pick(0...1) },
                paddingAfter: range.map { _ in fixture.pick(0...1) })
            let outputSize = window.transposedOutputSize(size, kernel: kernel)
            guard outputSize.allSatisfy({ $0 >= 1 }) else { continue }

            let source = Tensor.random([batch, groups * inputs] + size, using: &fixture.generator)
            // As ONNX keeps them: input channels first.
            let stored = Tensor.random([groups, inputs, outputs] + kernel, using: &fixture.generator)
            let bias = Tensor.random([groups * outputs], using: &fixture.generator)
            let shape = Tensor([batch, groups * outputs] + outputSize) { _ in 0 }
            let taps = Tensor(kernel) { _ in 0 }
            var expected = Expected(
                dimensions: shape.dimensions, values: shape.values.indices.map { bias.values[shape.indices($0)[1]] },
                magnitudes: shape.values.indices.map { abs(bias.values[shape.indices($0)[1]]) },
                terms: inputs * taps.values.count + 1)
            for place in source.values.indices {
                let at = source.indices(place)
                let group = at[1] / inputs
                for output in 0..<outputs {
                    for tap in taps.values.indices {
                        let offset = taps.indices(tap)
                        let to = range.map {
                            at[2 + $0] * window.strides[$0] + offset[$0] * window.dilations[$0]
                                - window.paddingBefore[$0]
                        }
                        guard zip(to, outputSize).allSatisfy({ $0 >= 0 && $0 < $1 }) else { continue }
                        let product =
                            source.values[place]
                            * stored.values[(at[1] * outputs + output) * taps.values.count + tap]
                        let target = zip([at[0], group * outputs + output] + to, shape.strides).reduce(0) {
                            $0 + $1.0 * $1.1
                        }
                        expected.values[target] += product
                        expected.magnitudes[target] += abs(product)
                    }
                }
            }

            // The primitive's weights are outputs first, so the stored ones are passed permuted, and laid out.
            let layout = fixture.pick([MemoryDescriptor.Layout.chosenByPrimitive, .plain])
            let hasGroups = groups > 1
            let weightsDimensions = (hasGroups ? [groups] : []) + [outputs, inputs] + kernel
            let primitive = try Primitive(
                TransposedConvolution(
                    try MemoryDescriptor(source.dimensions, .float32, layout),
                    weights: try MemoryDescriptor(weightsDimensions, .float32, .chosenByPrimitive),
                    bias: try MemoryDescriptor([groups * outputs], .float32),
                    destination: try MemoryDescriptor(shape.dimensions, .float32, layout), window: window),
                on: fixture.engine)
            let storedDescriptor = try MemoryDescriptor(
                (hasGroups ? [groups] : []) + [inputs, outputs] + kernel, .float32)
            var axes = Array(0..<storedDescriptor.rank)
            axes.swapAt(hasGroups ? 1 : 0, hasGroups ? 2 : 1)
            let weightsBuffer = try fixture.reordered(
                stored.buffer(.float32), try storedDescriptor.permuted(axes),
                to: try MemoryDescriptor(weightsDimensions, .float32))
            let weights = Tensor(weightsBuffer, weightsDimensions, .float32)
            let result = try fixture.run(primitive, [.source: source, .weights: weights, .bias: bias])
            expectSums(result, expected, "seed \(seed): \(primitive.name)")
        }
    }
}
