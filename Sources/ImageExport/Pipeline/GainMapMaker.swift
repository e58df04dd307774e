import ChunkedCompute
package import ImageCodecs

/// Makes the gain maps of a picture's outputs: the input's, cut, resized and turned as the picture is, on the CPU.
///
/// A map has the ratio of each part's light on two displays. What changes detail, or all light by one factor, leaves the ratio
/// right; what bends tones does not, since it brightens what the map brightens again.
package struct GainMapMaker {
    /// For codes that stand for up to several stops of light.
    private static let quality = 90
    /// The largest share of a bounded file that goes to the map.
    private static let largestShare = 4

    /// An output of the picture.
    package struct Output {
        /// The picture's.
        package var geometry: OutputGeometry
        package var settings: OutputSettings
        package var format: ImageFormat
        /// As the output has it without a map.
        package var metadata: ImageMetadata

        package init(
            geometry: OutputGeometry, settings: OutputSettings, format: ImageFormat, metadata: ImageMetadata
        ) {
            self.geometry = geometry
            self.settings = settings
            self.format = format
            self.metadata = metadata
        }
    }

    /// What an output's file has of a map.
    package struct Kept {
        /// A JPEG.
        package var file: [UInt8]
        /// The output's metadata, which announce the map.
        package var metadata: ImageMetadata
    }

    private let map: GainMap
    private let header: ImageHeader
    private let lane: any ImageLane
    private let tables: KeptTables

    /// What becomes of a map for one output.
    private enum Decision {
        /// The output has one, and what is to be said of it.
        case keep(note: String?)
        /// It has none, and why; nil where nobody asks.
        case leaveOut(String?)
    }

    /// nil where there is no map to be handed on.
    ///
    /// - Parameters:
    ///   - header: The picture's.
    ///   - lane: Of the CPU.
    ///   - settings: Of all outputs.
    ///   - tables: Those of the pictures before.
    ///   - tell: Told why outputs have no map where the input's cannot be used.
    /// - Throws: ``CodecError`` where with more memory there may be a map.
    package init?(
        _ header: ImageHeader, lane: any ImageLane, settings: [OutputSettings], tables: KeptTables,
        tell: (String) -> Void
    ) throws(CodecError) {
        switch header.gainMap {
        case nil: return nil
        case .success(let found): map = found
        case .failure(let error) where error.code == .outOfMemory: throw error
        case .failure(let error):
            if settings.contains(where: { $0.leavesOutGainMap != true }) { tell(Self.leftOut(error.reason)) }
            return nil
        }
        self.header = header
        self.lane = lane
        self.tables = tables
    }

    private static func leftOut(_ reason: String) -> String { "the gain map was left out: \(reason)" }

    /// Makes the map of one output, or says why it has none.
    ///
    /// - Parameters:
    ///   - output: Of the picture.
    ///   - file: The bytes of the whole input.
    ///   - limits: Of the input.
    ///   - pulse: Asked meanwhile.
    ///   - claim: Told the peak bytes before anything is decoded; may throw.
    ///   - tell: Told what the person should know.
    /// - Returns: nil where the output has none.
    /// - Throws: ``CodecError``, ``LaneError``, and what the pulse and `claim` throw.
    package func kept(
        by output: Output, file: UnsafeRawBufferPointer, limits: DecodeLimits, pulse: CodecPulse,
        claim: (Int) throws -> Void, tell: (String) -> Void
    ) throws -> Kept? {
        switch try decision(output.settings, format: output.format) {
        case .leaveOut(let reason):
            if let reason { tell(Self.leftOut(reason)) }
            return nil
        case .keep(let note):
            if let note { tell(note) }
        }
        guard let made = try make(output, file: file, limits: limits, pulse: pulse, claim: claim) else {
            tell(Self.leftOut("it is damaged"))
            return nil
        }
        if let excess = Self.excess(bytes: made.count, output.settings) {
            tell(Self.leftOut(excess))
            return nil
        }
        let announced = output.metadata.announcing(map, bytes: made.count)
        announced.notes.forEach(tell)
        return Kept(file: made, metadata: announced.metadata)
    }

    /// Whether an output with these settings has the map.
    ///
    /// - Throws: ``CodecError`` where the colours cannot be told.
    private func decision(_ settings: OutputSettings, format: ImageFormat) throws(CodecError) -> Decision {
        if settings.leavesOutGainMap == true { return .leaveOut(nil) }
        guard format == .jpeg else { return .leaveOut("only a JPEG keeps it") }
        if settings.border != nil { return .leaveOut("it has nothing for a border") }
        if let name = settings.effectiveOperations.lazy.compactMap(\.nameWhereItBendsTones).first {
            return .leaveOut("\(name) changes the tones that it was made for")
        }
        let across = Double(map.width) / Double(header.width)
        let down = Double(map.height) / Double(header.height)
        if settings.straighten != nil, abs(across / down - 1) > 0.02 {
            return .leaveOut("its shape is not the picture's, so it cannot be turned with it")
        }
        let isConverted = try tables.color(of: header).transform(to: settings.colorSpace, layout: .rgbx8) != nil
        return .keep(
            note: isConverted && !map.isGray
                ? "the gain map's three channels are for the input's colours, which were converted" : nil)
    }

    /// Why a map of so many bytes is too many for an output; nil where it is not.
    private static func excess(bytes: Int, _ settings: OutputSettings) -> String? {
        guard let most = settings.maxBytes, bytes > most / largestShare else { return nil }
        return "it takes \(bytes) of \(most) bytes"
    }

    /// A JPEG; nil where the map's data are damaged.
    private func make(
        _ output: Output, file: UnsafeRawBufferPointer, limits: DecodeLimits, pulse: CodecPulse,
        claim: (Int) throws -> Void
    ) throws -> [UInt8]? {
        let plan = plan(output)
        let decoder = try map.decoder(in: file, limits: limits)
        decoder.pulse = pulse
        let encoder = try CodecRegistry.encoder(
            for: EncodeRequest(
                format: .jpeg, width: plan.geometry.uprightWidth, height: plan.geometry.uprightHeight, layout: .rgbx8,
                isGray: map.isGray, isOpaque: true, quality: Self.quality, fullChroma: true, metadata: map.metadata))
        encoder.pulse = pulse
        let rotation = rotation(output, plan)
        var bytes = decoder.workingBytes(scaleEighths: 8) + encoder.workingBytes
        bytes += ExportPreparation.bytes(plan, sourceWidth: map.width)
        bytes += rotation?.workingBytes(rows: ExportPreparation.windowRows(plan), lane: lane) ?? 0
        if let rotation {
            bytes += 2 * rotation.rowBytes * min(map.height, rotation.chunkRows + 2 * rotation.chain.radius)
        }
        try claim(bytes)
        let pipeline = OutputPipeline(
            plan: plan, lane: lane, encoder: encoder, buffers: OutputPipeline.Buffers(), pulse: pulse)
        let window = RowWindow()
        let source = try SourceReader(
            decoder: decoder, scaleEighths: 8, toRGB: nil, window: window, staging: Scratch())
        let pump = PipelinePump(
            [(pipeline, chain: rotation == nil ? nil : 0)], chains: rotation.map { [$0] } ?? [], lane: lane)
        try pump.run(source, through: window) { _ in try pulse.check() }
        guard decoder.damage.isEmpty else { return nil }
        var made: [UInt8] = []
        try pipeline.finish({ _ in try pulse.check() }, write: { made = Array($0) })
        return made
    }

    private func plan(_ output: Output) -> OutputPipeline.Plan {
        let geometry = output.geometry.scaled(from: (header.width, header.height), to: (map.width, map.height))
        var resize: ResizePlan?
        if !geometry.isIdentity(storedWidth: map.width, storedHeight: map.height) {
            let shown = output.geometry.samples(
                of: (header.width, header.height), reducedTo: (map.width, map.height),
                pixelsPerSample: (
                    Double(header.width) / Double(map.width), Double(header.height) / Double(map.height)
                ))
            resize = tables.resize(
                arithmetic: .codes,
                columns: Resampling.Part(
                    sourceLength: map.width, offset: geometry.cropX, span: geometry.cropWidth,
                    outputLength: geometry.width, readable: shown.columns),
                rows: Resampling.Part(
                    sourceLength: map.height, offset: geometry.cropY, span: geometry.cropHeight,
                    outputLength: geometry.height, readable: shown.rows))
        }
        return OutputPipeline.Plan(
            geometry: geometry, orientation: Orientation(of: header, output.settings), resize: resize,
            workingLayout: .rgbx8,
            outputLayout: .rgbx8,
            chunkRows: ResizePlan.chunkRows(sourceRows: lane.chunkSourceRows(.codes), resize: resize))
    }

    private func rotation(_ output: Output, _ plan: OutputPipeline.Plan) -> ChainRunner.Plan? {
        plan.orientation.rotation(output.settings).map { degrees in
            ChainRunner.Plan(
                chain: ChainPlan(
                    [], width: map.width, height: map.height, isWide: false, content: 0, rotation: degrees),
                color: nil, chunkRows: lane.chunkChainRows)
        }
    }
}

extension ImageOperation {
    /// Its name, where it gives light of different strength different factors.
    fileprivate var nameWhereItBendsTones: String? {
        switch self {
        case .contrast: "contrast"
        case .saturation: "saturation"
        case .curve: "the curve"
        case .localContrast: "local contrast"
        case .exposure, .whiteBalance, .denoise, .deconvolve, .grain: nil
        }
    }
}
