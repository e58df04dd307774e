import ImageCodecs
import Testing

struct WebPTests {
    @Test(arguments: [PixelLayout.rgbx8, .rgba8], [(1, 1), (1, 33), (33, 1), (65, 67), (200, 150)])
    func `lossless pictures come back exactly where they show`(layout: PixelLayout, size: (Int, Int)) throws {
        let picture = Picture.sample(width: size.0, height: size.1, layout: layout)
        let decoded = try decode(try encoded(picture, as: .webp) { $0.lossless = true })
        #expect(decoded.damage.isEmpty)
        #expect(decoded.header.layout == layout || size == (1, 1))
        #expect(decoded.picture.visible.bytes == picture.visible.bytes)
    }

    @Test(arguments: [PixelLayout.rgbx8, .rgba8], [(1, 1), (33, 1), (65, 67), (200, 150)])
    func `lossy pictures come back nearly as they were`(layout: PixelLayout, size: (Int, Int)) throws {
        let picture = Picture.sample(width: size.0, height: size.1, layout: layout)
        let decoded = try decode(try encoded(picture, as: .webp) { $0.quality = 90 })
        #expect(decoded.damage.isEmpty)
        #expect(decoded.picture.width == size.0 && decoded.picture.height == size.1)
        #expect(decoded.picture.visible.meanDifference(to: picture.visible) < 4)
    }

    @Test
    func `bands of any height give the same file`() throws {
        let picture = Picture.sample(width: 67, height: 131, layout: .rgba8)
        let whole = try encoded(picture, as: .webp, band: 131)
        #expect(try encoded(picture, as: .webp, band: 1) == whole)
        #expect(try encoded(picture, as: .webp, band: 47) == whole)
    }

    @Test
    func `chroma is averaged over the same pairs of rows in every band`() throws {
        // Pairs of rows in red and blue: taken off by one, all chroma would become purple and red rows hardly redder.
        var picture = Picture.sample(width: 48, height: 140)
        for y in 0..<140 {
            for x in 0..<48 {
                let start = (y * 48 + x) * 4
                picture.bytes.replaceSubrange(start..<start + 3, with: y / 2 % 2 == 0 ? [200, 40, 40] : [40, 40, 200])
            }
        }
        let decoded = try decode(try encoded(picture, as: .webp, band: 50) { $0.quality = 100 })
        for y in stride(from: 0, to: 136, by: 4) {
            let red = Int(decoded.picture.pixel(24, y)[0]) + Int(decoded.picture.pixel(24, y + 1)[0])
            let blue = Int(decoded.picture.pixel(24, y + 2)[0]) + Int(decoded.picture.pixel(24, y + 3)[0])
            #expect(red - blue > 110, "row \(y): \(red - blue)")
        }
    }

    @Test
    func `a side beyond the format's limit is refused before any row`() {
        var request = EncodeRequest(format: .webp, width: 16_384, height: 10, layout: .rgbx8)
        #expect(throws: CodecError(.encode, "WebP holds at most 16383 pixels a side; this is 16384 × 10")) {
            try CodecRegistry.encoder(for: request)
        }
        request.width = 16_383
        #expect(throws: Never.self) { try CodecRegistry.encoder(for: request) }
    }

    @Test
    func `metadata comes back byte for byte`() throws {
        let metadata = ImageMetadata(
            exif: Array("MM\0*\0\0\0\u{8}\0\0\0\0\0\0".utf8), xmp: Array("<x:xmpmeta/>".utf8),
            icc: (0..<999).map { UInt8($0 % 253) })
        let decoded = try decode(
            try encoded(Picture.sample(width: 8, height: 8), as: .webp) { $0.metadata = metadata })
        #expect(decoded.header.metadata.exif == metadata.exif)
        #expect(decoded.header.metadata.xmp == metadata.xmp)
        #expect(decoded.header.metadata.icc == metadata.icc)
    }

    @Test(arguments: [false, true])
    func `a file that is cut anywhere is reported as damaged`(lossless: Bool) throws {
        let picture = Picture.sample(width: 160, height: 120)
        let file = try encoded(picture, as: .webp) {
            $0.lossless = lossless
            $0.metadata.xmp = [UInt8](repeating: 0x20, count: 500)
        }
        var partial = 0
        for cut in [1, 2] + Array(stride(from: 3, to: file.count, by: max(file.count / 100, 1))) {
            do throws(CodecError) {
                let decoded = try decode(Array(file.dropLast(cut)))
                #expect(!decoded.damage.isEmpty, "cut by \(cut) of \(file.count)")
                #expect(decoded.picture.height == 120)
                partial += 1
            } catch {
                #expect([.damaged, .unknownFormat].contains(error.code), "\(error)")
            }
        }
        #expect(partial > 20)
    }
}

extension WebPTests {
    @Test
    func `an animation's first frame comes in its place on a clear canvas, which is said`() throws {
        let picture = Picture.sample(width: 20, height: 10)
        let still = try encoded(picture, as: .webp) { $0.lossless = true }
        // What follows the file's header is the frame's bitstream.
        let bitstream = Array(still[12...])
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func chunk(_ kind: String, _ data: [UInt8]) -> [UInt8] { Array(kind.utf8) + little(data.count, 4) + data }
        // Twice the same frame at 4, 2 on a canvas of 30 by 16.
        let frame = little(2, 3) + little(1, 3) + little(19, 3) + little(9, 3) + little(100, 3) + [0] + bitstream
        let body =
            Array("WEBP".utf8) + chunk("VP8X", [0x12, 0, 0, 0] + little(29, 3) + little(15, 3))
            + chunk("ANIM", little(0, 6)) + chunk("ANMF", frame) + chunk("ANMF", frame)
        let decoded = try decode(Array("RIFF".utf8) + little(body.count, 4) + body)
        #expect(decoded.damage.isEmpty)
        #expect(decoded.header.notes == ["the first frame of 2"])
        #expect(decoded.header.width == 30 && decoded.header.height == 16)
        #expect(decoded.header.layout == .rgba8)
        #expect(decoded.picture.pixel(3, 2) == [0, 0, 0, 0])
        #expect(decoded.picture.pixel(4, 2) == picture.pixel(0, 0))
        #expect(decoded.picture.pixel(23, 11) == picture.pixel(19, 9))
        #expect(decoded.picture.pixel(24, 11) == [0, 0, 0, 0])
    }
}

extension Picture {
    /// The same with colour taken from wholly clear pixels, which WebP does not keep.
    var visible: Picture {
        var copy = self
        for start in stride(from: 0, to: bytes.count, by: 4) where layout == .rgba8 && bytes[start + 3] == 0 {
            copy.bytes.replaceSubrange(start..<start + 3, with: [0, 0, 0])
        }
        return copy
    }
}
