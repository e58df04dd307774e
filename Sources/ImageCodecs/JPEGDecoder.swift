import CImageCodecs
import Glibc

/// Decodes JPEG row by row, at full scale or directly at a half, a quarter or an eighth.
final class JPEGDecoder: ImageDecoder {
    let header: ImageHeader
    let scalesEighths = [8, 4, 2, 1]
    var pulse: CodecPulse? {
        didSet { ic_jpeg_decoder_set_pulse(handle, pulse?.forC ?? ic_pulse()) }
    }
    private let handle: OpaquePointer
    private let info: ic_jpeg_info
    private let bytes: UnsafeRawBufferPointer
    private let limits: DecodeLimits
    /// What it follows.
    private var leader: JPEGDecoder?
    private var rowsLeft = Int.max

    init(
        _ bytes: UnsafeRawBufferPointer, limits: DecodeLimits, looksForGainMap: Bool = true
    ) throws(CodecError) {
        let file = bytes.bindMemory(to: UInt8.self)
        let maxScans = Int32(clamping: limits.maxScans)
        var info = ic_jpeg_info()
        let handle = try opened { ic_jpeg_decoder_open(file.baseAddress, file.count, maxScans, &info, &$0) }
        do throws(CodecError) {
            try limits.check(width: Int(info.width), height: Int(info.height), fileBytes: bytes.count)
            try limits.check(workingBytes: JPEGDecoder.workingBytes(info, scaleEighths: 1))
        } catch {
            ic_jpeg_decoder_close(handle)
            throw error
        }
        self.handle = handle
        self.info = info
        self.bytes = bytes
        self.limits = limits
        var notes: [String] = []
        var metadata = JPEGDecoder.metadata(of: handle, bytes, notes: &notes)
        metadata.resolution = Resolution(x: info.resolution_x, y: info.resolution_y)
        var header = ImageHeader(
            format: .jpeg, width: Int(info.width), height: Int(info.height),
            layout: info.is_cmyk != 0 ? .cmyk8 : .rgbx8, bitsPerChannel: 8, isGray: info.components == 1,
            hasAlpha: false, orientation: metadata.exif.map(TIFFStructure.orientation) ?? 1, metadata: metadata,
            notes: notes)
        if looksForGainMap {
            header.gainMap = GainMapReader.read(bytes, picture: header, limits: limits)
            let others = MultiPictureIndex.leftOut(of: bytes, gainMap: header.gainMap)
            if let others { header.metadata.leftOut.append(others) }
        }
        self.header = header
    }

    deinit {
        ic_jpeg_decoder_close(handle)
    }

    func workingBytes(scaleEighths: Int) -> Int {
        JPEGDecoder.workingBytes(info, scaleEighths: scaleEighths)
    }

    /// Coefficients of every block for files of several scans, and a few strips of samples for all files.
    private static func workingBytes(_ info: ic_jpeg_info, scaleEighths: Int) -> Int {
        let coefficients = info.has_multiple_scans != 0 ? Int(info.coefficient_bytes) : 0
        let stripRows = 8 * Int(info.max_sampling_height) * 5
        let strips = (Int(info.width) * scaleEighths / 8 + 64) * stripRows * Int(info.components)
        return coefficients + strips + 256 << 10
    }

    func start(scaleEighths: Int) throws(CodecError) -> (width: Int, height: Int) {
        precondition(scalesEighths.contains(scaleEighths), "not one of the scales this decoder offers")
        var width: Int32 = 0
        var height: Int32 = 0
        try checked { ic_jpeg_decoder_start(handle, Int32(scaleEighths), &width, &height, &$0) }
        rowsLeft = Int(height)
        if let leader, ic_jpeg_decoder_follow(handle, leader.handle) == 0 {
            throw CodecError(.outOfMemory, "No memory for several scales of a JPEG")
        }
        return (Int(width), Int(height))
    }

    func readRows(into rows: UnsafeMutableRawPointer, strideBytes: Int, count: Int) throws(CodecError) -> Int {
        let samples = rows.assumingMemoryBound(to: UInt8.self)
        var read: Int32 = 0
        try checked { ic_jpeg_decoder_read(handle, samples, strideBytes, Int32(clamping: count), &read, &$0) }
        rowsLeft -= Int(read)
        return Int(read)
    }

    /// Those of a few rows of blocks; a file of several scans has all that a second decoding needs in memory only at its end.
    var bytesForFollowers: Int? {
        guard info.has_multiple_scans == 0 else { return nil }
        return 64 * Int(info.coefficient_bytes) * Int(info.max_sampling_height) / max(1, Int(info.height)) + 64 << 10
    }

    func follower() throws(CodecError) -> (any ImageDecoder)? {
        guard info.has_multiple_scans == 0 else { return nil }
        let follower = try JPEGDecoder(bytes, limits: limits, looksForGainMap: false)
        follower.leader = self
        follower.pulse = pulse
        return follower
    }

    var isWaiting: Bool { leader.map { $0.rowsLeft > 0 } ?? false }

    var damage: [String] {
        var list: [String] = []
        while let message = ic_jpeg_decoder_damage(handle, Int32(list.count)) {
            list.append(String(cString: message))
        }
        return list
    }

    private static func metadata(
        of handle: OpaquePointer, _ file: UnsafeRawBufferPointer, notes: inout [String]
    ) -> ImageMetadata {
        var segments = JPEGMetadata()
        var code: Int32 = 0
        var payload: UnsafePointer<UInt8>?
        var size = 0
        var index: Int32 = 0
        var hasProfileSegments = false
        while ic_jpeg_decoder_marker(handle, index, &code, &payload, &size) != 0 {
            let segment = UnsafeBufferPointer(start: payload, count: size)
            let isOfProfile = code == JPEGSegments.app2 && segment.starts(with: JPEGSegments.profilePrefix)
            hasProfileSegments = hasProfileSegments || isOfProfile
            segments.add(code: code, payload: segment)
            index += 1
        }
        var metadata = segments.joined(of: file)
        if let icc = ic_jpeg_decoder_copy_icc(handle, &size) {
            metadata.icc = Array(UnsafeBufferPointer(start: icc, count: size))
            free(icc)
        } else if hasProfileSegments {
            notes.append("the colour profile is incomplete and was left out")
        }
        return metadata
    }
}
