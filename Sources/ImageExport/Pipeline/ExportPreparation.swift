import ChunkedCompute
import ImageCodecs

/// The decisions about one item once its header is known: for each output the scale of its decoding, its pipeline and its encoder.
///
/// None of them depends on the other outputs, so that an output has the same bytes whichever others are made with it. Those that
/// need the same scale, and the same chain before their resize, share it.
struct ExportPreparation {
    var outputs: [Output]
    /// Chains that outputs have done before their resize; each output names its own by its place here.
    var chains: [ChainRunner.Plan] = []
    /// For CMYK pictures.
    var toRGB: ColorTransform?
    var notes: [String] = []
    /// Outputs that there cannot be.
    var refused: [OutputRefusal] = []
    /// Peak bytes of decoder, windows, pipelines and encoders.
    var workingBytes = 0

    struct Output {
        var plan: OutputPipeline.Plan
        /// The scale of the decoding that it is made from, in eighths.
        var scaleEighths: Int
        /// Place of its chain.
        var chain: Int?
        var encode: EncodeRequest
        var paint: Paint
        var item: ExportItem.Output
    }

    /// - Throws: ``NoOutputs``, ``ExportFailure`` or ``CodecError`` when nothing can be made.
    init(
        item: ExportItem, decoder: any ImageDecoder, lane: any ImageLane, chunkRows: Int?, content: UInt32,
        tables: KeptTables
    ) throws {
        let header = decoder.header
        outputs = []
        let source = try tables.color(of: header)
        toRGB = source.toRGB
        notes = source.notes
        var keys: [ChainKey] = []
        for output in item.outputs {
            let path = try OutputRefusal.attempt(output.path, refused: &refused) {
                try PixelPath(of: header, color: source, output.settings)
            }
            guard let path else { continue }
            note(path.cropNote)
            let scale = Self.scale(decoder: decoder, path)
            var chain: Int?
            if path.hasChain {
                let key = ChainKey(of: path, scaleEighths: scale)
                chain = keys.firstIndex(of: key) ?? keys.count
                if chain == keys.count {
                    keys.append(key)
                    chains.append(
                        chainPlan(
                            path, of: header, scaleEighths: scale, content: content,
                            chunkRows: chunkRows ?? lane.chunkChainRows))
                }
            }
            let paint = source.paint(in: path.settings.colorSpace)
            let plan = outputPlan(
                path, of: header, scaleEighths: scale, color: source, paint: paint, content: content, lane: lane,
                chunkRows: chunkRows, tables: tables)
            let encode = encodeRequest(path, of: header, color: source, cores: item.cores)
            outputs.append(
                Output(
                    plan: plan, scaleEighths: scale, chain: chain, encode: encode, paint: paint, item: output))
        }
        if outputs.isEmpty { throw NoOutputs(refused: refused) }
        // Decodings that cannot be made together follow each other.
        let decodings = scalesEighths.map { decoder.workingBytes(scaleEighths: $0) }
        if decodings.count > 1, let shared = decoder.bytesForFollowers {
            workingBytes = decodings.reduce(shared, +)
        } else {
            workingBytes = decodings.max() ?? 0
        }
        for output in outputs {
            let source = Self.sourceSize(of: header, scaleEighths: output.scaleEighths)
            workingBytes += Self.bytes(output.plan, sourceWidth: source.width)
        }
        for (index, chain) in chains.enumerated() {
            let readers = outputs.filter { $0.chain == index }.map { Self.windowRows($0.plan) }
            workingBytes += chain.workingBytes(rows: readers.max() ?? 0, lane: lane)
            workingBytes += 2 * chain.rowBytes * min(chain.chain.height, chain.chunkRows + 2 * chain.chain.radius)
        }
    }

    /// The scales at which the picture is decoded, the largest first.
    var scalesEighths: [Int] { Set(outputs.map(\.scaleEighths)).sorted(by: >) }

    private mutating func note(_ note: String?) {
        if let note, !notes.contains(note) { notes.append(note) }
    }

