import OneDNNKit
import Testing

@Suite struct MatrixProductTests {
    /// A random product, its operands and what plain loops give.
    private struct Product {
        let source: Tensor
        let weights: Tensor
        let bias: Tensor?
        let expected: Expected

        init(
            _ types: (source: DataType, weights: DataType, bias: DataType), zeroPoint: Double = 0,
            range: ClosedRange<Double>? = nil, _ fixture: inout Fixture
        ) {
            let batches = (0..<fixture.pick(0...2)).map { _ in fixture.pick(1...4) }
            let (m, k, n) = (
                fixture.pick(1...40), fixture.pick([1, 3, 16, 64, 100, 257]), fixture.pick([1, 5, 16, 48, 65])
            )
            let shape = Tensor(batches + [m, n]) { _ in 0 }
            // Batch dimensions of the second operand are all there, or all repeated.
            let repeated = fixture.pick(0...1) == 1
            source = Tensor.random(batches + [m, k], types.source, in: range, using: &fixture.generator)
            weights = Tensor.random(
                (repeated ? batches.map { _ in 1 } : batches) + [k, n], types.weights, in: range,
                using: &fixture.generator)
            let biasDimensions = batches.map { _ in 1 } + [1, n]
            bias = fixture.pick(0...1) == 1 ? Tensor.random(biasDimensions, types.bias, using: &fixture.generator) : nil
            var expected = Expected(dimensions: shape.dimensions, values: [], magnitudes: [], terms: k + 1)
            for place in shape.values.indices {
                let at = shape.indices(place)
                var (sum, magnitude) = (bias?.repeating(at) ?? 0, abs(bias?.repeating(at) ?? 0))
                for i in 0..<k {
                    let product =
                        (source.repeating(at.dropLast() + [i]) - zeroPoint)
                        * weights.repeating(at.dropLast(2) + [i, at[at.count - 1]])
                    sum += product
                    magnitude += abs(product)
                }
                expected.values.append(sum)
                expected.magnitudes.append(magnitude)
            }
            self.expected = expected
        }

        var inputs: [Argument: Tensor] {
            var inputs: [Argument: Tensor] = [.source: source, .weights: weights]
            inputs[.bias] = bias
            return inputs
        }

        func operation(
            _ types: (source: DataType, weights: DataType, bias: DataType, destination: DataType),
            weights layout: MemoryDescriptor.Layout
        ) throws -> MatrixProduct {
            MatrixProduct(
                try MemoryDescriptor(source.dimensions, types.source),
                weights: try MemoryDescriptor(weights.dimensions, types.weights, layout),
                bias: try bias.map { try MemoryDescriptor($0.dimensions, types.bias) },
                destination: try MemoryDescriptor(expected.dimensions, types.destination))
        }
    }

    @Test(arguments: [MemoryDescriptor.Layout.plain, .chosenByPrimitive])
    func everyShapeIsWhatPlainLoopsGive(layout: MemoryDescriptor.Layout) throws {
        for seed in 0..<UInt64(60) {
            var fixture = try Fixture(seed: seed)
            let product = Product((.float32, .float32, .float32), &fixture)
            let operation = try product.operation((.float32, .float32, .float32, .float32), weights: layout)
            expectSums(try fixture.run(operation, product.inputs), product.expected, "seed \(seed): \(operation)")
        }
    }

    @Test func operandsMayLieTransposed() throws {
        for seed in 0..<UInt64(20) {
            var fixture = try Fixture(seed: seed)
            let product = Product((.float32, .float32, .float32), &fixture)
            func across(_ tensor: Tensor) throws -> MemoryDescriptor {
                var dimensions = tensor.dimensions
                dimensions.swapAt(dimensions.count - 2, dimensions.count - 1)
                return try MemoryDescriptor(dimensions, .float32).transposed()
            }
            let operation = MatrixProduct(
                try across(product.source), weights: try across(product.weights),
                bias: try product.bias.map { try MemoryDescriptor($0.dimensions, .float32) },
                destination: try MemoryDescriptor(product.expected.dimensions, .float32))
            // The fixture's reorders bring the operands into that layout: the descriptors differ from plain ones.
            expectSums(try fixture.run(operation, product.inputs), product.expected, "seed \(seed): \(operation)")
        }
    }

