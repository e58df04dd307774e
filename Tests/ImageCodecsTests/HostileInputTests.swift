import ImageCodecs
import JPEGVariants
import SeededNumbers
import Testing

struct HostileInputTests {
    /// Tight, so that a mutated size cannot ask for much.
    private static let limits: DecodeLimits = {
        var limits = DecodeLimits()
        limits.maxPixels = 1 << 20
        limits.maxWorkingBytes = 64 << 20
        return limits
    }()

    @Test(arguments: Specimen.allCases)
    func `mutated files are decoded or refused, within the limits`(specimen: Specimen) throws {
        let sound = try specimen.file()
        #expect(try decode(sound).damage.isEmpty)
        var random = SeededGenerator(seed: 1)
        var outcomes: [CodecError.Code?: Int] = [:]
        for round in 0..<1_500 {
            var file = mutated(sound, &random)
            // Half of the PNGs get sound checksums, so that more than the checksum is tried.
            if round % 2 == 0, file.starts(with: [0x89]) { file = PNGWriter.repaired(file) }
            do throws(CodecError) {
                let decoded = try decode(file, limits: HostileInputTests.limits)
                #expect(decoded.picture.width * decoded.picture.height <= 1 << 20)
                #expect(decoded.picture.height == decoded.header.height)
                outcomes[nil, default: 0] += 1
            } catch {
                #expect(error.code != .encode, "\(error)")
                outcomes[error.code, default: 0] += 1
            }
        }
        // Both ways out were taken, so the mutations reach past the header and matter.
        #expect((outcomes[nil] ?? 0) > 50, "\(outcomes)")
        #expect((outcomes[.damaged] ?? 0) + (outcomes[.unknownFormat] ?? 0) > 10, "\(outcomes)")
    }

