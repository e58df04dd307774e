import OneDNNKit
import Testing

@Suite struct PostOperationTests {
    /// Rounding before the chain, as in `expectSums`, and that of at most four steps.
    private func tolerance(_ expected: Expected) -> Double {
        let magnitude = expected.magnitudes.max() ?? 0
        return 2 * (Double(2 * expected.terms + 8) * 0x1p-24 * magnitude + 4 * ElementWiseTests.tolerance)
    }

    /// The operation with its chain; nil where oneDNN says that it has none, which is the one way in which it may fail.
    private func taken(
        _ operation: some PrimitiveOperation, _ chain: PostOperationChain, _ note: String, _ fixture: Fixture
    ) -> Primitive? {
        do throws(OneDNNError) {
            return try Primitive(operation, chain.attributes, on: fixture.engine)
        } catch {
            #expect(error.code == .unimplemented, "\(note): \(error)")
            return nil
        }
    }

    @Test(arguments: [2, 3]) func convolutionsTakeThemInAnyOrder(spatialRank: Int) throws {
        for seed in 0..<UInt64(spatialRank == 2 ? 400 : 60) {
            var fixture = try Fixture(seed: seed)
            let shape = ConvolutionCase(spatialRank: spatialRank, depthwise: seed % 4 == 3, &fixture)
            let source = Tensor.random(shape.sourceDimensions, using: &fixture.generator)
            let weights = Tensor.random(shape.weightsDimensions, using: &fixture.generator)
            let bias = shape.hasBias ? Tensor.random([shape.channels], using: &fixture.generator) : nil
            let residual = Tensor.random(shape.destinationDimensions, using: &fixture.generator)
            let expected = shape.expected(source, weights, bias)
            let chain = try PostOperationChain(
                expected.values, shape.destinationDimensions, channels: 1, residual: residual, &fixture)
            let layout = fixture.pick([MemoryDescriptor.Layout.chosenByPrimitive, .channelsLast, .plain])
            let operation = try shape.operation(
                (.float32, .float32, .float32, .float32), layout, weightsLayout: .chosenByPrimitive)
            let primitive = try Primitive(operation, chain.attributes, on: fixture.engine)
            var inputs = chain.inputs
            (inputs[.source], inputs[.weights], inputs[.bias]) = (source, weights, bias)
            expectClose(
                try fixture.run(primitive, inputs), chain.values, tolerance: tolerance(expected),
                "seed \(seed): \(operation) with \(chain.attributes), \(primitive.implementation)")
        }
    }

    @Test(.needsBF16) func bfloat16TakesThemToo() throws {
        for seed in 0..<UInt64(300) {
            var fixture = try Fixture(seed: seed)
            let shape = ConvolutionCase(spatialRank: 2, depthwise: seed % 4 == 3, &fixture)
            let source = Tensor.random(shape.sourceDimensions, .bfloat16, using: &fixture.generator)
            let weights = Tensor.random(shape.weightsDimensions, .bfloat16, using: &fixture.generator)
            let bias = shape.hasBias ? Tensor.random([shape.channels], using: &fixture.generator) : nil
            let residual = Tensor.random(shape.destinationDimensions, .bfloat16, using: &fixture.generator)
            let expected = shape.expected(source, weights, bias)
            let chain = try PostOperationChain(
                expected.values, shape.destinationDimensions, channels: 1, residual: residual, &fixture)
            let operation = try shape.operation((.bfloat16, .bfloat16, .float32, .bfloat16), .chosenByPrimitive)
            guard let primitive = taken(operation, chain, "seed \(seed)", fixture) else { continue }
            var inputs = chain.inputs
            (inputs[.source], inputs[.weights], inputs[.bias]) = (source, weights, bias)
            // The destination's 8 bits; implementations that keep sums in it between steps round once a step.
            expectClose(
                try fixture.run(primitive, inputs), chain.values,
                tolerance: tolerance(expected) + 0x1p-7, scale: 1 + (chain.values.map(abs).max() ?? 0),
                "seed \(seed): \(operation) with \(chain.attributes), \(primitive.implementation)")
        }
    }

