/// Tells file formats apart by their first bytes, the ones this package does not read included.
enum FormatSignature {
    static func detect(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if isRIFF(bytes, "WEBP") { return .webp }
        // Classic and big TIFF in both byte orders.
        let tiff: [[UInt8]] = [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 43]]
        if tiff.contains(where: { bytes.starts(with: $0) }) { return .tiff }
        return nil
    }

    /// One sentence on a file that ``detect(_:)`` does not know.
    static func reason(_ bytes: UnsafeRawBufferPointer) -> String {
        if bytes.isEmpty { return "The file is empty" }
        if let name = unsupportedName(bytes) { return "\(name) is not supported" }
        let start = bytes.prefix(256)
        let isText = start.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0C, 0x0D].contains($0) }
        return isText ? "This is a text, not a picture" : "The file's first bytes are of no known picture format"
    }

    private static func unsupportedName(_ bytes: UnsafeRawBufferPointer) -> String? {
        let signatures: [(String, String)] = [
            ("GIF87a", "GIF"), ("GIF89a", "GIF"), ("BM", "BMP"), ("8BPS", "Photoshop (PSD)"), ("%PDF", "PDF"),
            ("FUJIFILMCCD-RAW", "Fujifilm RAW"), ("IIU\0", "Panasonic RAW"), ("IIRO", "Olympus RAW"),
            ("#?RADIANCE", "Radiance HDR"), ("<svg", "SVG"), ("qoif", "QOI"), ("FOVb", "Sigma RAW"),
            ("PK\u{3}\u{4}", "A ZIP archive"),
        ]
        if let match = signatures.first(where: { bytes.starts(with: $0.0.utf8) }) { return match.1 }
        if bytes.starts(with: [0xFF, 0x0A]) || bytes.starts(with: [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) {
            return "JPEG XL"
        }
        if bytes.starts(with: [0, 0, 0, 0x0C, 0x6A, 0x50]) || bytes.starts(with: [0xFF, 0x4F, 0xFF, 0x51]) {
            return "JPEG 2000"
        }
        if bytes.starts(with: [0x76, 0x2F, 0x31, 0x01]) { return "OpenEXR" }
        return isoMediaName(bytes)
    }

    /// HEIC, AVIF, Canon's CR3 and films share one container and differ in its brand.
    private static func isoMediaName(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        switch String(decoding: bytes[8..<12], as: UTF8.self) {
        case "heic", "heix", "heim", "heis", "hevc", "mif1", "msf1": return "HEIC"
        case "avif", "avis": return "AVIF"
        case "crx ": return "Canon RAW (CR3)"
        default: return "A film (ISO media file)"
        }
    }

    private static func isRIFF(_ bytes: UnsafeRawBufferPointer, _ kind: String) -> Bool {
        bytes.count >= 12 && bytes.starts(with: "RIFF".utf8) && bytes[8..<12].elementsEqual(kind.utf8)
    }
}
