import Foundation
import ImageCodecs
import SeededNumbers
import Testing

/// Tries one format with files that are made for it, and says in a few words what came of each.
struct FormatTrial {
    let format: ImageFormat
    private let files: FormatFiles
    private let plain: [UInt8]

    /// What is there and cannot be had.
    static let absent = "-"

    init(_ format: ImageFormat) throws {
        self.format = format
        files = try FormatFiles(format)
        plain = try #require(try files.file(.plain))
    }

    /// The cells of the format's row.
    func verdicts() throws -> [String] {
        [
            try read(), written, try profile(), try alpha(), try depth(), try metadata(), try gainMap(),
            try orientation(),
            try animation(), damage(), truncation(), absurdSize(), try bomb(),
        ]
    }

    private var written: String {
        format.isWritten ? format.writtenBits.map(String.init).joined(separator: ", ") + " bits" : FormatTrial.absent
    }

    private func read() throws -> String {
        let decoded = try decode(plain)
        #expect(decoded.damage.isEmpty && decoded.header.format == format)
        #expect(decoded.picture.width == 64 && decoded.picture.height == 48)
        guard format != .raw else { return try develops(decoded) ? "developed" : "wrong" }
        return try looksRight(decoded, .plain) ? "yes" : "wrong"
    }

    /// Half red, half blue.
    private func develops(_ decoded: Decoded) throws -> Bool {
        let red = decoded.samples(12, 24)
        let blue = decoded.samples(52, 24)
        return red[0] > red[2] * 2 && blue[2] > blue[0] * 2
    }

    private func looksRight(_ decoded: Decoded, _ feature: FormatFiles.Feature) throws -> Bool {
        // GIF has 256 colours, and dithers.
        let tolerance = format == .gif ? 12.0 : 5.0
        let upright = decoded.picture.upright(decoded.header.orientation)
        let expected = FormatFiles.picture(feature)
        guard upright.width == expected.width, upright.layout.bytesPerPixel == expected.layout.bytesPerPixel else {
            return false
        }
        return upright.shown.meanDifference(to: expected.shown) < tolerance
    }

    private func profile() throws -> String {
        guard let file = try files.file(.profile) else { return FormatTrial.absent }
        let decoded = try decode(file)
        guard let icc = decoded.header.metadata.icc else { return "lost" }
        guard try looksRight(decoded, .profile) else { return "wrong" }
        return ColorProfile.isEquivalent(icc, FormatFiles.profile) ? "kept" : "other"
    }

    private func alpha() throws -> String {
        guard let file = try files.file(.alpha) else { return FormatTrial.absent }
        let decoded = try decode(file)
        guard decoded.header.hasAlpha else { return "lost" }
        let values = decoded.picture.alphas
        let expected = FormatFiles.picture(.alpha).alphas
        let wrong = zip(values, expected).filter { abs(Int($0) - Int($1)) > 3 }.count
        if wrong < values.count / 50 { return "kept" }
        if Set(values).isSubset(of: [0, 255]) { return "on or off" }
        let sum = zip(values, expected).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return sum < values.count * 2 ? "kept with loss" : "wrong"
    }

    private func depth() throws -> String {
        guard let file = try files.file(.deep) else { return FormatTrial.absent }
        let decoded = try decode(file)
        guard decoded.header.layout == .rgba16 else { return "8 bits" }
        // More values than 8 bits have, of those that come.
        let fine = Set((0..<48).flatMap { y in (0..<64).map { decoded.samples($0, y)[0] } }).count
        return "\(decoded.header.bitsPerChannel) bits\(fine > 256 || format == .raw ? "" : ", coarse")"
    }

    private func metadata() throws -> String {
        guard let file = try files.file(.metadata) else { return FormatTrial.absent }
        let metadata = try decode(file).header.metadata
        let exif = metadata.exif == nil ? [] : ["EXIF"]
        return (exif + (metadata.xmp == nil ? [] : ["XMP"])).joined(separator: ", ")
    }

