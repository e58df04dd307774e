import ChunkedCompute
import ImageExport

/// What a model does not see of a picture: its alpha, and for a model of one channel its colours. It is resized beside the
/// model, as an export resizes, to the size of what the model makes. Used by one thread.
package final class BypassedPicture {
    package let width: Int
    package let height: Int
    /// Some parts may be clear.
    package let hasAlpha: Bool
    /// The model's input has one channel, and the picture has colours.
    package let hasColors: Bool

    private let lane: any ImageLane
    private let memory = Scratch()
    private let output = Scratch()
    /// nil where the result has the picture's size.
    private var plan: ResizePlan?

    /// Bytes of a pixel: 16-bit R, G, B and straight alpha.
    private static let pixelBytes = 8

    /// - Parameters:
    ///   - picture: All of it, upright and in sRGB, with four samples a pixel.
    ///   - isWide: They have 16 bits, and not 8.
    ///   - width: Pixels of a row.
    ///   - hasAlpha: The fourth sample is straight alpha.
    ///   - hasColors: See ``hasColors``.
    ///   - lane: What resizes it.
    init(_ picture: RowBand, isWide: Bool, width: Int, hasAlpha: Bool, hasColors: Bool, lane: any ImageLane) {
        self.width = width
        height = picture.rowCount
        self.hasAlpha = hasAlpha
        self.hasColors = hasColors
        self.lane = lane
        let band = band
        for y in 0..<height {
            let from = picture.pointer(row: picture.firstRow + y)
            if isWide {
                band.pointer(row: y).copyMemory(from: from, byteCount: band.strideBytes)
            } else {
                PixelConversion.widen(
                    from.assumingMemoryBound(to: UInt8.self),
                    to: band.pointer(row: y).assumingMemoryBound(to: UInt16.self), sampleCount: 4 * width)
            }
        }
        if hasAlpha { giveClearPixelsColors() }
    }

    /// Bytes that it holds.
    package var byteCount: Int { memory.byteCount }

    /// Bytes that it holds at most.
    static func byteCount(width: Int, height: Int, hasAlpha: Bool) -> Int {
        width * (height + 1) * (pixelBytes + (hasAlpha ? MemoryLayout<UInt16>.stride : 0))
    }

    /// The picture, upright and in sRGB: 16-bit R, G, B and straight alpha.
    var band: RowBand {
        let stride = width * Self.pixelBytes
        // Kernels read the row behind the last with weight 0.
        return RowBand(base: memory.bytes(stride * (height + 1)), strideBytes: stride, firstRow: 0, rowCount: height)
    }

    /// Rows are wanted at this size from now on.
    func resize(width: Int, height: Int) {
        plan = nil
        guard (width, height) != (self.width, self.height) else { return }
        // Colours are averaged by how much of them is seen.
        plan = ResizePlan(
            arithmetic: .float,
            columns: Resampling(.init(sourceLength: self.width, outputLength: width)),
            rows: Resampling(.init(sourceLength: self.height, outputLength: height)), curves: .identity, matte: nil)
    }

    /// Rows of the picture at the size that was asked for, four samples a pixel; they are gone with the next call.
    ///
    /// - Throws: When the lane fails.
    func rows(_ first: Int, count: Int) throws(LaneError) -> UnsafePointer<UInt16> {
        let source = band
        guard let plan else { return UnsafePointer(source.pointer(row: first).assumingMemoryBound(to: UInt16.self)) }
        let stride = plan.width * Self.pixelBytes
        let rows = RowBand(
            base: output.bytes(stride * count), strideBytes: stride, firstRow: first, rowCount: count)
        let needed = plan.sourceRows(for: first..<(first + count))
        try lane.resize(plan, source: source.rows(needed.lowerBound, count: needed.count), output: rows)
        return UnsafePointer(rows.base.assumingMemoryBound(to: UInt16.self))
    }

    /// Pixels that are fully clear have no colour of their own. A model looks around each pixel, so that black there would
    /// shine through at the edges of what is seen: they get the colour of about the nearest pixel that is.
    ///
    /// The distance is a chamfer of 3 for a side and 4 for a corner, found in two passes (Borgefors, "Distance Transformations
    /// in Digital Images", 1986).
    private func giveClearPixelsColors() {
        let pixels = band.base.assumingMemoryBound(to: SIMD4<UInt16>.self)
        let count = width * height
        guard (0..<count).contains(where: { pixels[$0].w == 0 }) else { return }
        let scratch = Scratch()
        let distances = scratch.elements(UInt16.self, count)
        for place in 0..<count { distances[place] = pixels[place].w == 0 ? .max : 0 }
        func take(_ place: Int, from other: Int, _ step: UInt16) {
            let (distance, isTooFar) = distances[other].addingReportingOverflow(step)
            guard !isTooFar, distance < distances[place] else { return }
            distances[place] = distance
            pixels[place] = pixels[other]
            pixels[place].w = 0
        }
        for y in 0..<height {
            for x in 0..<width where distances[y * width + x] > 0 {
                let place = y * width + x
                if x > 0 { take(place, from: place - 1, 3) }
                guard y > 0 else { continue }
                take(place, from: place - width, 3)
                if x > 0 { take(place, from: place - width - 1, 4) }
                if x + 1 < width { take(place, from: place - width + 1, 4) }
            }
        }
        for y in (0..<height).reversed() {
            for x in (0..<width).reversed() where distances[y * width + x] > 0 {
                let place = y * width + x
                if x + 1 < width { take(place, from: place + 1, 3) }
                guard y + 1 < height else { continue }
                take(place, from: place + width, 3)
                if x > 0 { take(place, from: place + width - 1, 4) }
                if x + 1 < width { take(place, from: place + width + 1, 4) }
            }
        }
    }
}
