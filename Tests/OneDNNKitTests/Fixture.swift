import OneDNNKit
import SeededNumbers
import Testing

/// An engine, a stream and random numbers of one seed.
struct Fixture {
    let engine: CPUEngine
    let stream: CPUStream
    var generator: SeededGenerator

    init(seed: UInt64) throws {
        engine = try CPUEngine()
        stream = try CPUStream(on: engine)
        generator = SeededGenerator(seed: seed)
    }

    mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[pick(0...(choices.count - 1))] }

    // Executes with row-major inputs by their part (the destination too, where it is read), put into whatever layout the
    // primitive wants, and brings the destination back to row-major.
    func run(
        _ operation: some PrimitiveOperation, with attributes: Attributes = Attributes(), _ inputs: [Argument: Tensor]
    ) throws -> Tensor {
        let primitive = try Primitive(operation, attributes, on: engine)
        return try run(primitive, inputs)
    }

    func run(_ primitive: Primitive, _ inputs: [Argument: Tensor]) throws -> Tensor {
        var operands: [Operand] = []
        var output: (AlignedBuffer, MemoryDescriptor)?
        for parameter in primitive.parameters {
            let descriptor = parameter.descriptor
            let buffer: AlignedBuffer
            if let tensor = inputs[parameter.argument] {
                try #require(tensor.dimensions == descriptor.dimensions)
                let plain = try MemoryDescriptor(descriptor.dimensions, descriptor.type)
                buffer = try reordered(tensor.buffer(descriptor.type), plain, to: descriptor)
            } else {
                try #require(parameter.argument == .destination, "\(parameter.argument) is not given")
                buffer = AlignedBuffer(byteCount: descriptor.byteCount)
                // What stands there must not matter.
                buffer.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0xFF) }
            }
            if parameter.argument == .destination {
                operands.append(.output(buffer))
                output = (buffer, descriptor)
            } else {
                operands.append(.input(parameter.argument, buffer))
            }
        }
        try stream.execute(primitive, operands)
        let (buffer, descriptor) = try #require(output)
        let plain = try MemoryDescriptor(descriptor.dimensions, descriptor.type)
        return Tensor(try reordered(buffer, descriptor, to: plain), plain.dimensions, plain.type)
    }

    func reordered(
        _ buffer: AlignedBuffer, _ source: MemoryDescriptor, to destination: MemoryDescriptor
    ) throws -> AlignedBuffer {
        guard source != destination else { return buffer }
        let result = AlignedBuffer(byteCount: destination.byteCount)
        let reorder = try Primitive(Reorder(source, to: destination), on: engine)
        try stream.execute(reorder, [.input(.source, buffer), .output(result)])
        return result
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips visibly on processors without instructions for it; where there is no engine at all, the test fails by itself.
    static var needsBF16: Self {
        .enabled(if: (try? CPUEngine())?.hasBF16 ?? true, "the processor has no bfloat16 instructions")
    }
}

/// A result in double precision, and what its error is measured by.
struct Expected {
    var dimensions: [Int]
    /// The exact value of each element.
    var values: [Double]
    /// Sum of the magnitudes of what was added up for it.
    var magnitudes: [Double]
    /// How many products were added up.
    var terms: Int
}

/// The bound for sums of products that are accumulated in float32: each of n terms is rounded at most twice (product,
/// sum), so the error is at most `2 n u / (1 - 2 n u)` times the sum of their magnitudes with u = 2^-24 (Higham,
/// Accuracy and Stability of Numerical Algorithms, section 3.1); 8 more for what follows. Operands of bfloat16 are
/// exact, a destination of bfloat16 rounds once more, by at most 2^-8 of the value (chopped or not).
func expectSums(
    _ actual: Tensor, _ expected: Expected, _ note: String, _ type: DataType = .float32,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(actual.dimensions == expected.dimensions, "\(note)", sourceLocation: sourceLocation)
    let factor = Double(2 * expected.terms + 8) * 0x1p-24
    let worst = zip(actual.values, zip(expected.values, expected.magnitudes)).enumerated().map { i, pair in
        let (value, (exact, magnitude)) = pair
        let bound = factor * (magnitude + abs(exact)) + (type == .bfloat16 ? 0x1p-8 * abs(exact) : 0) + 0x1p-120
        return (i, value.isNaN ? .infinity : abs(value - exact) / bound, value, exact)
    }.max { $0.1 < $1.1 }
    #expect(
        (worst?.1 ?? .infinity) <= 1, "\(note): element \(worst.map { "\($0)" } ?? "none")",
        sourceLocation: sourceLocation)
}

/// For everything whose error is a fixed share of `scale`, the magnitude of the numbers it is made of.
func expectClose(
    _ actual: Tensor, _ expected: [Double], tolerance: Double, scale: Double = 1, _ note: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(actual.values.count == expected.count, "\(note)", sourceLocation: sourceLocation)
    let worst = zip(actual.values, expected).enumerated().map { i, pair in
        (i, pair.0.isNaN ? .infinity : abs(pair.0 - pair.1) / max(scale, abs(pair.1)), pair.0, pair.1)
    }.max { $0.1 < $1.1 }
    #expect(
        (worst?.1 ?? .infinity) <= tolerance, "\(note): element \(worst.map { "\($0)" } ?? "none")",
        sourceLocation: sourceLocation)
}

/// An integer destination holds the exact value, rounded and saturated; the scale is applied in float32, so a value
/// within `2^-20` of its magnitude (or of 128, where a residual is added) from a tie may go either way.
func expectRounded(
    _ actual: Tensor, _ exact: [Double], _ type: DataType, _ note: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let wrong = zip(actual.values, exact).enumerated().first { _, pair in
        let slack = max(abs(pair.1), 128) * 0x1p-20
        return !(Tensor.rounded(pair.1 - slack, to: type)...Tensor.rounded(pair.1 + slack, to: type)).contains(pair.0)
    }
    #expect(wrong == nil, "\(note)", sourceLocation: sourceLocation)
    #expect(actual.values.count == exact.count, "\(note)", sourceLocation: sourceLocation)
}
