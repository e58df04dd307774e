package import Inference

/// Runs an image-to-image model over a picture tile by tile: the same values as in one go, but for rounding, where the
/// margin is as large as the model looks.
package enum TiledRun {
    /// - Parameters:
    ///   - picture: float32 `[1, channels, height, width]`.
    ///   - plan: For a picture of that size.
    ///   - least: What the model takes at least: a smaller tile's last column and row are repeated, and what comes of these is
    ///     cut off.
    ///   - largestBytes: What the result may have together with `heldBytes`.
    ///   - heldBytes: Bytes that are held beside it.
    ///   - model: Gives for a tile `[1, c, h, w]` the result `[1, d, h * factor, w * factor]`, with one whole factor.
    /// - Returns: float32 `[1, d, height * factor, width * factor]`.
    /// - Throws: `mismatch` for other shapes, `memoryShare`, and what `model` throws.
    package static func run(
        _ picture: Tensor, plan: TilePlan, least: (width: Int, height: Int) = (1, 1), largestBytes: Int = 1 << 31,
        heldBytes: Int = 0, model: (Tensor) throws(DataError) -> Tensor
    ) throws(DataError) -> Tensor {
        guard picture.elementType == .float32, picture.shape.count == 4, picture.shape[0] == 1,
            picture.shape[2] == plan.height, picture.shape[3] == plan.width
        else {
            throw .mismatch(
                "A picture of the shape [1, channels, \(plan.height), \(plan.width)] was planned for, and not "
                    + "\(picture.shape) of \(picture.elementType.rawValue).")
        }
        var joined: JoinedTiles?
        for tile in plan.tiles {
            let seen = (width: max(tile.width, least.width), height: max(tile.height, least.height))
            let result = try model(try Self.cut(picture, tile, seen))
            if joined == nil {
                joined = try JoinedTiles(result, of: seen, in: plan, largestBytes: largestBytes, heldBytes: heldBytes)
            }
            try joined?.add(result, of: tile, seen)
        }
        guard let joined else { preconditionFailure("a plan without tiles") }
        return try joined.tensor()
    }

    private static func cut(
        _ picture: Tensor, _ tile: TilePlan.Tile, _ seen: (width: Int, height: Int)
    ) throws(DataError) -> Tensor {
        let (channels, height, width) = (picture.shape[1], picture.shape[2], picture.shape[3])
        if seen == (width, height) { return picture }
        let size = MemoryLayout<Float>.stride
        return try asDataError { () throws(ModelError) in
            try Tensor(.float32, shape: [1, channels, seen.height, seen.width]) { target throws(ModelError) in
                try picture.withBytes { source in
                    for row in 0..<(channels * seen.height) {
                        let (channel, y) = row.quotientAndRemainder(dividingBy: seen.height)
                        let line = channel * height + tile.y + min(y, tile.height - 1)
                        let from = (line * width + tile.x) * size
                        let to = row * seen.width * size
                        let end = from + tile.width * size
                        target[to..<(to + tile.width * size)].copyBytes(from: source[from..<end])
                        for x in tile.width..<max(seen.width, tile.width) {
                            target[(to + x * size)..<(to + (x + 1) * size)].copyBytes(from: source[(end - size)..<end])
                        }
                    }
                }
            }
        }
    }
}

/// The kept parts of the results, put together.
private struct JoinedTiles {
    private let channels: Int
    private let factor: Int
    private let width: Int
    private let height: Int
    private var values: [Float]

    /// - Throws: `mismatch` where the first result is none of a picture, `memoryShare`, `tooLarge`.
    init(
        _ result: Tensor, of seen: (width: Int, height: Int), in plan: TilePlan, largestBytes: Int, heldBytes: Int
    ) throws(DataError) {
        guard result.shape.count == 4, result.shape[2] >= seen.height, result.shape[2] % seen.height == 0 else {
            throw Self.mismatch(result, seen)
        }
        channels = result.shape[1]
        factor = result.shape[2] / seen.height
        width = plan.width * factor
        height = plan.height * factor
        let shape = [1, channels, height, width]
        let count = try asDataError { () throws(ModelError) in try Extents.count(shape) }
        guard count <= (largestBytes - heldBytes) / MemoryLayout<Float>.stride else {
            let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: MemoryLayout<Float>.stride)
            let (sum, overflow) = bytes.addingReportingOverflow(heldBytes)
            throw .memoryShare(isTooLarge || overflow ? .max : sum, of: largestBytes)
        }
        values = [Float](repeating: 0, count: count)
    }

    private static func mismatch(_ result: Tensor, _ seen: (width: Int, height: Int)) -> DataError {
        .mismatch("The model makes \(result.shape) of a tile of \(seen.width) × \(seen.height) pixels.")
    }

    mutating func add(
        _ result: Tensor, of tile: TilePlan.Tile, _ seen: (width: Int, height: Int)
    ) throws(DataError) {
        guard result.shape == [1, channels, seen.height * factor, seen.width * factor], result.elementType == .float32
        else { throw Self.mismatch(result, seen) }
        let part = result.elements(as: Float.self)
        let (left, top) = ((tile.keptX - tile.x) * factor, (tile.keptY - tile.y) * factor)
        for channel in 0..<channels {
            for y in 0..<(tile.keptHeight * factor) {
                let from = ((channel * seen.height * factor) + top + y) * seen.width * factor + left
                let to = (channel * height + tile.keptY * factor + y) * width + tile.keptX * factor
                values.replaceSubrange(
                    to..<(to + tile.keptWidth * factor), with: part[from..<(from + tile.keptWidth * factor)])
            }
        }
    }

    func tensor() throws(DataError) -> Tensor {
        try asDataError { () throws(ModelError) in
            try Tensor(.float32, shape: [1, channels, height, width], elements: values)
        }
    }
}
