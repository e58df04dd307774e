import CImageCodecs

/// Decodes a picture whole, by a library that is opened for it.
final class PictureDecoder: ImageDecoder {
    let header: ImageHeader
    let scalesEighths = [8]
    var pulse: CodecPulse? {
        didSet { ic_picture_decoder_set_pulse(handle, pulse?.forC ?? ic_pulse()) }
    }
    private let handle: OpaquePointer
    private let bytesHeld: Int
    /// What the file says of itself, whatever the library makes of it.
    private let fileDamage: String?
    private var canvas: UnsafeMutableRawPointer?
    private var nextRow = 0

    init(_ bytes: UnsafeRawBufferPointer, format: ImageFormat, limits: DecodeLimits) throws(CodecError) {
        guard let library = format.library else { preconditionFailure("\(format) needs no library") }
        let file = bytes.bindMemory(to: UInt8.self)
        var info = ic_picture_info()
        let raw = format == .raw ? RawExtent(bytes) : nil
        if let raw, raw.damage == nil, let obstacle = raw.obstacle { throw CodecError(.unsupported, obstacle) }
        fileDamage = raw?.damage ?? (BoxChain.isCutOff(bytes, of: format) ? "The file ends early" : nil)
        do throws(CodecError) {
            handle = try opened {
                ic_picture_decoder_open(
                    library.forC, file.baseAddress, file.count, Int64(limits.maxPixels), &info, &$0)
            }
        } catch {
            // What is cut off may look like a kind that the library does not know.
            var error = error.code == .unsupported ? raw?.damage.map { CodecError(.damaged, $0) } ?? error : error
            error.workingBytes = min(Int(info.bytes_held), max(limits.maxWorkingBytes - file.count, 0))
            throw error
        }
        header = PictureDecoder.header(info, format, bytes)
        let (row, isWide) = header.width.multipliedReportingOverflow(by: header.layout.bytesPerPixel)
        let (canvas, isLarge) = row.multipliedReportingOverflow(by: header.height)
        let (sum, isTooMuch) = canvas.addingReportingOverflow(Int(info.bytes_held))
        bytesHeld = isWide || isLarge || isTooMuch ? .max : sum
        // Everything is set up, so a throw from here on runs `deinit`.
        try limits.check(width: header.width, height: header.height, fileBytes: bytes.count)
        try limits.check(workingBytes: bytesHeld)
    }

    deinit {
        ic_picture_decoder_close(handle)
        if canvas != nil { ic_large_close(canvas, canvasBytes) }
    }

    private var canvasBytes: Int { header.width * header.height * header.layout.bytesPerPixel }

    private static func header(
        _ info: ic_picture_info, _ format: ImageFormat, _ bytes: UnsafeRawBufferPointer
    ) -> ImageHeader {
        func block(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8]? {
            count == 0 ? nil : Array(UnsafeBufferPointer(start: start, count: count))
        }
        let coded = CodedColors(primaries: Int(info.primaries), transfer: Int(info.transfer))
        var metadata = ImageMetadata(
            exif: block(info.exif, info.exif_size).map(JPEGSegments.withoutExifPrefix),
            xmp: block(info.xmp, info.xmp_size), icc: block(info.icc, info.icc_size) ?? coded.profile)
        metadata.leftOut = UnreadMetadata.sentences(format, bytes)
        if format == .raw {
            (metadata.exif, metadata.leftOut) = TIFFExif.block(from: bytes)
            if metadata.exif == nil, metadata.leftOut.isEmpty {
                metadata.leftOut = ["the camera's metadata was left out, as the file is no TIFF"]
            }
        }
        if info.left_out > 0 {
            let isOne = info.left_out == 1
            let blocks = isOne ? "another block of metadata was" : "\(info.left_out) more blocks of metadata were"
            metadata.leftOut.append("\(blocks) left out")
        }
        var notes = coded.note.map { [$0] } ?? []
        if let note = info.note { notes.append(String(cString: note)) }
        switch (info.frames, info.pictures) {
        case (1, 1): break
        case (0, _): notes.append("the first frame of an animation")
        case (1, _): notes.append("the main picture of \(info.pictures)")
        default: notes.append("the first frame of \(info.frames)")
        }
        return ImageHeader(
            format: format, width: Int(info.width), height: Int(info.height),
            layout: info.is_wide != 0 ? .rgba16 : info.has_alpha != 0 ? .rgba8 : .rgbx8,
            bitsPerChannel: Int(info.bits), isGray: info.is_gray != 0, hasAlpha: info.has_alpha != 0,
            orientation: (1...8).contains(info.orientation) ? Int(info.orientation) : 1, metadata: metadata,
            notes: notes)
    }

    func workingBytes(scaleEighths: Int) -> Int { bytesHeld }

    func start(scaleEighths: Int) throws(CodecError) -> (width: Int, height: Int) {
        precondition(scaleEighths == 8, "\(header.format.name) is decoded at its own size")
        guard let canvas = ic_large_open(canvasBytes) else {
            throw CodecError(.outOfMemory, "No memory for a picture")
        }
        self.canvas = canvas
        let rows = canvas.assumingMemoryBound(to: UInt8.self)
        try checked { ic_picture_decoder_decode(handle, rows, &$0) }
        return (header.width, header.height)
    }

    func readRows(into rows: UnsafeMutableRawPointer, strideBytes: Int, count: Int) throws(CodecError) -> Int {
        guard let canvas else { preconditionFailure("rows are read after decoding was started") }
        let wanted = min(count, header.height - nextRow)
        let rowBytes = header.width * header.layout.bytesPerPixel
        for row in 0..<wanted {
            (rows + row * strideBytes).copyMemory(from: canvas + (nextRow + row) * rowBytes, byteCount: rowBytes)
        }
        nextRow += wanted
        return wanted
    }

    var damage: [String] {
        if let damage = ic_picture_decoder_damage(handle) { return [String(cString: damage)] }
        return fileDamage.map { [$0] } ?? []
    }
}
