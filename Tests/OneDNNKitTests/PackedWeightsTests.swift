import OneDNNKit
import SeededNumbers
import Testing

@Suite struct PackedWeightsTests {
    private let fixture: Fixture
    private let weights: Tensor
    private let plain: MemoryDescriptor

    init() throws {
        var fixture = try Fixture(seed: 9)
        weights = Tensor.random([24, 16, 3, 3], using: &fixture.generator)
        plain = try MemoryDescriptor(weights.dimensions, .float32)
        self.fixture = fixture
    }

    private func primitive(_ type: DataType = .float32, outputs: Int = 24) throws -> Primitive {
        func any(_ dimensions: [Int]) throws -> MemoryDescriptor {
            try MemoryDescriptor(dimensions, type, .chosenByPrimitive)
        }
        let operation = Convolution(
            try any([1, 16, 10, 10]), weights: try any([outputs, 16, 3, 3]), destination: try any([1, outputs, 8, 8]),
            window: Window(strides: [1, 1]))
        return try Primitive(operation, on: fixture.engine)
    }

    private func pack(_ primitive: Primitive) throws -> PackedWeights {
        let target = try #require(primitive.descriptor(of: .weights))
        return try weights.buffer(.float32).withUnsafeBytes {
            try PackedWeights(packing: $0, plain, as: target, on: fixture.stream)
        }
    }

    private func destination(_ primitive: Primitive, _ packed: PackedWeights) throws -> [UInt8] {
        let source = try #require(primitive.descriptor(of: .source))
        let count = try #require(primitive.descriptor(of: .destination)).byteCount
        let input = Tensor([source.byteCount / 4]) { Double($0 % 7) }.buffer(.float32)
        let output = AlignedBuffer(byteCount: count)
        try fixture.stream.execute(primitive, [.input(.source, input), .input(.weights, packed), .output(output)])
        return output.withUnsafeBytes { Array($0.prefix(count)) }
    }

    private func copy(of packed: PackedWeights, leaving spare: Int = 0) -> AlignedBuffer {
        let copy = AlignedBuffer(byteCount: packed.byteCount + spare)
        copy.withUnsafeMutableBytes { $0.copyBytes(from: packed.heldBytes) }
        return copy
    }

    @Test func bytesThatLieElsewhereGiveTheSameResults() throws {
        let primitive = try primitive()
        let packed = try pack(primitive)
        #expect(packed.descriptor == primitive.descriptor(of: .weights))
        let copy = copy(of: packed)
        let lying = try copy.withUnsafeBytes {
            try PackedWeights(
                lying: UnsafeRawBufferPointer(rebasing: $0.prefix(packed.byteCount)), in: copy, as: packed.descriptor)
        }
        #expect(lying.descriptor == packed.descriptor)
        #expect(lying.heldBytes.baseAddress != packed.heldBytes.baseAddress)
        let expected = try destination(primitive, packed)
        #expect(try destination(primitive, lying) == expected)
        #expect(Set(expected).count > 100)
    }

    @Test func bytesOfAnotherLengthOrPlaceAreRefused() throws {
        let primitive = try primitive()
        let packed = try pack(primitive)
        let copy = copy(of: packed, leaving: 64)
        for range in [0..<(packed.byteCount - 64), 0..<(packed.byteCount + 64), 4..<(packed.byteCount + 4)] {
            let error = #expect(throws: OneDNNError.self) {
                try copy.withUnsafeBytes {
                    try PackedWeights(
                        lying: UnsafeRawBufferPointer(rebasing: $0[range]), in: copy, as: packed.descriptor)
                }
            }
            #expect(error?.code == .weightsForeign, "\(range)")
        }
    }

    @Test func theKeyNamesVersionProcessorAndLayout() throws {
        let key = PackedWeights.key(try pack(primitive()).descriptor, on: fixture.engine)
        #expect(key.contains("\(fixture.engine.version)"))
        #expect(key.contains("\(fixture.engine.instructionSet)"))
        let other = try #require(primitive(outputs: 32).descriptor(of: .weights))
        #expect(PackedWeights.key(other, on: fixture.engine) != key)
    }
}