    /// Size of the decoded picture.
    private static func sourceSize(of header: ImageHeader, scaleEighths: Int) -> (width: Int, height: Int) {
        func scaled(_ length: Int) -> Int { (length * scaleEighths + 7) / 8 }
        return (scaled(header.width), scaled(header.height))
    }

    private func chainPlan(
        _ path: PixelPath, of header: ImageHeader, scaleEighths: Int, content: UInt32, chunkRows: Int
    ) -> ChainRunner.Plan {
        let (width, height) = Self.sourceSize(of: header, scaleEighths: scaleEighths)
        return ChainRunner.Plan(
            chain: ChainPlan(
                path.operations.before, width: width, height: height, isWide: path.workingLayout == .rgba16,
                content: content, orientation: Orientation(header.orientation), rotation: path.rotation),
            color: path.convertsFirst ? path.color : nil, widens: path.widens, chunkRows: chunkRows)
    }

    private func outputPlan(
        _ path: PixelPath, of header: ImageHeader, scaleEighths: Int, color source: SourceColor, paint: Paint,
        content: UInt32, lane: any ImageLane, chunkRows: Int?, tables: KeptTables
    ) -> OutputPipeline.Plan {
        let (geometry, settings) = (path.geometry, path.settings)
        let resize =
            path.resizes
            ? resizePlan(path, of: header, scaleEighths: scaleEighths, color: source, tables: tables) : nil
        var sharpening: SharpenPlan?
        if let wanted = settings.sharpening, wanted.amount > 0 {
            sharpening = SharpenPlan(width: geometry.width, height: geometry.height, wanted)
        }
        var chain: ChainPlan?
        if !path.operations.after.isEmpty {
            chain = ChainPlan(
                path.operations.after, width: geometry.width, height: geometry.height,
                isWide: path.workingLayout == .rgba16, content: content)
        }
        return OutputPipeline.Plan(
            geometry: geometry, orientation: path.orientation, resize: resize, sharpening: sharpening,
            color: path.convertsFirst ? nil : path.color, chain: chain,
            matte: path.needsMatte ? paint.codes(settings.matte) : nil, workingLayout: path.workingLayout,
            outputLayout: path.outputLayout,
            chunkRows: chunkRows
                ?? ResizePlan.chunkRows(sourceRows: lane.chunkSourceRows(path.arithmetic), resize: resize))
    }

    private func resizePlan(
        _ path: PixelPath, of header: ImageHeader, scaleEighths: Int, color source: SourceColor, tables: KeptTables
    ) -> ResizePlan {
        let (geometry, linear) = (path.geometry, path.settings.linearLight)
        let (width, height) = Self.sourceSize(of: header, scaleEighths: scaleEighths)
        // The decoder rounds scaled sizes up; the picture itself ends within the last pixel.
        let scale = Double(scaleEighths) / 8
        let shown = geometry.samples(
            of: (header.width, header.height), reducedTo: (width, height), pixelsPerSample: (1 / scale, 1 / scale))
        let lift = scaleEighths < 8 ? Self.scaledDecodeLift : 0
        return tables.resize(
            arithmetic: path.arithmetic,
            columns: Resampling.Part(
                sourceLength: width, offset: geometry.cropX * scale, span: geometry.cropWidth * scale,
                outputLength: geometry.width, lift: lift, readable: shown.columns),
            rows: Resampling.Part(
                sourceLength: height, offset: geometry.cropY * scale, span: geometry.cropHeight * scale,
                outputLength: geometry.height, lift: lift, readable: shown.rows),
            curves: path.convertsFirst
                ? TransferCurves.srgb(for: path.arithmetic, linear: linear)
                : source.curves(for: path.arithmetic, linear: linear))
    }

