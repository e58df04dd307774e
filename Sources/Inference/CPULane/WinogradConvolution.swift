import Kernels
import OneDNNKit

/// A convolution of 3 × 3 taps with stride 1 by winograd_blocks.cl, which multiplies four times less than the direct form and
/// rounds a little otherwise. Where a value is not finite, no result of its tile of 4 × 4 is.
struct WinogradConvolution: Sendable, CustomStringConvertible {
    /// N × C × H × W of float32, in blocks of channels or with these last.
    let source: MemoryDescriptor
    /// O × 36 × C numbers: O × C × 3 × 3 as the kernel wants them, with filters of zeros up to a whole block.
    let weights: MemoryDescriptor
    /// N × O × H × W in blocks of channels; so lies a residual.
    let destination: MemoryDescriptor
    /// What becomes of a result in the same pass.
    var end = End() {
        didSet {
            parameters.has_residual = end.addsResidual ? 1 : 0
            (parameters.slope, parameters.low, parameters.high) = (end.slope, end.low, end.high)
        }
    }

    private let kernels: bg_cpu_inference_kernels
    private var parameters: bg_winograd_blocks_params

    /// A result r becomes `min(max(max(r, slope * r), low), high)`.
    struct End: Sendable {
        /// Whether a value of the destination's shape is added to r first.
        var addsResidual = false
        var slope: Float = 1
        var low = -Float.infinity
        var high = Float.infinity
    }

    /// Nil where the form does not fit, is slower than the direct one, or where this processor has no kernel.
    ///
    /// - Parameters:
    ///   - geometry: Of two spatial axes.
    ///   - input: N × C × H × W. Taken as it lies where channels are last, and else in blocks.
    ///   - weights: O × C × 3 × 3.
    ///   - output: N × O × H × W.
    ///   - engine: Whose layout of channels the values have.
    /// - Throws: What descriptors do.
    init?(
        _ geometry: WindowGeometry, _ input: MemoryDescriptor, weights: [Int], output: [Int], on engine: CPUEngine
    ) throws(OneDNNError) {
        let block = engine.channelBlock
        let (isLast, input) = (try input == input.with(.channelsLast), input.dimensions)
        let filters = (weights[0] + block - 1) / block * block
        guard let table = bg_kernels_for(block == 16 ? BG_ISA_AVX512 : BG_ISA_AVX2) else { return nil }
        kernels = table.pointee.inference
        guard kernels.block == block, weights.count == 4, weights[2...] == [3, 3], input[1] == weights[1],
            geometry.strides == [1, 1], geometry.dilations == [1, 1], weights[1].isMultiple(of: block),
            output[0] * output[2] * output[3] >= Self.fewestResults(filters: weights[0], channels: weights[1], block),
            // So that the kernel's indices are of 32 bits.
            weights.allSatisfy({ $0 < 1 << 14 }), (input + output).allSatisfy({ $0 < 1 << 20 }),
            input.reduce(1, *) < 1 << 31, output[0] * filters * output[2] * output[3] < 1 << 31
        else { return nil }
        parameters = bg_winograd_blocks_params()
        (parameters.images, parameters.channels, parameters.filters) = (
            Int32(input[0]), Int32(input[1]), Int32(filters)
        )
        (parameters.height, parameters.width) = (Int32(input[2]), Int32(input[3]))
        (parameters.rows, parameters.columns) = (Int32(output[2]), Int32(output[3]))
        (parameters.pad_y, parameters.pad_x) = (Int32(geometry.padsBefore[0]), Int32(geometry.padsBefore[1]))
        (parameters.pixel_step, parameters.block_step) =
            isLast ? (Int32(input[1]), Int32(block)) : (Int32(block), Int32(input[2] * input[3] * block))
        parameters.tiles = Int32(Self.tilesAtOnce(filters: weights[0], channels: weights[1]))
        (parameters.slope, parameters.low, parameters.high) = (end.slope, end.low, end.high)
        source = try MemoryDescriptor(input, .float32, isLast ? .channelsLast : .channelBlocks(of: block))
        self.weights = try MemoryDescriptor([filters, Self.elements, weights[1]], .float32)
        destination = try MemoryDescriptor(output, .float32, .channelBlocks(of: block))
    }

