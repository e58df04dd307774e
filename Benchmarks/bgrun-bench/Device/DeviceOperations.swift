import ChunkedCompute
import Foundation
import ImageExport
import OpenCLKit

/// An operation on pictures as the difference between two chains, so that what both have, such as the way to the device and back,
/// does not count.
struct DeviceOperation: Sendable {
    let name: String
    let less: (operations: [ImageOperation], rotation: Double?)
    let more: (operations: [ImageOperation], rotation: Double?)
    /// How often `more` has what `less` lacks.
    let times: Int
    /// Bytes that a pixel moves at least between the device's memory and its processors, each kernel on its own.
    let bytes: Double
    /// Additions, products and comparisons of a pixel.
    let operations: Double

    /// Rows of three planes of floats are 12 bytes a pixel.
    static let all: [DeviceOperation] = [
        // Of each plane, a pixel's share of transforms of 34 operations (two columns a step of four rows; sixteen rows a block, one for
        // eight pixels), three for each of 64 coefficients, six sums for each of a block's eight rows, one between steps; colours 17.
        repeated(
            "denoise", .denoise(Denoising(luma: 0.3, chroma: 0.3)), bytes: 24,
            operations: 3 * (17 + 68 + 24 + 6 + 1) + 17),
        // Luma of the cells, then the pixels.
        repeated(
            "local contrast", .localContrast(LocalContrast(amount: 0.5, reach: 1)), bytes: 12 + 24, operations: 60),
        // Luma twice, ten blurs of two planes into a third, and the pixels with luma and its estimate.
        repeated(
            "deconvolve", .deconvolve(Deconvolution(amount: 1, sigma: 0.8, rounds: 5)), bytes: 20 + 10 * 12 + 32,
            operations: 10 * 14 + 50),
        repeated("grain", .grain(Grain(amount: 0.2, size: 1.7, seed: 5)), bytes: 24, operations: 90),
        // 36 weights for three planes.
        DeviceOperation(
            name: "rotate", less: ([grain], nil), more: ([grain], 1.5), times: 1, bytes: 24,
            operations: 36 * (1 + 2 * 3) + 60),
    ]

    private static let grain = ImageOperation.grain(Grain(amount: 0.2, size: 1.7, seed: 5))

    private static func repeated(
        _ name: String, _ operation: ImageOperation, bytes: Double, operations: Double
    ) -> DeviceOperation {
        DeviceOperation(
            name: name, less: ([operation], nil), more: ([ImageOperation](repeating: operation, count: 5), nil),
            times: 4,
            bytes: bytes, operations: operations)
    }
}

/// A picture that chains run over.
struct ChainBench: Sendable {
    private let size: (width: Int, height: Int)
    private let pixels: [UInt8]

    init(_ size: (width: Int, height: Int)) {
        self.size = size
        // Waves with noise, which a denoising has to do with.
        var state: UInt32 = 1
        pixels = (0..<size.width * size.height * 4).map { place in
            state = state &* 1_664_525 &+ 1_013_904_223
            let (x, y) = (place / 4 % size.width, place / 4 / size.width)
            let wave = (x / 7 + y / 5 + place % 4 * 20) % 64
            return UInt8(96 + wave + Int(state >> 28))
        }
    }

    var pixelCount: Double { Double(size.width * size.height) }

    /// Seconds of the fastest run of a chain through a lane, all of the picture in chunks of `rows` rows.
    func seconds(
        _ chain: (operations: [ImageOperation], rotation: Double?), _ lane: any ImageLane, rows: Int, runs: Int
    ) throws -> Double {
        let plan = ChainPlan(
            chain.operations, width: size.width, height: size.height, isWide: false, content: 1,
            rotation: chain.rotation)
        let stride = size.width * 4
        let (source, target) = (Scratch(), Scratch())
        let base = source.bytes(pixels.count)
        pixels.withUnsafeBytes { base.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: $0.count) }
        let all = RowBand(base: base, strideBytes: stride, firstRow: 0, rowCount: size.height)
        let out = target.bytes(pixels.count)
        return try bestSeconds(of: runs) {
            for row in Swift.stride(from: 0, to: size.height, by: rows) {
                let count = min(rows, size.height - row)
                let needed = plan.sourceRows(for: row..<row + count)
                let band = RowBand(base: out + row * stride, strideBytes: stride, firstRow: row, rowCount: count)
                try lane.develop(plan, source: all.rows(needed.lowerBound, count: needed.count), output: band)
            }
        }
    }
}