    @Test(.needsBF16) func bfloat16AccumulatesInFloat32() throws {
        for seed in 0..<UInt64(20) {
            var fixture = try Fixture(seed: seed)
            let product = Product((.bfloat16, .bfloat16, .float32), &fixture)
            let destination = fixture.pick([DataType.float32, .bfloat16])
            let operation = try product.operation(
                (.bfloat16, .bfloat16, .float32, destination), weights: .chosenByPrimitive)
            let result = try fixture.run(operation, product.inputs)
            expectSums(result, product.expected, "seed \(seed): \(operation)", destination)
        }
    }

    @Test func integersAreSummedExactlyThenScaledAndRounded() throws {
        for seed in 0..<UInt64(40) {
            var fixture = try Fixture(seed: seed)
            let type = fixture.pick(fixture.engine.hasExactInt8 ? [DataType.uint8, .int8] : [.uint8])
            var attributes = Attributes()
            attributes.sourceZeroPoint = fixture.pick([0, 7])
            let range: ClosedRange<Double>? = fixture.engine.hasExactInt8 ? nil : 0...60
            let product = Product(
                (type, .int8, .float32), zeroPoint: Double(attributes.sourceZeroPoint), range: range, &fixture)
            let destination = fixture.pick([DataType.float32, .int8, .uint8])
            let size = product.expected.values.map(abs).max() ?? 1
            let scale = Float(100 / max(size, 1))
            attributes.outputScale = .common(scale)
            attributes.destinationZeroPoint = destination == .uint8 ? 90 : 0
            let operation = try product.operation((type, .int8, .float32, destination), weights: .chosenByPrimitive)
            let exact = product.expected.values.map { $0 * Double(scale) + Double(attributes.destinationZeroPoint) }
            let result = try fixture.run(operation, with: attributes, product.inputs)
            let note = "seed \(seed): \(operation) with \(attributes)"
            if destination == .float32 {
                // A bias of float32 is added to the sum in float32: relative to the largest sum, which scales to 100.
                expectClose(result, exact, tolerance: 0x1p-21, scale: 100, note)
            } else {
                let wrong = zip(result.values, exact).contains { value, exact in
                    let slack = 100 * 0x1p-21
                    return value < Tensor.rounded(exact - slack, to: destination)
                        || value > Tensor.rounded(exact + slack, to: destination)
                }
                #expect(!wrong, "\(note)")
            }
        }
    }

    @Test func innerProductsAreProductsWithTheWeightsAcross() throws {
        for seed in 0..<UInt64(20) {
            var fixture = try Fixture(seed: seed)
            let (n, c, o) = (fixture.pick(1...9), fixture.pick([1, 5, 16, 70]), fixture.pick([1, 10, 33]))
            let spatial = fixture.pick([[], [3, 2], [4, 4]])
            let source = Tensor.random([n, c] + spatial, using: &fixture.generator)
            let weights = Tensor.random([o, c] + spatial, using: &fixture.generator)
            let bias = Tensor.random([o], using: &fixture.generator)
            let k = weights.values.count / o
            var expected = Expected(dimensions: [n, o], values: [], magnitudes: [], terms: k + 1)
            for row in 0..<n {
                for column in 0..<o {
                    let products = (0..<k).map { source.values[row * k + $0] * weights.values[column * k + $0] }
                    expected.values.append(products.reduce(bias.values[column], +))
                    expected.magnitudes.append(products.reduce(abs(bias.values[column])) { $0 + abs($1) })
                }
            }
            let operation = InnerProduct(
                try MemoryDescriptor(source.dimensions, .float32, .chosenByPrimitive),
                weights: try MemoryDescriptor(weights.dimensions, .float32, .chosenByPrimitive),
                bias: try MemoryDescriptor([o], .float32), destination: try MemoryDescriptor([n, o], .float32))
            let result = try fixture.run(operation, [.source: source, .weights: weights, .bias: bias])
            expectSums(result, expected, "seed \(seed): \(operation)")
        }
    }
}
