import ChunkedCompute
import ImageCodecs

/// Turns source rows into one encoded output, band by band: resize, colour, depth, sharpening, orientation, encoder.
///
/// Rows are pulled from the shared source window as soon as all that a chunk needs are there; the result does not depend on
/// where the chunks end.
final class OutputPipeline {
    struct Plan {
        var geometry: OutputGeometry
        var orientation: Orientation
        /// nil: source rows are already the output's.
        var resize: ResizePlan?
        var sharpening: SharpenPlan?
        /// Changes rows of `workingLayout` in place.
        var color: ColorTransform?
        /// What is done at the output's size, in place.
        var chain: ChainPlan?
        /// What clear parts, of `rgba16` rows, are laid over at the end: 16-bit R, G, B; nil keeps alpha.
        var matte: [UInt16]?
        /// Layout of the source rows, and of the rows that a resize makes.
        var workingLayout: PixelLayout
        /// Layout the encoder takes.
        var outputLayout: PixelLayout
        /// Largest number of output rows in a chunk.
        var chunkRows: Int
    }

    /// Bytes of rows that a colour transform and an encoder get at a time.
    private static let partBytes = 64 << 10

    private let plan: Plan
    private let lane: any ImageLane
    private let encoder: any ImageEncoder
    private let buffers: Buffers
    private let pulse: CodecPulse
    /// Output rows made so far, in the stored frame.
    private var resizedRows = 0
    private var sharpenedRows = 0
    private(set) var kernelSeconds = 0.0
    private(set) var encodeSeconds = 0.0

    /// Memory a pipeline works in, kept between pictures.
    final class Buffers {
        let band = Scratch()
        let narrow = Scratch()
        let sharpened = Scratch()
        let collected = Scratch()
        let upright = Scratch()
        let window = RowWindow()

        func trim(above limit: Int) {
            for scratch in [band, narrow, sharpened, collected, upright] { scratch.trim(above: limit) }
            window.trim(above: limit)
        }
    }

    init(plan: Plan, lane: any ImageLane, encoder: any ImageEncoder, buffers: Buffers, pulse: CodecPulse) {
        self.pulse = pulse
        self.plan = plan
        self.lane = lane
        self.encoder = encoder
        self.buffers = buffers
        if let sharpening = plan.sharpening, !sharpensSource {
            buffers.window.reset(
                strideBytes: width * plan.outputLayout.bytesPerPixel,
                capacityRows: plan.chunkRows + 2 * sharpening.radius + 1)
        }
    }

    private var width: Int { plan.geometry.width }
    private var height: Int { plan.geometry.height }

    /// Sharpening can read the source rows as they are: nothing comes before it.
    private var sharpensSource: Bool {
        plan.resize == nil && plan.color == nil && plan.workingLayout == plan.outputLayout
    }

    /// Source rows before this one are not read again.
    var firstSourceRow: Int {
        if let resize = plan.resize {
            return resizedRows < height ? resize.rows.starts[resizedRows] : resize.sourceHeight
        }
        if let sharpening = plan.sharpening, sharpensSource { return max(0, sharpenedRows - sharpening.radius) }
        return resizedRows
    }

    /// The most source rows that have to be there at a time.
    var sourceWindowRows: Int {
        guard let resize = plan.resize else {
            return plan.chunkRows + 2 * (plan.sharpening?.radius ?? 0)
        }
        var most = 0
        for y in stride(from: 0, to: height, by: max(1, plan.chunkRows / 2)) {
            most = max(most, resize.sourceRows(for: y..<min(height, y + plan.chunkRows)).count)
        }
        return most + resize.vTaps
    }

