import CImageCodecs

/// Decodes the JPEG that a camera put into its raw file.
final class RawPreviewDecoder: ImageDecoder {
    let header: ImageHeader
    private let preview: JPEGDecoder
    /// Lends the preview's bytes.
    private let handle: OpaquePointer
    private let previewBytes: Int

    init(_ bytes: UnsafeRawBufferPointer, limits: DecodeLimits) throws(CodecError) {
        let file = bytes.bindMemory(to: UInt8.self)
        var info = ic_picture_info()
        let handle: OpaquePointer
        do throws(CodecError) {
            handle = try opened {
                ic_picture_decoder_open(
                    IC_LIBRARY_RAW, file.baseAddress, file.count, Int64(limits.maxPixels), &info, &$0)
            }
        } catch {
            guard error.code == .unsupported, let damage = RawExtent(bytes).damage else { throw error }
            throw CodecError(.damaged, damage)
        }
        var start: UnsafePointer<UInt8>?
        var count = 0
        do throws(CodecError) {
            try checked { ic_picture_decoder_preview(handle, &start, &count, &$0) }
            preview = try JPEGDecoder(
                UnsafeRawBufferPointer(start: start, count: count), limits: limits, looksForGainMap: false)
        } catch {
            ic_picture_decoder_close(handle)
            throw error
        }
        self.handle = handle
        previewBytes = count
        var header = preview.header
        header.format = .raw
        // A preview without metadata of its own has those of the file.
        if header.metadata.exif == nil {
            let exif = TIFFExif.block(from: bytes)
            header.metadata.exif = exif.block
            header.metadata.leftOut += exif.leftOut
            header.orientation = Int(info.orientation)
        }
        header.notes.append("the camera's preview of \(header.width) × \(header.height)")
        self.header = header
    }

    deinit {
        ic_picture_decoder_close(handle)
    }

    var pulse: CodecPulse? {
        get { preview.pulse }
        set { preview.pulse = newValue }
    }

    var scalesEighths: [Int] { preview.scalesEighths }

    func workingBytes(scaleEighths: Int) -> Int { preview.workingBytes(scaleEighths: scaleEighths) + previewBytes }

    func start(scaleEighths: Int) throws(CodecError) -> (width: Int, height: Int) {
        try preview.start(scaleEighths: scaleEighths)
    }

    func readRows(into rows: UnsafeMutableRawPointer, strideBytes: Int, count: Int) throws(CodecError) -> Int {
        try preview.readRows(into: rows, strideBytes: strideBytes, count: count)
    }

    var damage: [String] { preview.damage }
}
