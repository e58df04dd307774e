/// Tells file formats apart by their first bytes, the ones this package does not read included.
enum FormatSignature {
    static func detect(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if isRIFF(bytes, "WEBP") { return .webp }
        // Classic and big TIFF in both byte orders.
        let tiff: [[UInt8]] = [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 43]]
        if tiff.contains(where: { bytes.starts(with: $0) }) { return .tiff }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return .gif }
        // A bare codestream, and one in a container.
        if bytes.starts(with: [0xFF, 0x0A]) || bytes.starts(with: [0, 0, 0, 0x0C] + Array("JXL ".utf8)) {
            return .jxl
        }
        if bytes.starts(with: [0xFF, 0x4F, 0xFF, 0x51]) || bytes.starts(with: [0, 0, 0, 0x0C] + Array("jP  ".utf8)) {
            return .jp2
        }
        if CameraRaw.signatures.contains(where: { bytes.starts(with: $0) }) { return .raw }
        return isoMedia(bytes)
    }

    /// HEIC, AVIF, Canon's CR3 and films share one container (ISO/IEC 14496-12) and differ in its brands.
    private static func isoMedia(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        guard bytes.count >= 16, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let length = Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        // The main brand, and after a version those that it is compatible with.
        let end = min(max(length, 16), bytes.count, 64)
        let places = [8] + Array(stride(from: 16, to: end - 3, by: 4))
        let brands = places.map { String(decoding: bytes[$0..<$0 + 4], as: UTF8.self) }
        if brands.contains("avif") || brands.contains("avis") { return .avif }
        if brands[0] == "crx " { return .raw }
        return brands.contains { ["heic", "heix", "heim", "heis", "hevc", "mif1", "msf1"].contains($0) } ? .heic : nil
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
            ("BM", "BMP"), ("8BPS", "Photoshop (PSD)"), ("%PDF", "PDF"), ("#?RADIANCE", "Radiance HDR"),
            ("<svg", "SVG"),
            ("qoif", "QOI"), ("PK\u{3}\u{4}", "A ZIP archive"),
        ]
        if let match = signatures.first(where: { bytes.starts(with: $0.0.utf8) }) { return match.1 }
        if bytes.starts(with: [0x76, 0x2F, 0x31, 0x01]) { return "OpenEXR" }
        let isFilm = bytes.count >= 12 && bytes[4..<8].elementsEqual("ftyp".utf8)
        return isFilm ? "A film (ISO media file)" : nil
    }

    private static func isRIFF(_ bytes: UnsafeRawBufferPointer, _ kind: String) -> Bool {
        bytes.count >= 12 && bytes.starts(with: "RIFF".utf8) && bytes[8..<12].elementsEqual(kind.utf8)
    }
}
