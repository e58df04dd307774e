import Foundation
import OneDNNKit
import SeededNumbers
import Testing

@Suite struct PackedWeightsTests {
    private let fixture: Fixture
    private let folder: URL
    private let weights: Tensor
    private let plain: MemoryDescriptor

    init() throws {
        var fixture = try Fixture(seed: 9)
        weights = Tensor.random([24, 16, 3, 3], using: &fixture.generator)
        plain = try MemoryDescriptor(weights.dimensions, .float32)
        self.fixture = fixture
        folder = FileManager.default.temporaryDirectory.appending(path: "onednn-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
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
        try weights.buffer(.float32).withUnsafeBytes {
            try PackedWeights(packing: $0, plain, for: primitive, on: fixture.stream)
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

    @Test func aFileGivesTheSameResultsAsTheWeightsThemselves() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let primitive = try primitive()
        let packed = try pack(primitive)
        #expect(packed.descriptor == primitive.descriptor(of: .weights))
        let path = folder.appending(path: "weights").path
        try packed.write(to: path)
        let read = try PackedWeights(contentsOf: path, for: primitive)
        #expect(read.key == packed.key)
        let expected = try destination(primitive, packed)
        #expect(try destination(primitive, read) == expected)
        #expect(Set(expected).count > 100)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["weights"])
    }

    @Test func anotherLayoutVersionOrProcessorIsRefused() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let primitive = try primitive()
        let packed = try pack(primitive)
        let path = folder.appending(path: "weights").path
        try packed.write(to: path)
        let error = #expect(throws: OneDNNError.self) {
            try PackedWeights(contentsOf: path, for: self.primitive(outputs: 32))
        }
        #expect(error?.code == .weightsForeign)

        // What another version or processor would have written: the key's words stand in the file.
        for word in [fixture.engine.version.prefix(5), fixture.engine.instructionSet.description.prefix(5)] {
            var bytes = try Data(contentsOf: URL(filePath: path))
            let range = try #require(bytes.range(of: Data(word.utf8)))
            bytes[range.lowerBound] ^= 1
            let other = folder.appending(path: "other")
            try bytes.write(to: other)
            let error = #expect(throws: OneDNNError.self) { try PackedWeights(contentsOf: other.path, for: primitive) }
            #expect(error?.code == .weightsForeign, "\(word)")
        }
    }

    @Test func damageIsFoundWhereverItIs() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let primitive = try primitive()
        let packed = try pack(primitive)
        let whole = folder.appending(path: "weights")
        try packed.write(to: whole.path)
        let bytes = try Data(contentsOf: whole)
        let damaged = folder.appending(path: "damaged")
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<50 {
            var copy = bytes
            copy[Int.random(in: 0..<copy.count, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
            try copy.write(to: damaged)
            #expect(throws: OneDNNError.self) { try PackedWeights(contentsOf: damaged.path, for: primitive) }
            try bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)).write(to: damaged)
            #expect(throws: OneDNNError.self) { try PackedWeights(contentsOf: damaged.path, for: primitive) }
        }
        try (bytes + [0]).write(to: damaged)
        let error = #expect(throws: OneDNNError.self) { try PackedWeights(contentsOf: damaged.path, for: primitive) }
        #expect(error?.code == .weightsDamaged)
        let missing = folder.appending(path: "missing").path
        let missed = #expect(throws: OneDNNError.self) { try PackedWeights(contentsOf: missing, for: primitive) }
        #expect(missed?.code == .fileInaccessible)
        let unwritten = #expect(throws: OneDNNError.self) { try packed.write(to: "\(missing)/weights") }
        #expect(unwritten?.code == .fileInaccessible)
    }
}