    @Test func productsTakeThemInAnyOrder() throws {
        for seed in 0..<UInt64(300) {
            var fixture = try Fixture(seed: seed)
            let batches = (0..<fixture.pick(0...2)).map { _ in fixture.pick(1...3) }
            let (m, k, n) = (fixture.pick(1...20), fixture.pick([1, 7, 16, 64]), fixture.pick([1, 5, 16, 40]))
            let source = Tensor.random(batches + [m, k], using: &fixture.generator)
            let weights = Tensor.random(batches.map { _ in 1 } + [k, n], using: &fixture.generator)
            let residual = Tensor.random(batches + [m, n], using: &fixture.generator)
            var expected = Expected(dimensions: residual.dimensions, values: [], magnitudes: [], terms: k)
            for place in residual.values.indices {
                let at = residual.indices(place)
                let products = (0..<k).map {
                    source.repeating(at.dropLast() + [$0]) * weights.repeating(at.dropLast(2) + [$0, at[at.count - 1]])
                }
                expected.values.append(products.reduce(0, +))
                expected.magnitudes.append(products.reduce(0) { $0 + abs($1) })
            }
            let chain = try PostOperationChain(
                expected.values, residual.dimensions, channels: residual.dimensions.count - 1, residual: residual,
                &fixture)
            let layout = fixture.pick([MemoryDescriptor.Layout.plain, .chosenByPrimitive])
            let operation = MatrixProduct(
                try MemoryDescriptor(source.dimensions, .float32),
                weights: try MemoryDescriptor(weights.dimensions, .float32, layout),
                destination: try MemoryDescriptor(residual.dimensions, .float32))
            let primitive = try Primitive(operation, chain.attributes, on: fixture.engine)
            var inputs = chain.inputs
            (inputs[.source], inputs[.weights]) = (source, weights)
            expectClose(
                try fixture.run(primitive, inputs), chain.values, tolerance: tolerance(expected),
                "seed \(seed): \(operation) with \(chain.attributes), \(primitive.implementation)")
        }
    }

    /// Operations that are not sums of products: each takes a chain and does it right, or refuses it.
    @Test func othersTakeThemOrRefuse() throws {
        var kinds: Set<String> = []
        for seed in 0..<UInt64(400) {
            var fixture = try Fixture(seed: seed)
            let dimensions = [
                fixture.pick(1...2), fixture.pick([1, 3, 16, 20]), fixture.pick(2...6), fixture.pick(2...6),
            ]
            let layout = fixture.pick([MemoryDescriptor.Layout.plain, .channelsLast])
            func descriptor(_ dimensions: [Int]) throws -> MemoryDescriptor {
                try MemoryDescriptor(dimensions, .float32, layout)
            }
            let source = Tensor.random(dimensions, using: &fixture.generator)
            let second = Tensor.random(dimensions, using: &fixture.generator)
            let doubled = [dimensions[0], dimensions[1], 2 * dimensions[2], 2 * dimensions[3]]
            let same = try descriptor(dimensions)
            var inputs: [Argument: Tensor] = [.source: source]
            let operation: any PrimitiveOperation
            switch fixture.pick(0...7) {
            case 0: operation = ElementWise(.tanh, same)
            case 1:
                operation = Binary(.multiply, same, same, destination: same)
                inputs[.secondSource] = second
            case 2:
                operation = Pooling(
                    .averageWithPadding, same, destination: same, kernel: [3, 3],
                    window: Window(strides: [1, 1], paddingBefore: [1, 1]))
            case 3: operation = Resampling(.linear, same, destination: try descriptor(doubled))
            case 4:
                operation = Reduction(.mean, same, destination: try descriptor(Array(dimensions.prefix(2)) + [1, 1]))
            case 5: operation = Softmax(same, axis: 1)
            case 6:
                operation = TransposedConvolution(
                    same, weights: try MemoryDescriptor([7, dimensions[1], 2, 2], .float32, .chosenByPrimitive),
                    destination: try descriptor([dimensions[0], 7, doubled[2], doubled[3]]),
                    window: Window(strides: [2, 2]))
                inputs[.weights] = Tensor.random([7, dimensions[1], 2, 2], using: &fixture.generator)
            default:
                operation = InnerProduct(
                    same, weights: try MemoryDescriptor([9] + dimensions.dropFirst(), .float32, .chosenByPrimitive),
                    destination: try MemoryDescriptor([dimensions[0], 9], .float32))
                inputs[.weights] = Tensor.random([9] + dimensions.dropFirst(), using: &fixture.generator)
            }
            // The operation by itself has tests of its own; the chain is checked on its result.
            let plain = try fixture.run(operation, inputs)
            let residual = Tensor.random(plain.dimensions, using: &fixture.generator)
            let chain = try PostOperationChain(
                plain.values, plain.dimensions, channels: 1, residual: residual, &fixture)
            inputs.merge(chain.inputs) { $1 }
            guard let primitive = taken(operation, chain, "seed \(seed)", fixture) else { continue }
            kinds.insert("\(Swift.type(of: operation))")
            let terms = Expected(
                dimensions: [], values: [], magnitudes: [Double(dimensions.dropFirst().reduce(1, *))], terms: 800)
            expectClose(
                try fixture.run(primitive, inputs), chain.values, tolerance: tolerance(terms),
                "seed \(seed): \(operation) with \(chain.attributes), \(primitive.implementation)")
        }
        #expect(kinds.isSuperset(of: ["Binary", "InnerProduct", "TransposedConvolution"]), "\(kinds)")
    }

