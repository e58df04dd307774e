import OneDNNKit
import Testing

@Suite struct ConvolutionTests {
    @Test(arguments: 1...3) func everyShapeIsWhatPlainLoopsGive(spatialRank: Int) throws {
        for seed in 0..<UInt64(40) {
            var fixture = try Fixture(seed: seed)
            let shape = ConvolutionCase(spatialRank: spatialRank, depthwise: seed % 4 == 3, &fixture)
            let source = Tensor.random(shape.sourceDimensions, using: &fixture.generator)
            let weights = Tensor.random(shape.weightsDimensions, using: &fixture.generator)
            let bias = shape.hasBias ? Tensor.random([shape.channels], using: &fixture.generator) : nil
            let expected = shape.expected(source, weights, bias)
            var inputs: [Argument: Tensor] = [.source: source, .weights: weights]
            inputs[.bias] = bias
            for layout in [MemoryDescriptor.Layout.chosenByPrimitive, .plain, .channelsLast] {
                let operation = try shape.operation(
                    (.float32, .float32, .float32, .float32), layout, weightsLayout: .chosenByPrimitive)
                expectSums(try fixture.run(operation, inputs), expected, "seed \(seed), \(layout): \(shape)")
            }
            let operation = try shape.operation((.float32, .float32, .float32, .float32), .plain)
            expectSums(try fixture.run(operation, inputs), expected, "seed \(seed), weights plain too: \(shape)")
        }
    }

    @Test(.needsBF16) func bfloat16AccumulatesInFloat32() throws {
        for seed in 0..<UInt64(30) {
            var fixture = try Fixture(seed: seed)
            let shape = ConvolutionCase(spatialRank: 2, depthwise: seed % 4 == 3, &fixture)
            let destination = fixture.pick([DataType.bfloat16, .float32])
            let operation = try shape.operation(
                (.bfloat16, .bfloat16, .float32, destination), .chosenByPrimitive)
            let source = Tensor.random(shape.sourceDimensions, .bfloat16, using: &fixture.generator)
            let weights = Tensor.random(shape.weightsDimensions, .bfloat16, using: &fixture.generator)
            let bias = shape.hasBias ? Tensor.random([shape.channels], using: &fixture.generator) : nil
            var inputs: [Argument: Tensor] = [.source: source, .weights: weights]
            inputs[.bias] = bias
            let result = try fixture.run(operation, inputs)
            expectSums(result, shape.expected(source, weights, bias), "seed \(seed): \(shape)", destination)
        }
    }

    @Test func integersAreSummedExactlyThenScaledAndRounded() throws {
        for seed in 0..<UInt64(200) {
            var fixture = try Fixture(seed: seed)
            let shape = ConvolutionCase(spatialRank: 2, depthwise: seed % 5 == 4, &fixture)
            // Elsewhere only sums of two products that fit in 16 bits are exact, and only of uint8.
            let type = fixture.pick(fixture.engine.hasExactInt8 ? [DataType.uint8, .int8] : [.uint8])
            let range: ClosedRange<Double>? = fixture.engine.hasExactInt8 ? nil : 0...60
            let source = Tensor.random(shape.sourceDimensions, type, in: range, using: &fixture.generator)
            let weights = Tensor.random(shape.weightsDimensions, .int8, in: range, using: &fixture.generator)
            let bias =
                shape.hasBias
                ? Tensor.random([shape.channels], .int32, in: -1000...1000, using: &fixture.generator) : nil
            var attributes = Attributes()
            let destination = fixture.pick([DataType.int32, .float32, .uint8, .int8])
            attributes.sourceZeroPoint = fixture.pick([0, 0, 3, 100])
            let exact = shape.expected(source, weights, bias, zeroPoint: Double(attributes.sourceZeroPoint)).values
            var scales = [Float](repeating: 1, count: shape.channels)
            if destination != .int32 {
                let size = Float(exact.map(abs).max() ?? 1)
                let perChannel = fixture.pick(0...1) == 1
                for c in scales.indices {
                    scales[c] =
                        (perChannel ? Float.random(in: 50...150, using: &fixture.generator) : 100) / max(size, 1)
                }
                attributes.outputScale = perChannel ? .perChannel(scales) : .common(scales[0])
                attributes.destinationZeroPoint = destination == .uint8 ? 90 : 0
            }
            let plane = shape.destinationDimensions.dropFirst(2).reduce(1, *)
            let residual = Tensor.random(shape.destinationDimensions, destination, using: &fixture.generator)
            let (hasSum, hasReLU) = (fixture.pick(0...2) == 0, fixture.pick(0...2) == 0)
            if hasSum { attributes.postOperations.append(.sum(scale: 0.75, zeroPoint: destination == .uint8 ? 50 : 0)) }
            if hasReLU { attributes.postOperations.append(.elementWise(.relu())) }
            let scaled = exact.indices.map {
                var value = Double(scales[$0 / plane % shape.channels]) * exact[$0]
                if hasSum { value += 0.75 * (residual.values[$0] - (destination == .uint8 ? 50 : 0)) }
                if hasReLU { value = max(value, 0) }
                return value + Double(attributes.destinationZeroPoint)
            }
            var inputs: [Argument: Tensor] = [.source: source, .weights: weights]
            if hasSum { inputs[.destination] = residual }
            inputs[.bias] = bias
            let operation = try shape.operation((type, .int8, .int32, destination), .chosenByPrimitive)
            let primitive = try Primitive(operation, attributes, on: fixture.engine)
            let result = try fixture.run(primitive, inputs)
            let note =
                "seed \(seed): \(shape), \(attributes), \(type) to \(destination), \(primitive.implementation)"
            if destination == .float32 {
                expectClose(result, scaled, tolerance: 0x1p-20, scale: hasSum ? 100 : 0x1p-30, note)
            } else {
                expectRounded(result, scaled, destination, note)
            }
        }
    }

    @Test func itTellsLayoutsImplementationAndOperations() throws {
        let engine = try CPUEngine()
        func any(_ dimensions: [Int]) throws -> MemoryDescriptor {
            try MemoryDescriptor(dimensions, .float32, .chosenByPrimitive)
        }
        let operation = Convolution(
            try any([1, 64, 56, 56]), weights: try any([64, 64, 3, 3]), bias: try MemoryDescriptor([64], .float32),
            destination: try any([1, 64, 56, 56]), window: Window(strides: [1, 1], paddingBefore: [1, 1]))
        let primitive = try Primitive(operation, Attributes([.elementWise(.relu())]), on: engine)
        #expect(primitive.implementation.isEmpty == false)
        #expect(primitive.floatingPointOperations == 56 * 56 * 64 * (2 * 64 * 9 + 1 + 1))
        for argument in [Argument.source, .weights, .destination] {
            let descriptor = try #require(primitive.descriptor(of: argument))
            #expect(!descriptor.isChosenByPrimitive && descriptor.byteCount >= 4 * descriptor.elementCount)
        }
        #expect(primitive.descriptor(of: .scale) == nil)
        #expect(primitive.parameters.map(\.argument) == [.source, .weights, .bias, .destination])
    }
}
