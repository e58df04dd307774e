import ChunkedCompute
package import ImageCodecs
package import ImageExport
package import Inference

/// Makes tensors from picture files: every format of the exporter, upright, in sRGB, clear parts over the preset's colour.
/// Used by one thread; keeps its buffers between pictures.
package final class ImageReader {
    package struct Result {
        /// `[1, channels, height, width]`, or `[1, height, width, channels]`.
        package var tensor: Tensor
        package var placement: ImagePlacement
        package var header: ImageHeader
        /// What the tensor lacks of the picture, where it was asked for and there is any.
        package var bypassed: BypassedPicture?
        /// What the person should be told, e.g. `first page of 3`.
        package var notes: [String]
        /// What was wrong with the file, which was read nevertheless.
        package var damage: [String]
    }

    /// Buffers above this size are given back after the picture that needed them.
    private static let keptBytes = 64 << 20
    /// Source rows that are decoded at a time.
    private static let batchRows = 16

    private let lanes: Lanes
    private let input = InputFile()
    private let window = RowWindow()
    private let staging = Scratch()
    private let tables = KeptTables()
    private let resized = Scratch()
    private let turned = Scratch()

    package init(lanes: Lanes = Lanes()) {
        self.lanes = lanes
    }

    /// Reads a file from its beginning.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading; stays the caller's.
    ///   - preset: See ``ImagePreset/fitted(to:)``.
    ///   - elementType: `float32`, `float16`, `float64`, or `uint8` (rounded and clipped).
    ///   - limits: Checked before memory is reserved.
    ///   - keepsBypassed: Alpha, and colours that go into a tensor of one channel, come with the result. Clear parts are not
    ///     laid over a colour then: they have that of the nearest pixel that is seen.
    ///   - shouldStop: Asked between rows.
    /// - Returns: The tensor, and where its pixels come from.
    /// - Throws: `notReadable`, `unknownFormat`, `damaged`, `unsupported`, `tooLarge`, `memoryShare`, `mismatch` for a preset
    ///   that contradicts itself, `stopped`.
    package func read(
        descriptor: Int32, preset: ImagePreset, as elementType: ElementType = .float32,
        limits: DecodeLimits = DecodeLimits(), keepsBypassed: Bool = false,
        shouldStop: @escaping () -> Bool = { false }
    ) throws(DataError) -> Result {
        defer { input.trim(above: Self.keptBytes) }
        do {
            try input.read(descriptor: descriptor, limits: limits, pulse: CodecPulse { !shouldStop() })
        } catch {
            throw Self.asDataError(error)
        }
        return try read(
            bytes: input.bytes, preset: preset, as: elementType, limits: limits, keepsBypassed: keepsBypassed,
            shouldStop: shouldStop)
    }

    /// The same of a file that lies in memory.
    package func read(
        bytes: UnsafeRawBufferPointer, preset: ImagePreset, as elementType: ElementType = .float32,
        limits: DecodeLimits = DecodeLimits(), keepsBypassed: Bool = false,
        shouldStop: @escaping () -> Bool = { false }
    ) throws(DataError) -> Result {
        try preset.validate()
        defer {
            window.trim(above: Self.keptBytes)
            for scratch in [staging, resized, turned] { scratch.trim(above: Self.keptBytes) }
        }
        do {
            return try make(bytes, preset, elementType, limits, keepsBypassed, CodecPulse { !shouldStop() })
        } catch {
            throw Self.asDataError(error)
        }
    }

    private func make(
        _ bytes: UnsafeRawBufferPointer, _ preset: ImagePreset, _ elementType: ElementType, _ limits: DecodeLimits,
        _ keepsBypassed: Bool, _ pulse: CodecPulse
    ) throws -> Result {
        let decoder = try CodecRegistry.decoder(for: bytes, limits: limits)
        decoder.pulse = pulse
        let header = decoder.header
        let orientation = Orientation(header.orientation)
        let geometry = ImageGeometry(
            preset, width: orientation.isTransposed ? header.height : header.width,
            height: orientation.isTransposed ? header.width : header.height)
        let writer = try ImageTensorWriter(preset, geometry: geometry, elementType: elementType)
        let eighths = preset.reducedDecoding ? Self.scale(decoder, geometry) : 8
        let lacksColors = preset.channels == .gray && !header.isGray
        let bypasses = keepsBypassed && (header.hasAlpha || lacksColors)
        var heldBytes = writer.byteCount + bytes.count
        if bypasses {
            heldBytes += BypassedPicture.byteCount(
                width: geometry.columns.count, height: geometry.rows.count, hasAlpha: header.hasAlpha)
        }
        try check(decoder, geometry, eighths, heldBytes, limits)

        let color = try tables.color(of: header)
        let working = SourceReader.workingLayout(of: header)
        let lane = try lanes.lane(.cpu)
        let source = try SourceReader(
            decoder: decoder, scaleEighths: eighths, toRGB: color.toRGB, window: window, staging: staging)
        let frame = StoredFrame(geometry, orientation: orientation)
        let factor = Double(eighths) / 8
        let filter = preset.filter.resampling
        let plan = tables.resize(
            arithmetic: working == .rgba16 ? .float : .codes,
            columns: Resampling.Part(
                sourceLength: source.width, offset: frame.x * factor, span: frame.width * factor,
                outputLength: frame.resultWidth, filter: filter),
            rows: Resampling.Part(
                sourceLength: source.height, offset: frame.y * factor, span: frame.height * factor,
                outputLength: frame.resultHeight, filter: filter),
            curves: working == .rgba16 ? .identity : nil,
            matte: header.hasAlpha && !bypasses ? preset.fill.map { Float($0) / 255 } : nil)
        var picture = try resize(source, plan, lane, pixelBytes: working.bytesPerPixel, pulse)
        if let transform = try color.transform(to: .srgb, layout: working) {
            transform.apply(
                to: picture.base, strideBytes: picture.strideBytes, width: plan.width, count: plan.height)
        }
        if orientation.value != 1 {
            let stride = geometry.columns.count * working.bytesPerPixel
            let band = RowBand(
                base: turned.bytes(stride * geometry.rows.count), strideBytes: stride, firstRow: 0,
                rowCount: geometry.rows.count)
            orientation.upright(
                from: picture, width: plan.width, pixelBytes: working.bytesPerPixel, into: band)
            picture = band
        }
        var bypassed: BypassedPicture?
        if bypasses {
            let kept = BypassedPicture(
                picture, isWide: working == .rgba16, width: geometry.columns.count, hasAlpha: header.hasAlpha,
                hasColors: lacksColors, lane: lane)
            picture = kept.band
            bypassed = kept
        }
        return Result(
            tensor: try writer.tensor(picture, isWide: bypasses || working == .rgba16),
            placement: geometry.placement, header: header, bypassed: bypassed, notes: header.notes + color.notes,
            damage: decoder.damage)
    }

    /// Decodes row by row and resamples as soon as the rows of a chunk are there.
    private func resize(
        _ source: SourceReader, _ plan: ResizePlan, _ lane: any ImageLane, pixelBytes: Int, _ pulse: CodecPulse
    ) throws -> RowBand {
        let stride = plan.width * pixelBytes
        let picture = RowBand(
            base: resized.bytes(stride * plan.height), strideBytes: stride, firstRow: 0, rowCount: plan.height)
        let chunk = ResizePlan.chunkRows(sourceRows: lane.chunkSourceRows(plan.arithmetic), resize: plan)
        let chunks = Swift.stride(from: 0, to: plan.height, by: chunk).map { $0..<min(plan.height, $0 + chunk) }
        let most = chunks.map { plan.sourceRows(for: $0).count }.max() ?? 0
        window.reset(
            strideBytes: source.width * pixelBytes, capacityRows: min(most + plan.vTaps + Self.batchRows, source.height)
        )
        var next = 0
        while !source.isAtEnd {
            try pulse.check()
            try source.read(Self.batchRows)
            let band = window.band
            let end = band.firstRow + band.rowCount
            while next < chunks.count, plan.sourceRows(for: chunks[next]).upperBound <= end {
                let rows = chunks[next]
                try lane.resize(plan, source: band, output: picture.rows(rows.lowerBound, count: rows.count))
                next += 1
            }
            // What is cut off at the bottom is not decoded, and damage there not told.
            if next == chunks.count { break }
            window.discard(before: plan.sourceRows(for: chunks[next]).lowerBound)
        }
        precondition(next == chunks.count, "the source ended before the last row of the result")
        return picture
    }

    /// The smallest scale of the decoder that leaves twice the wanted size.
    private static func scale(_ decoder: any ImageDecoder, _ geometry: ImageGeometry) -> Int {
        decoder.scalesEighths.filter { geometry.reduction * Double($0) / 8 >= 2 }.min() ?? 8
    }

    /// Sizes that follow from the header and the preset, before memory is reserved for them.
    private func check(
        _ decoder: any ImageDecoder, _ geometry: ImageGeometry, _ eighths: Int, _ heldBytes: Int,
        _ limits: DecodeLimits
    ) throws(DataError) {
        let pixels = geometry.width.multipliedReportingOverflow(by: geometry.height)
        guard !pixels.overflow, pixels.partialValue <= limits.maxPixels else {
            throw .tooLarge("The input of the model would be \(geometry.width) × \(geometry.height) pixels.")
        }
        let reduction = max(1, Double(geometry.originalHeight) / Double(geometry.resizedHeight))
        let windowRows = Int(reduction * 16) + 64
        let bytes =
            heldBytes + decoder.workingBytes(scaleEighths: eighths) + pixels.partialValue * 16
            + decoder.header.width * windowRows * 24
        guard bytes <= limits.maxWorkingBytes else { throw .memoryShare(bytes, of: limits.maxWorkingBytes) }
    }

    private static func asDataError(_ error: any Error) -> DataError {
        switch error {
        case let error as DataError: return error
        case let error as CodecError: return DataError(error)
        case let error as ExportFailure:
            let sentence = "The file cannot be used: \(error.reason)."
            switch error.code {
            case "unknownFormat": return DataError(code: .unknownFormat, sentence: sentence)
            case "memoryShare": return DataError(code: .memoryShare, sentence: sentence)
            case "limit": return .tooLarge(sentence)
            default: return .notReadable(sentence)
            }
        default: return .notReadable("\(error)")
        }
    }
}

extension ImagePreset.Filter {
    fileprivate var resampling: ResamplingFilter {
        switch self {
        case .bilinear: .triangle
        case .bicubic: .cubic
        case .lanczos: .lanczos3
        }
    }
}
