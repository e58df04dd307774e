import CImageCodecs

/// Encodes 8-bit opaque rows as JPEG while they come in.
final class JPEGEncoder: ImageEncoder {
    let workingBytes: Int
    var pulse: CodecPulse? {
        didSet { ic_jpeg_encoder_set_pulse(handle, pulse?.forC ?? ic_pulse()) }
    }
    private let handle: OpaquePointer
    private let gainMap: [UInt8]?
    /// Where the payload of the index of pictures begins, for the lengths that are known last.
    private var indexStart = 0

    init(_ request: EncodeRequest) throws(CodecError) {
        guard request.layout == .rgbx8 else {
            throw CodecError(.encode, "JPEG is written from opaque 8-bit rows")
        }
        guard (1...65_500).contains(request.width), (1...65_500).contains(request.height) else {
            throw CodecError(
                .encode, "JPEG holds at most 65500 pixels a side; this is \(request.width) × \(request.height)")
        }
        var settings = ic_jpeg_settings()
        settings.width = Int32(request.width)
        settings.height = Int32(request.height)
        settings.quality = Int32(request.quality)
        settings.is_gray = request.isGray ? 1 : 0
        settings.full_chroma = request.fullChroma ? 1 : 0
        settings.optimize = request.optimize ? 1 : 0
        settings.progressive = request.progressive ? 1 : 0
        let (metadata, resolution) = (request.metadata, request.metadata.resolution)
        let exifSaysAll = resolution == nil || resolution == metadata.exifResolution
        settings.omit_jfif = metadata.exif != nil && exifSaysAll ? 1 : 0
        settings.resolution_x = Int32(resolution?.x.rounded() ?? 0)
        settings.resolution_y = Int32(resolution?.y.rounded() ?? 0)
        let pixels = request.width * request.height
        gainMap = request.gainMap
        let reserve = pixels / 4 + metadata.totalBytes + (gainMap?.count ?? 0) + 32 << 10
        handle = try opened { ic_jpeg_encoder_open(&settings, reserve, &$0) }
        // Two output buffers' worth while it grows, and all coefficients where tables come after a first pass.
        let coefficients = request.optimize || request.progressive ? pixels * 6 : 0
        workingBytes = pixels + reserve + coefficients + request.width * 64
        // Everything is set up, so a throw from here on runs `deinit`.
        try write(metadata)
    }

    deinit {
        ic_jpeg_encoder_close(handle)
    }

    private func write(_ metadata: ImageMetadata) throws(CodecError) {
        if let exif = metadata.exif { try writeParts(JPEGSegments.app1, JPEGSegments.exifPrefix, exif) }
        if let xmp = metadata.xmp { try write(JPEGSegments.app1, JPEGSegments.xmpPrefix, xmp) }
        if let extended = metadata.extendedXMP {
            let prefix = JPEGSegments.extendedXMPPrefix
            for payload in extended.payloads(capacity: JPEGSegments.capacity - prefix.count) {
                try write(JPEGSegments.app1, prefix, payload)
            }
        }
        if let meaning = metadata.gainMapISO { try write(JPEGSegments.app2, JPEGSegments.gainMapPrefix, meaning) }
        if let gainMap { try writeIndex(mapBytes: gainMap.count) }
        if let iptc = metadata.iptc { try writeParts(JPEGSegments.app13, JPEGSegments.photoshopPrefix, iptc) }
        if let icc = metadata.icc {
            try checked { ic_jpeg_encoder_icc(handle, icc, icc.count, &$0) }
        }
        if let comment = metadata.comment { try write(JPEGSegments.comment, [], comment) }
    }

    private func writeIndex(mapBytes: Int) throws(CodecError) {
        let payload = MultiPictureIndex.payload(pictureBytes: 0, otherOffset: 0, otherBytes: mapBytes)
        try write(JPEGSegments.app2, MultiPictureIndex.prefix, payload)
        indexStart = ic_jpeg_encoder_position(handle) - payload.count
    }

    /// Readers join the segments again, so a long block is cut wherever one is full.
    private func writeParts(_ code: Int32, _ prefix: [UInt8], _ block: [UInt8]) throws(CodecError) {
        let capacity = JPEGSegments.capacity - prefix.count
        var rest = block[...]
        while !rest.isEmpty {
            try write(code, prefix, Array(rest.prefix(capacity)))
            rest = rest.dropFirst(capacity)
        }
    }

    private func write(_ code: Int32, _ prefix: [UInt8], _ payload: [UInt8]) throws(CodecError) {
        try checked {
            ic_jpeg_encoder_marker(handle, code, prefix, prefix.count, payload, payload.count, &$0)
        }
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        let samples = rows.assumingMemoryBound(to: UInt8.self)
        try checked { ic_jpeg_encoder_write(handle, samples, strideBytes, Int32(clamping: count), &$0) }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        try checked { ic_jpeg_encoder_finish(handle, &bytes, &size, &$0) }
        if let gainMap {
            let index = MultiPictureIndex.payload(
                pictureBytes: size, otherOffset: size - indexStart, otherBytes: gainMap.count)
            try checked {
                ic_jpeg_encoder_attach(
                    handle, gainMap, gainMap.count, indexStart, index, index.count, &bytes, &size, &$0)
            }
        }
        try body(UnsafeRawBufferPointer(start: bytes, count: size))
    }
}

extension ImageMetadata {
    package var totalBytes: Int {
        [exif, xmp, extendedXMP?.bytes, iptc, icc, comment, gainMapISO].reduce(0) { $0 + ($1?.count ?? 0) }
    }
}
