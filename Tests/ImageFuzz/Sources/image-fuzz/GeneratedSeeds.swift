import Foundation
import ImageCodecs

/// Inputs to begin with: small pictures of every format, by our own encoders, and where there is none by other programs.
enum GeneratedSeeds {
    private static let xmp = Array(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description rdf:about="" dc:title="a"><Container:Directory><rdf:Seq/></Container:Directory></rdf:Description>\
        </rdf:RDF></x:xmpmeta>
        """.utf8)

    /// Byte order, one directory with orientation 6, a name and a date.
    private static let exif: [UInt8] =
        Array("II*\0".utf8) + [8, 0, 0, 0, 3, 0] + [0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        + [0x32, 1, 2, 0, 20, 0, 0, 0, 50, 0, 0, 0] + [0x3B, 1, 2, 0, 3, 0, 0, 0, 77, 101, 0, 0] + [0, 0, 0, 0]
        + Array("2024:01:02 03:04:05\0".utf8)

    /// Writes the inputs into a folder, made when missing. The first byte of each chooses settings.
    static func write(into folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func keep(_ name: String, _ choice: UInt8, _ file: [UInt8]) throws {
            try Data([choice] + file).write(to: folder.appending(path: name))
        }
        var choice: UInt8 = 0
        for format in Choice.formats.compactMap(\.self) {
            for variant in Variant.allCases {
                guard let file = try encoded(format, variant) else { continue }
                try keep("\(format.rawValue)-\(variant.rawValue)", choice, file)
                choice &+= 9
            }
        }
        let picture = try plain(format: .jpeg)
        for (name, choice, hasXMP) in [("xmp", UInt8(2 << 3), true), ("iso", 17 << 3, false)] {
            var ultra = UltraHDRWriter(picture: picture, map: try encoded(.jpeg, .gray) ?? [])
            (ultra.hasXMP, ultra.hasISO) = (hasXMP, !hasXMP)
            ultra.exif = exif
            try keep("jpeg-gain-map-\(name)", choice, ultra.file)
        }
        try keep("raw", 0, RawWriter.file(orientation: 1, width: 32, height: 24))
        try keep("raw-preview", 16 << 3, RawWriter.file(orientation: 6, width: 32, height: 24))
        try writeOthers(keep)
    }

    /// A picture without anything beside it.
    static func plain(format: ImageFormat) throws -> [UInt8] { try encoded(format, .plain) ?? [] }

    private enum Variant: String, CaseIterable {
        case plain, alpha, deep, gray, lossless, metadata, profile, progressive
    }

    private static func encoded(_ format: ImageFormat, _ variant: Variant) throws -> [UInt8]? {
        let (width, height) = (24, 18)
        let layout: PixelLayout = variant == .alpha ? .rgba8 : variant == .deep ? .rgba16 : .rgbx8
        if variant == .alpha && !format.writesAlpha || variant == .deep && format.deepBits == nil { return nil }
        if variant == .lossless && !format.canBeLossless || variant == .progressive && format != .jpeg { return nil }
        var request = EncodeRequest(format: format, width: width, height: height, layout: layout, quality: 70)
        request.isGray = variant == .gray
        request.lossless = variant == .lossless
        request.progressive = variant == .progressive
        if variant == .profile { request.metadata.icc = BuiltInProfile.displayP3.bytes }
        if variant == .metadata { request.metadata = ImageMetadata(exif: exif, xmp: xmp) }
        let encoder = try CodecRegistry.encoder(for: request)
        let bytes = (0..<width * height * layout.bytesPerPixel).map { place in
            let (x, y) = (place / layout.bytesPerPixel % width, place / layout.bytesPerPixel / width)
            let channel = variant == .gray ? 0 : place % layout.bytesPerPixel
            return UInt8(truncatingIfNeeded: channel % 4 == 3 ? 255 - 3 * y : 9 * x + 5 * y * (channel + 1))
        }
        try bytes.withUnsafeBytes { rows in
            guard let base = rows.baseAddress else { return }
            try encoder.writeRows(base, strideBytes: width * layout.bytesPerPixel, count: height)
        }
        var file: [UInt8] = []
        try encoder.finish { file = Array($0) }
        return file
    }

    /// HEIC, GIF and JPEG 2000, by the programs that the tests use for them.
    private static func writeOthers(_ keep: (String, UInt8, [UInt8]) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "image-seeds-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A folder left behind in the temporary folder harms nobody.
        defer { try? FileManager.default.removeItem(at: folder) }
        let png = folder.appending(path: "in.png")
        try Data(plain(format: .png)).write(to: png)
        for (name, program, options) in [
            ("heic", "heif-enc", ["-q", "60", png.path, "-o"]), ("gif", "convert", [png.path]),
            ("gif-animated", "convert", ["-delay", "10", png.path, png.path]),
            ("jp2", "opj_compress", ["-r", "4", "-n", "3", "-i", png.path, "-o"]),
        ] {
            let target = folder.appending(path: "\(name).\(name.prefix(4) == "heic" ? "heic" : String(name.prefix(3)))")
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [program] + options + [target.path]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
            let file = Array(try Data(contentsOf: target))
            try keep(name, 2, file)
            if name == "heic" { try writeParts(of: file, keep) }
        }
    }

    /// Pictures of HEIF that are made of two of the one in a file.
    private static func writeParts(of file: [UInt8], _ keep: (String, UInt8, [UInt8]) throws -> Void) throws {
        guard let coded = HEIFWriter.Coded(file) else { throw CocoaError(.fileReadCorruptFile) }
        let (width, height) = (coded.size.width + 6, 18)
        for (name, kind, how) in [
            ("heic-grid", "grid", HEIFWriter.grid(rows: 1, columns: 2, width: width, height: height)),
            (
                "heic-overlay", "iovl",
                HEIFWriter.overlay(color: [9, 9, 9, 9], width: width, height: height, offsets: [(1, 2), (3, 4)])
            ),
        ] {
            var writer = HEIFWriter()
            let size = HEIFWriter.size((width, height))
            let whole = writer.add(.init(kind: kind, bytes: how, properties: [size], isInside: true))
            writer.refer("dimg", from: whole, to: (0..<2).map { _ in writer.add(coded) })
            try keep(name, 2, writer.file())
        }
        var writer = HEIFWriter()
        let turn = HEIFWriter.turn(quarters: 1)
        let picture = writer.add(coded, shown: (24, 18), properties: [turn])
        let opacity = writer.add(coded, shown: (24, 18), properties: [turn, HEIFWriter.alpha])
        writer.refer("auxl", from: opacity, to: [picture])
        try keep("heic-alpha", 1, writer.file())
    }
}
