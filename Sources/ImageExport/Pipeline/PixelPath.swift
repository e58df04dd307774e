import ImageCodecs

/// What the pixels of one output go through, as the picture's header and the output's settings decide it.
struct PixelPath {
    /// The output's, but that a profile for gray is not kept for colours, and light has no part where nothing is averaged.
    let settings: OutputSettings
    let format: ImageFormat
    let geometry: OutputGeometry
    let orientation: Orientation
    /// Degrees by which the stored picture is turned.
    let rotation: Double?
    let operations: (before: [ImageOperation], after: [ImageOperation])
    let resizes: Bool
    /// Nothing gives it colours, and the format can do without.
    let isGray: Bool
    /// Its clear parts are laid over a colour.
    let needsMatte: Bool
    /// Rows become 16-bit ones before the first step.
    let widens: Bool
    let workingLayout: PixelLayout
    let outputLayout: PixelLayout
    let arithmetic: ResizeArithmetic
    /// nil where the colours are right already.
    let color: ColorTransform?

    /// - Throws: ``ExportFailure`` or ``CodecError`` when there is no such output.
    init(of header: ImageHeader, color source: SourceColor, _ asked: OutputSettings) throws {
        var settings = asked
        geometry = try OutputGeometry(of: header, settings)
        // Pixels that only move are not averaged: light and back would cost them their darkest codes.
        if geometry.cropWidth == Double(geometry.width), geometry.cropHeight == Double(geometry.height) {
            settings.linearLight = false
        }
        format = settings.format ?? (header.format.isKeptByDefault ? header.format : .jpeg)
        if let bits = settings.bitsPerChannel, !format.writtenBits.contains(bits) {
            throw ExportFailure("unsupported", "\(bits) bits a channel cannot be written as \(format.name)")
        }
        let staysGray =
            header.isGray && format.writesGray && settings.effectiveOperations.allSatisfy(\.keepsGray)
            && settings.marksAreGray && Set(settings.border?.color ?? []).count <= 1
            && (!header.hasAlpha || format.writesAlpha || Set(settings.matte).count == 1)
        if !staysGray, source.isForGray, settings.colorSpace == .keep { settings.colorSpace = .srgb }
        self.settings = settings

        let isDeep = format.deepBits != nil && (settings.bitsPerChannel ?? header.bitsPerChannel) > 8
        let keepsAlpha = header.hasAlpha && format.writesAlpha
        needsMatte = header.hasAlpha && !keepsAlpha
        outputLayout = isDeep ? .rgba16 : keepsAlpha ? .rgba8 : .rgbx8
        resizes = !geometry.isIdentity(storedWidth: header.width, storedHeight: header.height)
        orientation = Orientation(of: header, settings)
        rotation = orientation.rotation(settings)
        operations = ImageOperation.split(settings.effectiveOperations, resizes: resizes)

        // Opaque 8-bit pictures have 4-byte pixels. Where several steps would be rounded to 8 bits each, and that is not
        // exact or less than is asked for, they become wider first.
        let sourceLayout = SourceReader.workingLayout(of: header)
        let isLooked = !settings.effectiveOperations.isEmpty || rotation != nil
        let converts = try source.transform(to: settings.colorSpace, layout: sourceLayout) != nil
        widens =
            sourceLayout == .rgbx8 && (isDeep && resizes || (isDeep || settings.exact) && (isLooked || converts))
        workingLayout = widens ? .rgba16 : sourceLayout
        arithmetic = workingLayout == .rgba16 ? .float : settings.linearLight ? .light : .codes
        color = try source.transform(to: settings.colorSpace, layout: workingLayout)
        isGray = staysGray && color == nil
    }

    /// What the person should be told of a crop of pixels, of which not all are there.
    var cropNote: String? {
        guard case .box(let width, let height, _, _) = settings.crop else { return nil }
        let left = (
            width: Int(orientation.isTransposed ? geometry.cropHeight : geometry.cropWidth),
            height: Int(orientation.isTransposed ? geometry.cropWidth : geometry.cropHeight)
        )
        // What a size that fills cuts off besides is asked for.
        if case .fill = settings.size { return nil }
        guard left != (width, height) else { return nil }
        return "of the crop of \(width)x\(height) only \(left.width)x\(left.height) lie within the picture"
    }

    /// Something is done to the picture before it is resized.
    private var changesFirst: Bool { !operations.before.isEmpty || rotation != nil }

    /// A chain reads the source in front of the resize.
    var hasChain: Bool { changesFirst || widens }

    /// Colours are converted in front of that chain, not after the resize.
    var convertsFirst: Bool { color != nil && changesFirst }
}