    private mutating func encodeRequest(
        _ path: PixelPath, of header: ImageHeader, color source: SourceColor, cores: Int
    ) -> EncodeRequest {
        let (settings, format) = (path.settings, path.format)
        let border = settings.border?.pixels ?? 0
        let width = path.geometry.uprightWidth + 2 * border
        let height = path.geometry.uprightHeight + 2 * border
        let kept = header.outputMetadata(
            settings, color: source, width: width, height: height, geometry: path.geometry, format: format)
        kept.notes.forEach { note($0) }
        return EncodeRequest(
            format: format, width: width, height: height, layout: path.outputLayout, isGray: path.isGray,
            isOpaque: !header.hasAlpha || path.needsMatte, quality: settings.quality ?? format.defaultQuality ?? 100,
            lossless: settings.lossless, optimize: settings.optimize, progressive: settings.progressive,
            fullChroma: settings.fullChroma, cores: cores, metadata: kept.metadata)
    }

    /// What stands for a picture's content, from the checksum of its file.
    static func content(checksum: String) -> UInt32 { UInt32(checksum.prefix(8), radix: 16) ?? 0 }

    /// What makes two chains the same.
    private struct ChainKey: Equatable {
        var scaleEighths: Int
        var operations: [ImageOperation]
        var rotation: Double?
        /// nil where colours are converted later, if at all.
        var colorSpace: OutputColorSpace?
        var widens: Bool

        init(of path: PixelPath, scaleEighths: Int) {
            self.scaleEighths = scaleEighths
            operations = path.operations.before
            rotation = path.rotation
            colorSpace = path.convertsFirst ? path.settings.colorSpace : nil
            widens = path.widens
        }
    }

    /// A decoder's scaled output falls off towards its Nyquist frequency: 5 % at half of it, 16 % at its end, measured on
    /// camera-like pictures. This much of ``Resampling``'s lift brings the error of the final picture to its least.
    private static let scaledDecodeLift = 0.03

    /// The smallest scale of the decoder that leaves an output enough to resample from.
    ///
    /// Measured on camera-like pictures: from half size, a reduction of 1.4 in the last step gives 50 dB of the exact result;
    /// smaller scales need 2 for that, and save little over half size.
    private static func scale(decoder: any ImageDecoder, _ path: PixelPath) -> Int {
        let settings = path.settings
        let looksAround = settings.effectiveOperations.contains(where: \.looksAround)
        guard !settings.exact, !settings.linearLight, !looksAround else { return 8 }
        let reduction = path.geometry.reduction
        // A picture that ends within a pixel has its middle, about which it is turned, elsewhere.
        let turns = path.rotation != nil
        let (width, height) = (decoder.header.width, decoder.header.height)
        let usable = decoder.scalesEighths.filter { scale in
            reduction * Double(scale) / 8 >= (scale >= 4 ? 1.4 : 2)
                && (!turns || width * scale % 8 == 0 && height * scale % 8 == 0)
        }
        return usable.min() ?? 8
    }

    /// Source rows that a pipeline needs at a time, an estimate from above.
    static func windowRows(_ plan: OutputPipeline.Plan) -> Int {
        let reduction = max(1, Double(plan.resize?.sourceHeight ?? 1) / Double(plan.geometry.height))
        return Int(Double(plan.chunkRows + 8) * reduction * 1.3) + (plan.resize?.vTaps ?? 0)
    }

    /// What one output holds at its peak, the source window that it needs included.
    static func bytes(_ plan: OutputPipeline.Plan, sourceWidth: Int) -> Int {
        let width = plan.geometry.width
        let pixel = max(plan.workingLayout.bytesPerPixel, plan.outputLayout.bytesPerPixel)
        let windowRows = windowRows(plan)
        let workingPixel = plan.resize?.arithmetic == .codes ? 4 : plan.resize?.arithmetic == .light ? 12 : 24
        var total = sourceWidth * windowRows * (2 * plan.workingLayout.bytesPerPixel + workingPixel)
        total += sourceWidth * 64 + 4 * width * plan.chunkRows * pixel
        total += plan.chain?.workingBytes(rows: plan.chunkRows, tilesAtOnce: false) ?? 0
        if plan.orientation.value != 1 { total += width * plan.geometry.height * plan.outputLayout.bytesPerPixel }
        return total
    }
}
