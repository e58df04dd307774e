import CImageCodecs

/// Decodes the first page of a TIFF, a row of strips or tiles at a time.
final class TIFFDecoder: ImageDecoder {
    let header: ImageHeader
    let scalesEighths = [8]
    /// Not heard by the library; its calls are short but for files of one strip.
    var pulse: CodecPulse?
    private let handle: OpaquePointer
    private let bytesHeld: Int

    init(_ bytes: UnsafeRawBufferPointer, limits: DecodeLimits) throws(CodecError) {
        try Self.checkDirectory(bytes, limits)
        let file = bytes.bindMemory(to: UInt8.self)
        var info = ic_tiff_info()
        handle = try opened { ic_tiff_decoder_open(file.baseAddress, file.count, &info, &$0) }
        bytesHeld = Int(info.bytes_held)
        let layout: PixelLayout =
            switch info.layout {
            case IC_TIFF_RGBA8: .rgba8
            case IC_TIFF_RGBA16: .rgba16
            case IC_TIFF_RGBAF32: .rgbaF32
            case IC_TIFF_CMYK8: .cmyk8
            default: .rgbx8
            }
        func block(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8]? {
            count == 0 ? nil : Array(UnsafeBufferPointer(start: start, count: count))
        }
        let exif = TIFFExif.block(from: bytes, namesOthers: true)
        var metadata = ImageMetadata(
            exif: exif.block, xmp: block(info.xmp, info.xmp_size),
            iptc: TIFFDecoder.iptc(block(info.iptc, info.iptc_size), of: bytes),
            icc: block(info.icc, info.icc_size), resolution: Resolution(tiff: bytes))
        metadata.leftOut = exif.leftOut
        var notes: [String] = []
        if info.pages > 1 { notes.append("the first page of \(info.pages)") }
        if info.extra_channels > 0 {
            let count = info.extra_channels
            let channels = count == 1 ? "1 extra channel was" : "\(count) extra channels were"
            notes.append("\(channels) left out" + (layout == .cmyk8 ? ", as is transparency of CMYK pictures" : ""))
        }
        if info.takes_fax_for_white != 0 { notes.append("it does not say what 0 is, which is white in a fax") }
        if info.is_signed != 0 { notes.append("its numbers are signed, and the least of them is taken for black") }
        header = ImageHeader(
            format: .tiff, width: Int(info.width), height: Int(info.height), layout: layout,
            bitsPerChannel: min(Int(info.bits), 32), isGray: info.is_gray != 0, hasAlpha: info.has_alpha != 0,
            orientation: (1...8).contains(info.orientation) ? Int(info.orientation) : 1, metadata: metadata,
            notes: notes)
        // Everything is set up, so a throw from here on runs `deinit`.
        try limits.check(
            width: header.width, height: header.height, bitsPerPixel: info.bits == 1 ? 1 : 8, fileBytes: bytes.count)
        guard Int(info.pixels_held) <= max(limits.maxPixels, header.width * header.height) else {
            throw CodecError(.limit, "The TIFF's strips or tiles have \(info.pixels_held) pixels, more than the limit")
        }
        try limits.check(workingBytes: bytesHeld)
    }

    deinit {
        ic_tiff_decoder_close(handle)
    }

    func workingBytes(scaleEighths: Int) -> Int { bytesHeld }

    func start(scaleEighths: Int) throws(CodecError) -> (width: Int, height: Int) {
        precondition(scaleEighths == 8, "TIFF is decoded at its own size")
        try checked { ic_tiff_decoder_start(handle, &$0) }
        return (header.width, header.height)
    }

    func readRows(into rows: UnsafeMutableRawPointer, strideBytes: Int, count: Int) throws(CodecError) -> Int {
        let samples = rows.assumingMemoryBound(to: UInt8.self)
        var read: Int32 = 0
        try checked { ic_tiff_decoder_read(handle, samples, strideBytes, Int32(clamping: count), &read, &$0) }
        return Int(read)
    }

    var damage: [String] {
        var list: [String] = []
        while let message = ic_tiff_decoder_damage(handle, Int32(list.count)) {
            list.append(String(cString: message))
        }
        return list
    }
}

extension TIFFDecoder {
    /// libtiff takes memory for as many strips or tiles as the size promises before it can be asked for anything. Each has a
    /// place in the file, told in two bytes at least; a single strip is cut into smaller ones.
    private static func checkDirectory(
        _ file: UnsafeRawBufferPointer, _ limits: DecodeLimits
    ) throws(CodecError) {
        guard let structure = TIFFStructure(file) else { return }
        let entries = structure.firstDirectory
        func number(_ tag: Int) -> Int? { entries.first { $0.tag == tag }.flatMap(structure.number) }
        func count(_ length: Int, of part: Int?) -> Int {
            guard let part, part > 0, length > 0 else { return 1 }
            return (length - 1) / part + 1
        }
        // Tags of TIFF 6.0: the picture's size; bits; the size of tiles; rows of a strip; planes apart, and how many.
        guard let width = number(256), let height = number(257) else {
            throw CodecError(.damaged, "The TIFF does not say how large it is")
        }
        let isBilevel = number(258) ?? 1 == 1
        try limits.check(width: width, height: height, bitsPerPixel: isBilevel ? 1 : 8, fileBytes: file.count)
        let tileWidth = number(322)
        let across = tileWidth == nil ? 1 : count(width, of: tileWidth)
        let down = count(height, of: tileWidth == nil ? number(278) : number(323))
        let planes = number(284) == 2 ? max(1, number(277) ?? 1) : 1
        let (band, bandIsBeyond) = across.multipliedReportingOverflow(by: planes)
        let (parts, isBeyond) = band.multipliedReportingOverflow(by: down)
        guard !bandIsBeyond, !isBeyond, parts <= max(1, file.count / 2) else {
            throw CodecError(.damaged, "The TIFF has no room for the places of all its strips or tiles")
        }
    }

    private static let iptcTag = 33_723

    /// Photoshop's resources with IPTC, where they have none with the one that stands in a tag of its own.
    private static func iptc(_ resources: [UInt8]?, of file: UnsafeRawBufferPointer) -> [UInt8]? {
        let listed = resources.map(PhotoshopResources.list) ?? []
        guard !listed.contains(where: { $0.identifier == PhotoshopResources.iptc }),
            let structure = TIFFStructure(file), [42, 43].contains(structure.version),
            let entry = structure.firstDirectory.first(where: { $0.tag == iptcTag }), entry.value.count >= 4
        else { return resources }
        var records = Array(file[entry.value])
        // Bytes that are said to be numbers of 32 bits; some writers turn them around as if they were.
        if entry.type == 4, records[0] != 0x1C, records[3] == 0x1C {
            for start in stride(from: 0, to: records.count, by: 4) { records[start..<start + 4].reverse() }
        }
        guard records[0] == 0x1C else { return resources }
        return PhotoshopResources.resource(PhotoshopResources.iptc, records) + (resources ?? [])
    }
}
