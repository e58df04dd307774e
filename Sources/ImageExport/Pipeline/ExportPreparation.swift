import ChunkedCompute
import ImageCodecs

/// The decisions about one item once its header is known: decoding scale, and for each output its pipeline and encoder.
struct ExportPreparation {
    var scaleEighths: Int
    var outputs: [Output]
    /// Chains that outputs have done before their resize; each output names its own by its place here.
    var chains: [ChainRunner.Plan] = []
    /// For CMYK pictures.
    var toRGB: ColorTransform?
    var notes: [String] = []
    /// Peak bytes of decoder, windows, pipelines and encoders.
    var workingBytes = 0

    struct Output {
        var plan: OutputPipeline.Plan
        /// Place of its chain.
        var chain: Int?
        var encode: EncodeRequest
        var paint: Paint
        var item: ExportItem.Output
    }

    /// - Throws: ``ExportFailure`` or ``CodecError`` when an output cannot be made.
    init(
        item: ExportItem, decoder: any ImageDecoder, lane: any ImageLane, chunkRows: Int?, content: UInt32,
        tables: KeptTables
    ) throws {
        let header = decoder.header
        scaleEighths = Self.scale(decoder: decoder, outputs: item.decodedFor)
        outputs = []
        let sourceWidth = Self.scaled(header.width, scaleEighths)
        let sourceHeight = Self.scaled(header.height, scaleEighths)
        let source = try tables.color(of: header)
        toRGB = source.toRGB
        notes = source.notes
        let sourceLayout = SourceReader.workingLayout(of: header)
        var keys: [ChainKey] = []
        for output in item.outputs {
            var settings = output.settings
            let geometry = try OutputGeometry(of: header, settings)
            let format = settings.format ?? (header.format.isKeptByDefault ? header.format : .jpeg)
            if let bits = settings.bitsPerChannel, !format.writtenBits.contains(bits) {
                throw ExportFailure("unsupported", "\(bits) bits a channel cannot be written as \(format.name)")
            }
            let staysGray =
                header.isGray && format.writesGray && settings.effectiveOperations.allSatisfy(\.keepsGray)
                && settings.marksAreGray
                && Set(settings.border?.color ?? []).count <= 1
                && (!header.hasAlpha || format.writesAlpha || Set(settings.matte).count == 1)
            // A profile for gray says nothing of colours.
            if !staysGray, source.isForGray, settings.colorSpace == .keep { settings.colorSpace = .srgb }
            let paint = source.paint(in: settings.colorSpace)
            let isDeep = format.deepBits != nil && (settings.bitsPerChannel ?? header.bitsPerChannel) > 8
            let keepsAlpha = header.hasAlpha && format.writesAlpha
            let outputLayout: PixelLayout = isDeep ? .rgba16 : keepsAlpha ? .rgba8 : .rgbx8
            let needsMatte = header.hasAlpha && !keepsAlpha
            let identity = geometry.isIdentity(storedWidth: header.width, storedHeight: header.height)
            let orientation = Orientation(of: header, settings)
            let rotation = orientation.rotation(settings)
            let parts = ImageOperation.split(settings.effectiveOperations, resizes: !identity)
            // Opaque 8-bit pictures have 4-byte pixels. Where several steps would be rounded to 8 bits each, and that is not
            // exact or less than is asked for, they become wider first.
            let isLooked = !settings.effectiveOperations.isEmpty || rotation != nil
            let converts = try source.transform(to: settings.colorSpace, layout: sourceLayout) != nil
            let widens =
                sourceLayout == .rgbx8 && (isDeep && !identity || (isDeep || settings.exact) && (isLooked || converts))
            let working = widens ? .rgba16 : sourceLayout
            let arithmetic: ResizeArithmetic =
                working == .rgba16 ? .float : settings.linearLight ? .light : .codes
            var color = try source.transform(to: settings.colorSpace, layout: working)
            let changesFirst = !parts.before.isEmpty || rotation != nil
            let colorFirst = color != nil && changesFirst
            var chain: Int?
            if changesFirst || widens {
                let key = ChainKey(
                    operations: parts.before, rotation: rotation, colorSpace: colorFirst ? settings.colorSpace : nil,
                    widens: widens)
                chain = keys.firstIndex(of: key) ?? keys.count
                if chain == keys.count {
                    keys.append(key)
                    chains.append(
                        ChainRunner.Plan(
                            chain: ChainPlan(
                                parts.before, width: sourceWidth, height: sourceHeight, isWide: working == .rgba16,
                                content: content, rotation: rotation),
                            color: colorFirst ? color : nil, widens: widens,
                            chunkRows: chunkRows ?? lane.chunkChainRows))
                }
                if colorFirst { color = nil }
            }
            var resize: ResizePlan?
            if !identity {
                let x = Double(sourceWidth) / Double(header.width)
                let y = Double(sourceHeight) / Double(header.height)
                // The decoder rounds scaled sizes up; the picture itself ends within the last pixel.
                let exact = Double(scaleEighths) / 8
                let (fx, fy) = scaleEighths == 8 ? (x, y) : (exact, exact)
                let lift = scaleEighths < 8 ? Self.scaledDecodeLift : 0
                let curves =
                    colorFirst
                    ? TransferCurves.srgb(for: arithmetic, linear: settings.linearLight)
                    : source.curves(for: arithmetic, linear: settings.linearLight)
                resize = tables.resize(
                    arithmetic: arithmetic,
                    columns: Resampling.Part(
                        sourceLength: sourceWidth, offset: geometry.cropX * fx, span: geometry.cropWidth * fx,
                        outputLength: geometry.width, lift: lift),
                    rows: Resampling.Part(
                        sourceLength: sourceHeight, offset: geometry.cropY * fy, span: geometry.cropHeight * fy,
                        outputLength: geometry.height, lift: lift),
                    curves: curves)
            }
            var sharpening: SharpenPlan?
            if let wanted = settings.sharpening, wanted.amount > 0 {
                sharpening = SharpenPlan(width: geometry.width, height: geometry.height, wanted)
            }
            let border = settings.border?.pixels ?? 0
            let kept = header.outputMetadata(
                settings, color: source, width: geometry.uprightWidth + 2 * border,
                height: geometry.uprightHeight + 2 * border, format: format)
            notes += kept.notes.filter { !notes.contains($0) }
            let plan = OutputPipeline.Plan(
                geometry: geometry, orientation: orientation, resize: resize,
                sharpening: sharpening, color: color,
                chain: parts.after.isEmpty
                    ? nil
                    : ChainPlan(
                        parts.after, width: geometry.width, height: geometry.height, isWide: working == .rgba16,
                        content: content),
                matte: needsMatte ? paint.codes(settings.matte) : nil, workingLayout: working,
                outputLayout: outputLayout,
                chunkRows: chunkRows
                    ?? ResizePlan.chunkRows(sourceRows: lane.chunkSourceRows(arithmetic), resize: resize))
            let encode = EncodeRequest(
                format: format, width: geometry.uprightWidth + 2 * border,
                height: geometry.uprightHeight + 2 * border, layout: outputLayout,
                isGray: staysGray && color == nil && !colorFirst,
                isOpaque: !header.hasAlpha || needsMatte,
                quality: settings.quality ?? format.defaultQuality ?? 100,
                lossless: settings.lossless, optimize: settings.optimize, progressive: settings.progressive,
                fullChroma: settings.fullChroma, cores: item.cores, metadata: kept.metadata)
            outputs.append(Output(plan: plan, chain: chain, encode: encode, paint: paint, item: output))
        }
        workingBytes = decoder.workingBytes(scaleEighths: scaleEighths)
        for output in outputs { workingBytes += Self.bytes(output.plan, sourceWidth: sourceWidth) }
        for (index, chain) in chains.enumerated() {
            let readers = outputs.filter { $0.chain == index }.map { Self.windowRows($0.plan) }
            workingBytes += chain.workingBytes(rows: readers.max() ?? 0, lane: lane)
            workingBytes += 2 * chain.rowBytes * min(sourceHeight, chain.chunkRows + 2 * chain.chain.radius)
        }
    }

