import ChunkedCompute
package import ImageCodecs

/// Makes of one input what an export would write, in memory. Used by one thread; keeps its buffers between pictures.
package final class PictureRenderer {
    private let lanes: Lanes
    private let input = InputFile()
    private let window = RowWindow()
    private let staging = Scratch()
    private let tables = KeptTables()
    private let buffers = OutputPipeline.Buffers()
    private lazy var markMaker = MarkMaker(lanes)

    package init(lanes: Lanes = Lanes()) {
        self.lanes = lanes
    }

    /// The size of the output of one input, without its border; parameters and errors are those of rendering it.
    package func shape(
        _ path: String, _ settings: OutputSettings, limits: DecodeLimits, pulse: CodecPulse
    ) throws -> (width: Int, height: Int) {
        try input.read(path, limits: limits, pulse: pulse)
        let decoder = try CodecRegistry.decoder(for: input.bytes, limits: limits, raw: settings.raw ?? .develop)
        let geometry = try OutputGeometry(of: decoder.header, settings)
        return (geometry.uprightWidth, geometry.uprightHeight)
    }

    /// - Parameters:
    ///   - path: The input.
    ///   - settings: Of the output, of 8 bits a channel whatever they say; clear parts stay clear where their format is PNG.
    ///   - limits: Of the input.
    ///   - pulse: Asked meanwhile.
    /// - Returns: The upright picture with its marks and its border.
    /// - Throws: ``ExportFailure``, `CodecError` or ``LaneError`` where it cannot be made.
    package func render(
        _ path: String, _ settings: OutputSettings, limits: DecodeLimits, pulse: CodecPulse
    ) throws -> RenderedPicture {
        try input.read(path, limits: limits, pulse: pulse)
        let decoder = try CodecRegistry.decoder(
            for: input.bytes, limits: limits, raw: settings.raw ?? .develop)
        decoder.pulse = pulse
        let lane = try lanes.lane(.cpu)
        var settings = settings
        settings.bitsPerChannel = 8
        settings.metadata = .strip
        settings.maxBytes = nil
        let item = ExportItem(
            input: path, outputs: [.init(settings: settings, path: path, mayReplace: false)], lane: .cpu,
            limits: limits)
        let preparation = try ExportPreparation(
            item: item, decoder: decoder, lane: lane, chunkRows: nil,
            content: ExportPreparation.content(checksum: Checksum.xxh3(input.bytes)), tables: tables)
        guard let output = preparation.outputs.first else { preconditionFailure("an output went missing") }
        let collector = RowCollector(output.encode)
        let facts = MarkMaker.Facts(path: path, decoder.header.metadata, modified: input.modified)
        let marks = try markMaker.marks(
            of: settings, on: EncoderChain.inside(output.encode, settings), output.paint, facts, limits, pulse)
        let head = EncoderChain.head(
            before: collector, output.encode, settings, marks: marks, paint: output.paint)
        head.pulse = pulse
        let bytes = input.bytes.count + preparation.workingBytes + head.workingBytes
        guard bytes <= limits.maxWorkingBytes else {
            throw ExportFailure.memoryShare(bytes, of: limits.maxWorkingBytes)
        }
        let pipeline = OutputPipeline(plan: output.plan, lane: lane, encoder: head, buffers: buffers, pulse: pulse)
        let source = try SourceReader(
            decoder: decoder, scaleEighths: output.scaleEighths, toRGB: preparation.toRGB, window: window,
            staging: staging)
        let pump = PipelinePump([pipeline], preparation, scaleEighths: output.scaleEighths, lane: lane)
        try pump.run(source, through: window) { _ in try pulse.check() }
        try pipeline.finish({ _ in try pulse.check() }, write: { _ in })
        return collector.picture(damage: decoder.damage)
    }
}