    /// Takes what it can from the source rows available.
    ///
    /// - Parameters:
    ///   - source: The rows of the source window.
    ///   - ended: No more rows will come.
    /// - Throws: ``LaneError`` when the device fails, ``CodecError`` when the encoder does or the work is to stop.
    func advance(source: RowBand, ended: Bool) throws {
        let end = source.firstRow + source.rowCount
        while resizedRows < height {
            if let resize = plan.resize {
                var count = min(plan.chunkRows, height - resizedRows)
                let last = resize.rows.lastSource(resizedRows + count - 1)
                if last >= end {
                    // Smaller chunks only when the window cannot hold more; the last ones come with the end of the source.
                    guard ended else { return }
                    count = 0
                    while resizedRows + count < height, resize.rows.lastSource(resizedRows + count) < end { count += 1 }
                    guard count > 0 else { return }
                }
                let layout = plan.workingLayout
                let band = newBand(count, layout: layout, directToWindow: layout == plan.outputLayout)
                try pulse.check()
                try timeKernels { try lane.resize(resize, source: source, output: band) }
                resizedRows += count
                try finishBand(band, ended: resizedRows == height)
            } else {
                let count = min(plan.chunkRows, end - resizedRows)
                guard count > 0 else { return }
                let rows = source.rows(resizedRows, count: count)
                resizedRows += count
                if sharpensSource {
                    if plan.sharpening == nil {
                        try emit(rows)
                    } else if resizedRows == end {
                        try sharpen(from: source, ended: resizedRows == height)
                    }
                    continue
                }
                let band = newBand(
                    count, layout: plan.workingLayout, directToWindow: plan.workingLayout == plan.outputLayout,
                    firstRow: rows.firstRow)
                for y in 0..<count {
                    (band.base + y * band.strideBytes).copyMemory(
                        from: rows.base + y * rows.strideBytes, byteCount: band.strideBytes)
                }
                try finishBand(band, ended: resizedRows == height)
            }
        }
    }

    private func newBand(
        _ count: Int, layout: PixelLayout, directToWindow: Bool, firstRow: Int? = nil
    ) -> RowBand {
        let stride = width * layout.bytesPerPixel
        let base =
            plan.sharpening != nil && directToWindow
            ? buffers.window.room(for: count) : buffers.band.bytes(stride * count)
        return RowBand(base: base, strideBytes: stride, firstRow: firstRow ?? resizedRows, rowCount: count)
    }

    /// Colour, chain, depth and sharpening of a fresh band.
    private func finishBand(_ band: RowBand, ended: Bool) throws {
        if let color = plan.color {
            try inParts(band) { part in
                timeKernels {
                    color.apply(to: part.base, strideBytes: part.strideBytes, width: width, count: part.rowCount)
                }
            }
        }
        if let chain = plan.chain {
            try pulse.check()
            try timeKernels { try lane.develop(chain, source: band, output: band) }
        }
        if let matte = plan.matte {
            PixelConversion.flatten(
                band.base.assumingMemoryBound(to: UInt16.self), pixelCount: width * band.rowCount, over: matte)
        }
        var band = band
        if plan.workingLayout != plan.outputLayout {
            let stride = width * plan.outputLayout.bytesPerPixel
            let base =
                plan.sharpening != nil
                ? buffers.window.room(for: band.rowCount) : buffers.narrow.bytes(stride * band.rowCount)
            let count = 4 * width * band.rowCount
            if plan.workingLayout == .rgbx8 {
                PixelConversion.widen(
                    band.base.assumingMemoryBound(to: UInt8.self), to: base.assumingMemoryBound(to: UInt16.self),
                    sampleCount: count)
            } else {
                PixelConversion.narrow(
                    band.base.assumingMemoryBound(to: UInt16.self), to: base.assumingMemoryBound(to: UInt8.self),
                    sampleCount: count)
            }
            band = RowBand(base: base, strideBytes: stride, firstRow: band.firstRow, rowCount: band.rowCount)
        }
        guard let sharpening = plan.sharpening else {
            try emit(band)
            return
        }
        buffers.window.appended(band.rowCount)
        try sharpen(from: buffers.window.band, ended: ended)
        buffers.window.discard(before: sharpenedRows - sharpening.radius)
    }