    /// What stands for a picture's content, from the checksum of its file.
    static func content(checksum: String) -> UInt32 { UInt32(checksum.prefix(8), radix: 16) ?? 0 }

    /// What makes two chains the same.
    private struct ChainKey: Equatable {
        var operations: [ImageOperation]
        var rotation: Double?
        /// nil where colours are converted later, if at all.
        var colorSpace: OutputColorSpace?
        var widens: Bool
    }

    /// A decoder's scaled output falls off towards its Nyquist frequency: 5 % at half of it, 16 % at its end, measured on
    /// camera-like pictures. This much of ``Resampling``'s lift brings the error of the final picture to its least.
    private static let scaledDecodeLift = 0.03

    /// The smallest scale of the decoder that leaves every output enough to resample from.
    ///
    /// Measured on camera-like pictures: from half size, a reduction of 1.4 in the last step gives 50 dB of the exact result;
    /// smaller scales need 2 for that, and save little over half size.
    private static func scale(decoder: any ImageDecoder, outputs: [OutputSettings]) -> Int {
        var reduction = Double.infinity
        for settings in outputs {
            let looksAround = settings.effectiveOperations.contains(where: \.looksAround)
            guard !settings.exact, !settings.linearLight, !looksAround else { return 8 }
            // One that cannot be made says so itself.
            guard let geometry = try? OutputGeometry(of: decoder.header, settings) else { continue }
            reduction = min(reduction, geometry.reduction)
        }
        // A picture that ends within a pixel has its middle, about which it is turned, elsewhere.
        let turns = outputs.contains { $0.straighten != nil }
        let (width, height) = (decoder.header.width, decoder.header.height)
        let usable = decoder.scalesEighths.filter { scale in
            reduction * Double(scale) / 8 >= (scale >= 4 ? 1.4 : 2)
                && (!turns || width * scale % 8 == 0 && height * scale % 8 == 0)
        }
        return usable.min() ?? 8
    }

    private static func scaled(_ length: Int, _ eighths: Int) -> Int { (length * eighths + 7) / 8 }

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