    /// A map that comes with a picture, written and read again.
    private func gainMap() throws -> String {
        guard format.isWritten else { return FormatTrial.absent }
        let picture = Picture.sample(width: 64, height: 48)
        let parts = UltraHDRWriter(
            picture: try encoded(picture, as: .jpeg), map: try encoded(Picture.sample(width: 32, height: 24), as: .jpeg)
        )
        let read = try decode(parts.file).header
        guard let map = try read.gainMap?.get() else { return "lost" }
        let announced = read.metadata.edited(forWidth: 64, height: 48, icc: nil, format: format).metadata
            .announcing(map, bytes: parts.wholeMap.count).metadata
        let written = try encoded(picture, as: format) {
            $0.metadata = announced
            $0.gainMap = parts.wholeMap
        }
        guard let again = try? decode(written).header.gainMap?.get() else { return "left out" }
        return Array(written[again.range]) == parts.wholeMap ? "kept" : "wrong"
    }

    private func orientation() throws -> String {
        guard let file = try files.file(.turned) else { return FormatTrial.absent }
        let decoded = try decode(file)
        if format == .raw { return decoded.header.orientation == 6 ? "once" : "wrong" }
        return try looksRight(decoded, .turned) ? "once" : "wrong"
    }

    private func animation() throws -> String {
        guard let file = try files.file(.animated) else { return FormatTrial.absent }
        let decoded = try decode(file)
        #expect(decoded.damage.isEmpty)
        return decoded.header.notes.first ?? "not said"
    }

    /// Bytes changed in the second half, where the picture is.
    private func damage() -> String {
        var random = SeededGenerator(seed: 5)
        var silent = 0
        for _ in 0..<30 {
            var file = plain
            for _ in 0..<8 {
                file[Int.random(in: file.count / 2..<file.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            if !isTold(file) { silent += 1 }
        }
        // Coded pixels have no checksum in most formats: other ones are a picture too.
        return silent == 0 ? "told" : silent < 30 ? "told where it shows" : "not seen"
    }

    private func truncation() -> String {
        var silent = 0
        for tenths in 1...9 where !isTold(Array(plain.prefix(plain.count * tenths / 10))) { silent += 1 }
        return silent == 0 ? "told" : "\(silent) of 9 not told"
    }

    private func isTold(_ file: [UInt8]) -> Bool {
        do throws(CodecError) {
            let decoded = try decode(file)
            return !decoded.damage.isEmpty
        } catch {
            #expect(error.code != .encode, "\(error)")
            return true
        }
    }

    private func absurdSize() -> String { AbsurdSize.claimed(by: plain, of: format).map { code(of: $0) } ?? "not made" }

    private func bomb() throws -> String {
        guard format != .raw else { return FormatTrial.absent }
        var limits = DecodeLimits()
        limits.maxPixelsPerByte = 20
        let file = try files.flat(side: 2_100)
        return code(of: file, limits)
    }

    private func code(of file: [UInt8], _ limits: DecodeLimits = DecodeLimits()) -> String {
        file.withUnsafeBytes { bytes in
            do throws(CodecError) {
                _ = try CodecRegistry.decoder(for: bytes, limits: limits)
                return "let through"
            } catch {
                return "refused: \(error.code.rawValue)"
            }
        }
    }
}

extension Picture {
    /// The same with nothing in the colour of clear pixels, which some formats do not keep.
    fileprivate var shown: Picture {
        var copy = self
        guard layout == .rgba8 else { return copy }
        for start in stride(from: 0, to: bytes.count, by: 4) where bytes[start + 3] < 255 {
            copy.bytes.replaceSubrange(start..<start + 4, with: [0, 0, 0, 0])
        }
        return copy
    }

    fileprivate var alphas: [UInt8] {
        layout == .rgba8 ? stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] } : []
    }
}
