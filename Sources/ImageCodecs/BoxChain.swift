/// Reads boxes of a length, a kind of four letters and content (ISO/IEC 14496-12, 4.2), without trusting any of their numbers.
/// JPEG 2000, JPEG XL, AVIF, HEIC and Canon's CR3 are made of them.
struct BoxChain: Sequence, IteratorProtocol {
    struct Box {
        var kind: String
        /// The content, as far as the bytes go.
        var content: Range<Int>
        /// Ends behind the bytes.
        var isCutOff: Bool
    }

    private let bytes: UnsafeRawBufferPointer
    private var place: Int
    private let end: Int
    private var count = 0
    private static let mostBoxes = 10_000

    init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>? = nil) {
        self.bytes = bytes
        (place, end) = (range?.lowerBound ?? 0, range?.upperBound ?? bytes.count)
    }

    mutating func next() -> Box? {
        guard end - place >= 8, count < Self.mostBoxes, let short = number(4, at: place) else { return nil }
        count += 1
        let kind = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
        guard let length = short == 1 ? number(8, at: place + 8) : short == 0 ? end - place : short else { return nil }
        let head = short == 1 ? 16 : 8
        guard length >= head else { return nil }
        let isCutOff = length > end - place
        let content = place + head..<(isCutOff ? end : place + length)
        place = content.upperBound
        return Box(kind: kind, content: content, isCutOff: isCutOff)
    }

    private func number(_ count: Int, at place: Int) -> Int? {
        guard place <= end - count else { return nil }
        return bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }
}

extension BoxChain {
    /// Those that hold a picture or what is said of it. What follows them may be anything.
    private static let knownKinds: Set = ["Exif", "jp2c", "jp2h", "jxlc", "jxlp", "mdat", "meta", "moov", "xml "]

    private static let formats: Set<ImageFormat> = [.avif, .heic, .jp2, .jxl]

    /// Whether a part of a picture is said to end behind the file; false for formats that are not made of boxes.
    static func isCutOff(_ file: UnsafeRawBufferPointer, of format: ImageFormat) -> Bool {
        guard formats.contains(format), file.count >= 8 else { return false }
        // JPEG 2000 and JPEG XL may come without boxes.
        return file[0] != 0xFF && isCutOff(file)
    }

    /// Whether a part of a picture is said to end behind the file.
    static func isCutOff(_ file: UnsafeRawBufferPointer) -> Bool {
        BoxChain(file).contains { $0.isCutOff && knownKinds.contains($0.kind) }
    }

    /// Whether a sample of a film, which CR3 calls its pictures, is said to end behind the file.
    static func samplesAreCutOff(_ file: UnsafeRawBufferPointer) -> Bool {
        guard let movie = BoxChain(file).first(where: { $0.kind == "moov" }) else { return false }
        return BoxChain(file, in: movie.content).contains { track in
            guard track.kind == "trak" else { return false }
            var content = track.content
            for kind in ["mdia", "minf", "stbl"] {
                guard let box = BoxChain(file, in: content).first(where: { $0.kind == kind }) else { return false }
                content = box.content
            }
            return sampleIsCutOff(file, in: content)
        }
    }

    /// Tells of a track with one sample: its size stands in one box, its place in another (8.7.3 and 8.7.5).
    private static func sampleIsCutOff(_ file: UnsafeRawBufferPointer, in table: Range<Int>) -> Bool {
        func number(_ count: Int, at place: Int, in box: Box) -> Int? {
            guard place + count <= box.content.count else { return nil }
            let start = box.content.lowerBound + place
            return file[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
        }
        var size: Int?
        var place: Int?
        for box in BoxChain(file, in: table) {
            switch box.kind {
            case "stsz": size = number(4, at: 4, in: box).flatMap { $0 > 0 ? $0 : number(4, at: 12, in: box) }
            case "stco": place = number(4, at: 8, in: box)
            case "co64": place = number(8, at: 8, in: box)
            default: break
            }
        }
        guard let size, let place else { return false }
        return place < 0 || place > file.count || size > file.count - place
    }
}