    private func sharpen(from source: RowBand, ended: Bool) throws {
        guard let sharpening = plan.sharpening else { return }
        let end = source.firstRow + source.rowCount
        let ready = ended ? height : end - sharpening.radius
        while sharpenedRows < ready {
            try pulse.check()
            let count = min(plan.chunkRows, ready - sharpenedRows)
            let stride = width * plan.outputLayout.bytesPerPixel
            let base =
                plan.orientation.value == 1
                ? buffers.sharpened.bytes(stride * count) : collected + sharpenedRows * stride
            let band = RowBand(base: base, strideBytes: stride, firstRow: sharpenedRows, rowCount: count)
            try timeKernels {
                switch plan.outputLayout {
                case .rgbx8: try lane.sharpen(sharpening, source: source, output: band)
                case .rgba8:
                    WideSharpening.apply(
                        UInt8.self, sharpening, source: source, output: band, scratch: buffers.narrow)
                default:
                    WideSharpening.apply(
                        UInt16.self, sharpening, source: source, output: band, scratch: buffers.narrow)
                }
            }
            sharpenedRows += count
            try emit(band)
        }
    }

    /// The whole picture before it is turned.
    private var collected: UnsafeMutableRawPointer {
        buffers.collected.bytes(width * plan.outputLayout.bytesPerPixel * height)
    }

    private func emit(_ band: RowBand) throws {
        let clock = ContinuousClock.now
        defer { encodeSeconds += clock.secondsSince }
        guard plan.orientation.value != 1 else {
            try encode(band)
            return
        }
        let stride = width * plan.outputLayout.bytesPerPixel
        let place = collected + band.firstRow * stride
        if place != band.base { place.copyMemory(from: band.base, byteCount: stride * band.rowCount) }
    }

    private func encode(_ band: RowBand) throws {
        try inParts(band) { part in
            try encoder.writeRows(part.base, strideBytes: part.strideBytes, count: part.rowCount)
        }
    }

    /// Asks before each part of a band: a slow encoder takes a tenth of a second for a megabyte, a colour transform five
    /// milliseconds, and who waits for the processor gets it when a worker asks.
    private func inParts(_ band: RowBand, _ work: (RowBand) throws -> Void) throws {
        let count = max(1, Self.partBytes / band.strideBytes)
        for row in stride(from: band.firstRow, to: band.firstRow + band.rowCount, by: count) {
            try pulse.check()
            try work(band.rows(row, count: min(count, band.firstRow + band.rowCount - row)))
        }
    }

    /// What ``finish(_:write:)`` does next.
    enum FinishStep {
        /// Some rows are turned and encoded.
        case rows
        /// The encoder does all of its remaining work in one go.
        case encoder
    }

    /// Ends the output and lends the finished file.
    ///
    /// - Parameters:
    ///   - onStep: Called before each step; may throw to stop.
    ///   - write: Gets the bytes, which are gone afterwards.
    /// - Throws: ``CodecError`` when the encoder fails, and whatever the two closures throw.
    func finish(_ onStep: (FinishStep) throws -> Void, write: (UnsafeRawBufferPointer) throws -> Void) throws {
        let clock = ContinuousClock.now
        defer { encodeSeconds += clock.secondsSince }
        precondition(resizedRows == height, "an output ended before its last row")
        if plan.orientation.value != 1 { try writeUpright(onStep) }
        try onStep(.encoder)
        try encoder.finish(write)
    }

    private func writeUpright(_ onStep: (FinishStep) throws -> Void) throws {
        let pixelBytes = plan.outputLayout.bytesPerPixel
        let stored = RowBand(
            base: collected, strideBytes: width * pixelBytes, firstRow: 0,
            rowCount: height)
        let stride = plan.geometry.uprightWidth * pixelBytes
        var row = 0
        while row < plan.geometry.uprightHeight {
            try onStep(.rows)
            let count = min(32, plan.geometry.uprightHeight - row)
            let band = RowBand(
                base: buffers.upright.bytes(stride * count), strideBytes: stride, firstRow: row, rowCount: count)
            plan.orientation.upright(from: stored, width: width, pixelBytes: pixelBytes, into: band)
            try encode(band)
            row += count
        }
    }

    private func timeKernels(_ body: () throws -> Void) rethrows {
        let clock = ContinuousClock.now
        try body()
        kernelSeconds += clock.secondsSince
    }
}

extension ContinuousClock.Instant {
    /// Seconds from this moment to now.
    var secondsSince: Double {
        let duration = duration(to: .now).components
        return Double(duration.seconds) + Double(duration.attoseconds) * 1e-18
    }
}