    /// Another operand by channel where nothing lies behind the channels.
    @Test(arguments: [[2, 2, 1, 1], [3, 20, 1], [2, 16, 1, 1, 1], [1, 3, 1, 1], [4, 5]])
    func operandsByChannelOfSinglePixels(dimensions: [Int]) throws {
        var fixture = try Fixture(seed: 1)
        var channels = dimensions.map { _ in 1 }
        channels[1] = dimensions[1]
        let source = Tensor.random(dimensions, using: &fixture.generator)
        let factors = Tensor.random(channels, using: &fixture.generator)
        let shifts = Tensor.random(channels, using: &fixture.generator)
        let (same, operand) = (try MemoryDescriptor(dimensions, .float32), try MemoryDescriptor(channels, .float32))
        let operation = Binary(.multiply, same, operand, destination: same)
        let attributes = Attributes([.binary(.add, operand)])
        let expected = source.values.indices.map { place in
            let at = source.indices(place)
            return source.values[place] * factors.repeating(at) + shifts.repeating(at)
        }
        let result = try fixture.run(
            operation, with: attributes,
            [.source: source, .secondSource: factors, .postOperation(0): shifts])
        // Two roundings.
        expectClose(result, expected, tolerance: 0x1p-22, "\(operation) with \(attributes)")
    }

    @Test func operandsThatLieOtherwiseAreRefused() throws {
        let engine = try CPUEngine()
        func any(_ dimensions: [Int]) throws -> MemoryDescriptor {
            try MemoryDescriptor(dimensions, .float32, .channelsLast)
        }
        let operation = Convolution(
            try any([2, 16, 5, 5]), weights: try MemoryDescriptor([16, 16, 1, 1], .float32, .chosenByPrimitive),
            destination: try any([2, 16, 5, 5]), window: Window(strides: [1, 1]))
        for (dimensions, layout) in [
            ([2, 16, 5, 5], MemoryDescriptor.Layout.plain), ([1, 16, 5, 5], .channelsLast), ([2, 1, 1, 1], .plain),
        ] {
            let operand = try MemoryDescriptor(dimensions, .float32, layout)
            let error = #expect(throws: OneDNNError.self) {
                try Primitive(operation, Attributes([.binary(.add, operand)]), on: engine)
            }
            #expect(error?.code == .unimplemented, "\(dimensions) \(layout)")
        }
    }
}
