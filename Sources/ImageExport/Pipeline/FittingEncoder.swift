import ChunkedCompute
import ImageCodecs

/// Encodes a picture at the highest quality at which its file is no larger than asked for.
///
/// The first attempt is made while the rows come in, at the quality that was asked for, and is the only one where it
/// fits. Further ones are made from the kept rows: the logarithm of the size is taken as linear in the quality between
/// the nearest two attempts, which finds the answer in few of them. The same picture always ends with the same quality.
final class FittingEncoder: ImageEncoder {
    let workingBytes: Int
    var pulse: CodecPulse? {
        didSet { first?.pulse = pulse }
    }
    /// The quality that was taken, once the picture is finished.
    private(set) var quality: Int?
    /// How many files were made to find it.
    private(set) var attempts = 1

    private let request: EncodeRequest
    private let maxBytes: Int
    private var first: (any ImageEncoder)?
    private let rows = Scratch()
    private var rowsTaken = 0
    private var best: [UInt8] = []

    init(_ request: EncodeRequest, maxBytes: Int) throws(CodecError) {
        let encoder = try CodecRegistry.encoder(for: request)
        self.request = request
        self.maxBytes = maxBytes
        first = encoder
        // Two encoders are never there at once, and a file that is kept is no larger than one that an encoder holds.
        workingBytes =
            encoder.workingBytes + request.width * request.layout.bytesPerPixel * request.height
            + min(maxBytes, encoder.workingBytes)
    }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        try first?.writeRows(rows, strideBytes: strideBytes, count: count)
        for row in 0..<count {
            let place = kept + (rowsTaken + row) * rowBytes
            place.copyMemory(from: rows + row * strideBytes, byteCount: rowBytes)
        }
        rowsTaken += count
    }

    private var rowBytes: Int { request.width * request.layout.bytesPerPixel }

    private var kept: UnsafeMutableRawPointer { rows.bytes(rowBytes * request.height) }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var size = 0
        try first.take()?.finish { bytes in
            size = bytes.count
            guard size <= maxBytes else { return }
            quality = request.quality
            try body(bytes)
        }
        guard quality == nil else { return }
        let fixed = request.metadata.totalBytes + (request.gainMap?.count ?? 0)
        var search = QualitySearch(
            ceiling: request.quality, bytes: size, maxBytes: maxBytes, fixedBytes: fixed)
        while let next = search.next {
            try pulse?.check()
            attempts += 1
            search.tried(next, bytes: try encode(quality: next))
        }
        guard let found = search.found else {
            let help = search.smallest - fixed <= maxBytes ? "of these \(whatIsFixed)" : "a smaller --size may help"
            throw ExportFailure(
                "tooLarge",
                "its output cannot have \(maxBytes) bytes or fewer: at quality 1 it has \(search.smallest); \(help)")
        }
        quality = found
        try best.withUnsafeBytes(body)
    }

    /// What is in the file beside the picture, and what leaves that out.
    private var whatIsFixed: String {
        let profile = request.metadata.icc?.count ?? 0
        let parts = [
            (request.metadata.totalBytes - profile, "are metadata, which --metadata strip leaves out"),
            (request.gainMap?.count ?? 0, "are a gain map, which --no-gain-map leaves out"),
            (profile, "are a colour profile"),
        ]
        return parts.filter { $0.0 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
    }

    /// Makes a file and keeps it where it fits: every attempt that fits is better than those before it.
    private func encode(quality: Int) throws -> Int {
        var request = request
        request.quality = quality
        let encoder = try CodecRegistry.encoder(for: request)
        encoder.pulse = pulse
        let part = max(1, (64 << 10) / rowBytes)
        for row in stride(from: 0, to: request.height, by: part) {
            try pulse?.check()
            try encoder.writeRows(
                kept + row * rowBytes, strideBytes: rowBytes, count: min(part, request.height - row))
        }
        var size = 0
        try encoder.finish { bytes in
            size = bytes.count
            if size <= maxBytes { best = Array(bytes) }
        }
        return size
    }
}