    /// Numbers of a transformed tile.
    private static let elements = 36

    /// From some 7 × 7 results on it takes 0.3 to 0.7 of the direct form's time (one thread of an AMD EPYC, AVX-512 and AVX2).
    /// With AVX-512 the direct form is as fast as large weights, which are four times as large here, can be fetched for so few.
    private static func fewestResults(filters: Int, channels: Int, _ block: Int) -> Int {
        block == 16 && filters * channels > 1 << 16 ? 100 : 40
    }

    /// Tiles that are transformed before all weights pass by: more where those are too large for the second-level cache.
    private static func tilesAtOnce(filters: Int, channels: Int) -> Int {
        filters * channels >= 1 << 17 ? 36 : 12
    }

    /// Bytes to work in.
    var scratchByteCount: Int {
        Self.elements * Int(parameters.tiles) * (Int(parameters.channels) + 2 * Int(kernels.block)) * 4
    }

    /// `2 * N * O * C * 9 * H * W` of the destination, as the direct form has them, and one more for a bias.
    var floatingPointOperations: Int { destination.elementCount * (18 * Int(parameters.channels) + 1) }

    var description: String {
        "convolution of \(source) with 3x3 to \(destination), Winograd's form"
    }

    /// Weights as the kernel wants them, from `taps`: O × C × 3 × 3, row-major.
    func packed(_ taps: UnsafeRawBufferPointer) -> PackedWeights {
        PackedWeights(as: weights) { target in
            withUnsafePointer(to: parameters) { parameters in
                let perFilter = weights.dimensions[2] * 9
                filled(taps, of: destination.dimensions[1] * perFilter, to: weights.dimensions[0] * perFilter) {
                    kernels.winograd_weights($0, target.bindMemory(to: Float.self).baseAddress, parameters)
                }
            }
        }
    }

    /// - Parameters:
    ///   - operands: Source, weights, a bias of O numbers and, where the end wants one, a residual.
    ///   - target: As the destination says.
    ///   - scratch: To work in.
    /// - Throws: `damaged` where one of them has too few bytes.
    func compute(
        _ operands: [UnsafeRawBufferPointer], to target: UnsafeMutableRawBufferPointer,
        in scratch: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        let wanted = [source.byteCount, weights.byteCount, destination.dimensions[1] * 4, destination.byteCount]
        guard operands.count == (end.addsResidual ? 4 : 3), zip(operands, wanted).allSatisfy({ $0.count >= $1 }),
            target.count >= destination.byteCount, scratch.count >= scratchByteCount
        else { throw .damaged("operands of \(operands.map(\.count)) bytes are too small") }
        let parts = operands.map { $0.bindMemory(to: Float.self).baseAddress }
        withUnsafePointer(to: parameters) { parameters in
            filled(operands[2], of: destination.dimensions[1], to: weights.dimensions[0]) {
                kernels.winograd(
                    parts[0], parts[1], $0, end.addsResidual ? parts[3] : nil,
                    target.bindMemory(to: Float.self).baseAddress, scratch.bindMemory(to: Float.self).baseAddress,
                    parameters)
            }
        }
    }

    /// The first `count` numbers, with zeros up to `more` behind them.
    private func filled(
        _ bytes: UnsafeRawBufferPointer, of count: Int, to more: Int, _ body: (UnsafePointer<Float>?) -> Void
    ) {
        let numbers = bytes.bindMemory(to: Float.self)
        if count == more { return body(numbers.baseAddress) }
        let filled = Array(numbers.prefix(count)) + repeatElement(0, count: more - count)
        filled.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
