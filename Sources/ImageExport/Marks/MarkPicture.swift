import ChunkedCompute
import ImageCodecs

/// Brings a logo to the size that an output needs, by way of the pipeline that pictures take.
enum MarkPicture {
    /// The largest size that fits into a box.
    ///
    /// - Throws: ``ExportFailure`` and ``CodecError`` where the file cannot be read or decoded.
    static func read(
        _ path: String, width: Int, height: Int, space: OutputColorSpace, _ lane: any ImageLane,
        _ limits: DecodeLimits, _ pulse: CodecPulse
    ) throws -> MarkMaker.Raster {
        let input = InputFile()
        try input.read(path, limits: limits, pulse: pulse)
        let decoder = try CodecRegistry.decoder(for: input.bytes, limits: limits)
        decoder.pulse = pulse
        var settings = OutputSettings()
        settings.size = .fit(width: width, height: height)
        settings.enlarge = true
        settings.format = .png
        settings.bitsPerChannel = 8
        // Where the output keeps a profile of its own, a logo goes on with the numbers it has in sRGB.
        settings.colorSpace = space == .keep ? .srgb : space
        settings.exact = true
        settings.metadata = .strip
        let item = ExportItem(
            input: path, outputs: [.init(settings: settings, path: path, mayReplace: false)], lane: .cpu,
            limits: limits)
        let preparation = try ExportPreparation(item: item, decoder: decoder, lane: lane, chunkRows: nil, content: 0)
        guard let output = preparation.outputs.first else { preconditionFailure("an output went missing") }
        let collector = RowCollector(output.encode)
        let pipeline = OutputPipeline(
            plan: output.plan, lane: lane, encoder: collector, buffers: OutputPipeline.Buffers(), pulse: pulse)
        let window = RowWindow()
        let source = try SourceReader(
            decoder: decoder, scaleEighths: preparation.scaleEighths, toRGB: preparation.toRGB, window: window,
            staging: Scratch())
        let batch = 16
        window.reset(
            strideBytes: source.width * source.workingLayout.bytesPerPixel,
            capacityRows: min(pipeline.sourceWindowRows + batch, source.height))
        while !source.isAtEnd {
            try source.read(batch)
            try pipeline.advance(source: window.band, ended: source.isAtEnd)
            window.discard(before: pipeline.firstSourceRow)
        }
        try pipeline.finish({ _ in try pulse.check() }, write: { _ in })
        return MarkMaker.Raster(
            width: output.encode.width, height: output.encode.height, samples: collector.samples)
    }
}

/// Takes 8-bit rows as an encoder does, and keeps them as 16-bit samples with alpha.
private final class RowCollector: ImageEncoder {
    var pulse: CodecPulse?
    private(set) var samples: [UInt16] = []
    private let width: Int
    private let hasAlpha: Bool

    init(_ request: EncodeRequest) {
        width = request.width
        hasAlpha = request.layout == .rgba8
        samples.reserveCapacity(4 * request.width * request.height)
    }

    var workingBytes: Int { samples.capacity * 2 }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        for row in 0..<count {
            let bytes = (rows + row * strideBytes).assumingMemoryBound(to: UInt8.self)
            for place in 0..<4 * width {
                samples.append(place % 4 == 3 && !hasAlpha ? .max : UInt16(bytes[place]) * 257)
            }
        }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {}
}