    /// Some bytes changed, a piece cut out or doubled, or the end cut off.
    private func mutated(_ sound: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var file = sound
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            file.removeLast(Int.random(in: 1..<file.count, using: &random))
        case 1:
            let start = Int.random(in: 0..<file.count, using: &random)
            let end = min(start + Int.random(in: 1...40, using: &random), file.count)
            let piece = Array(file[start..<end])
            file.replaceSubrange(start..<end, with: Bool.random(using: &random) ? [] : piece + piece)
        case 2, 3:
            let place = Int.random(in: 0..<min(file.count, 120), using: &random)
            file[place] = UInt8.random(in: 0...255, using: &random)
        default:
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let place = Int.random(in: 0..<file.count, using: &random)
                file[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
        return file
    }

    @Test
    func `a PNG header of 60000 squared is refused before memory is reserved`() throws {
        var file = PNGWriter(width: 8, height: 8) { _, _, _ in 0 }.file()
        file.replaceSubrange(16..<24, with: [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60])
        #expect(code(of: PNGWriter.repaired(file)) == .limit)
        // Below the pixel limit, a picture of 20000 squared is refused for its expansion.
        file.replaceSubrange(16..<24, with: [0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20])
        #expect(code(of: PNGWriter.repaired(file)) == .limit)
    }

    @Test
    func `a JPEG header of 65500 squared is refused`() throws {
        var file = try encoded(Picture.sample(width: 16, height: 16), as: .jpeg)
        let frame = try #require((0..<file.count - 1).first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
        file.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        #expect(code(of: file) == .limit)
    }

    @Test
    func `a progressive JPEG of a thousand scans is refused`() throws {
        var variant = jpeg_variant(1, width: 64, height: 64)
        variant.is_progressive = 1
        let sound = jpeg(variant) { x, y, _ in UInt8(x + y) }
        // The last scan over and over, before the end marker.
        let scan = try #require((0..<sound.count - 1).last { sound[$0] == 0xFF && sound[$0 + 1] == 0xDA })
        let repeated = Array(sound[scan..<sound.count - 2])
        let file = sound.dropLast(2) + (0..<1_000).flatMap { _ in repeated } + sound.suffix(2)
        #expect(code(of: sound) == nil)
        #expect(code(of: Array(file)) == .limit)
    }

    @Test
    func `a TIFF whose tiles are far larger than its picture is refused`() {
        var writer = TIFFWriter(width: 16, height: 16) { _, _, _ in 0 }
        writer.tile = 16
        writer.claimedTile = 1 << 16
        #expect(code(of: writer.file()) == .limit)
    }

    /// Found by fuzzing: the bytes that such a picture takes are no number of 64 bits.
    @Test
    func `a JPEG XL header of a thousand million squared is refused`() {
        let file: [UInt8] = [
            0xFF, 0x0A, 14, 0xFF, 0xFF, 0xFF, 0x37, 0x2B, 2, 0x66, 0x2D, 0x6D, 0x69, 0x6E, 0x2D, 0x70, 4,
        ]
        #expect(code(of: file) == .limit)
    }

    @Test
    func `a JPEG 2000 of as many tiles as pixels claims what its library keeps of them, or is refused`() throws {
        var file = try #require(try FormatFiles(.jp2).file(.plain))
        let size = try #require(AbsurdSize.place(of: [0xFF, 0x4F, 0xFF, 0x51], in: file)) + 8
        let usual = try claim(of: file)
        file.replaceSubrange(size + 16..<size + 24, with: [0, 0, 0, 1, 0, 0, 0, 1])
        // 64 × 48 tiles of three components.
        #expect(try claim(of: file) - usual >= 64 * 48 * (5_000 + 3 * 1_000))
        file.replaceSubrange(size..<size + 8, with: [0, 0, 1, 0, 0, 0, 0, 200])
        #expect(code(of: file) == .limit)
    }

    @Test
    func `a JPEG 2000 whose tile part is said to be longer than the file is read as one that ends early`() throws {
        let sound = try #require(try FormatFiles(.jp2).file(.plain))
        let part = try #require(AbsurdSize.place(of: [0xFF, 0x90, 0, 10], in: sound))
        var file = sound
        file.replaceSubrange(part + 6..<part + 10, with: [0x70, 0, 0, 0])
        let decoded = try decode(file)
        #expect(!decoded.damage.isEmpty)
        #expect(decoded.picture.bytes == (try decode(sound).picture.bytes))
        // Of the length that is said, no more than the file is claimed.
        #expect(try claim(of: file) == claim(of: sound) + file.count)
    }

    private func claim(of file: [UInt8]) throws -> Int {
        try file.withUnsafeBytes { bytes in
            try CodecRegistry.decoder(for: bytes, limits: DecodeLimits()).workingBytes(scaleEighths: 8)
        }
    }

    @Test
    func `limits on the file, on pixels and on memory are kept`() throws {
        let file = try encoded(Picture.sample(width: 100, height: 100), as: .jpeg) { $0.progressive = true }
        var limits = DecodeLimits()
        limits.maxFileBytes = file.count - 1
        #expect(code(of: file, limits) == .limit)
        limits.maxFileBytes = file.count
        #expect(code(of: file, limits) == nil)
        limits.maxPixels = 9_999
        #expect(code(of: file, limits) == .limit)
        limits.maxPixels = 10_000
        limits.maxWorkingBytes = 10_000
        #expect(code(of: file, limits) == .outOfMemory)
    }

    @Test
    func `working memory counts a progressive file's coefficients`() throws {
        let picture = Picture.sample(width: 640, height: 480)
        var claims: [Int] = []
        for isProgressive in [false, true] {
            let file = try encoded(picture, as: .jpeg) { $0.progressive = isProgressive }
            try file.withUnsafeBytes { bytes in
                let decoder = try CodecRegistry.decoder(for: bytes, limits: DecodeLimits())
                claims.append(decoder.workingBytes(scaleEighths: 1))
            }
        }
        // 4:2:0 has one and a half samples a pixel, each two bytes.
        #expect(claims[1] - claims[0] >= 640 * 480 * 3)
        #expect(claims[1] - claims[0] < 640 * 480 * 4)
    }

    @Test(
        arguments: [
            ("", "The file is empty"), ("Just a note, no picture.\n", "This is a text, not a picture"),
            ("\0\0\0\u{18}ftypisom\0\0\0\0", "A film (ISO media file) is not supported"),
            ("BM6\0\0\0", "BMP is not supported"), ("8BPS\0\u{1}", "Photoshop (PSD) is not supported"),
            ("\0\u{1}\u{2}\u{3}", "The file's first bytes are of no known picture format"),
        ])
    func `what is no picture is named`(start: String, reason: String) {
        #expect(throws: CodecError(.unknownFormat, reason)) { try decode(Array(start.utf8)) }
    }

    private func code(of file: [UInt8], _ limits: DecodeLimits = DecodeLimits()) -> CodecError.Code? {
        do throws(CodecError) {
            _ = try decode(file, limits: limits)
            return nil
        } catch {
            return error.code
        }
    }
}
