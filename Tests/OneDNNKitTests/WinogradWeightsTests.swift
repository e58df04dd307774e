import OneDNNKit
import SeededNumbers
import Testing

/// Weights in Winograd's form are those that oneDNN's own reorder makes.
@Suite(.needsWinograd) struct WinogradWeightsTests {
    /// Images, channels, filters, rows and columns: each of oneDNN's orders, with one and with several blocks in a group.
    private static let cases: [[Int]] = [
        [1, 64, 64, 128], [1, 64, 256, 128], [1, 128, 128, 112], [1, 256, 256, 56], [1, 16, 32, 200], [1, 96, 96, 56],
        [1, 64, 64, 56], [1, 128, 128, 28], [1, 48, 80, 56], [1, 256, 256, 14], [8, 128, 256, 7], [1, 512, 512, 28],
    ]

    @Test(arguments: cases) func theyAreThoseOfTheReorder(_ shape: [Int]) throws {
        var fixture = try Fixture(seed: 4)
        let (images, channels, filters, side) = (shape[0], shape[1], shape[2], shape[3])
        func any(_ dimensions: [Int]) throws -> MemoryDescriptor {
            try MemoryDescriptor(dimensions, .float32, .chosenByPrimitive)
        }
        var operation = Convolution(
            try any([images, channels, side, side]), weights: try any([filters, channels, 3, 3]),
            destination: try any([images, filters, side, side]),
            window: Window(strides: [1, 1], paddingBefore: [1, 1], paddingAfter: [1, 1]))
        operation.algorithm = .winograd
        let primitive = try Primitive(operation, on: fixture.engine)
        let weights = Tensor.random([filters, channels, 3, 3], using: &fixture.generator)
        let plain = try MemoryDescriptor(weights.dimensions, .float32)
        let buffer = weights.buffer(.float32)
        let target = try #require(primitive.descriptor(of: .weights))
        let winograd = try #require(WinogradWeights(plain, to: target), "\(target)")
        let made = AlignedBuffer(byteCount: target.byteCount)
        buffer.withUnsafeBytes { winograd.lay($0, plain, into: made) }
        let expected = try fixture.reordered(buffer, plain, to: target)
        let numbers = { (buffer: AlignedBuffer) in buffer.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) } }
        let wrong = zip(numbers(made), numbers(expected)).enumerated().first { !(abs($1.0 - $1.1) < 1e-6) }
        #expect(wrong == nil)
        #expect(numbers(expected).contains { abs($0) > 0.1 })
    }
}
