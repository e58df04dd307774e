import Foundation
import ImageCodecs
import Testing

/// What the boxes around a JPEG 2000's codestream make of it.
struct JP2BoxTests {
    private func error(of file: [UInt8]) -> CodecError? {
        do throws(CodecError) {
            _ = try decode(file)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [UInt8(2), 3])
    func `an embedded profile is known with the header, by either method`(method: UInt8) throws {
        let icc = BuiltInProfile.displayP3.bytes
        var writer = try JP2Writer(width: 9, height: 7, components: 3) { x, y, c in x * 20 + y * 10 + c }
        writer.colors = [JP2Writer.profile(icc, method: method), JP2Writer.enumerated(16)]
        let decoded = try decode(writer.file())
        #expect(decoded.header.metadata.icc == icc)
        #expect(decoded.picture.pixel(3, 2) == [80, 81, 82, 255])
        writer.colors.reverse()
        #expect(try decode(writer.file()).header.metadata.icc == nil, "the first specification counts")
    }

    @Test
    func `a palette gives the picture its colours`() throws {
        let entries = [[10, 20, 30], [200, 100, 50], [0, 0, 255], [255, 255, 0]]
        var writer = try JP2Writer(width: 9, height: 7, components: 1) { x, y, _ in (x + y) % 6 }
        writer.palette = ([8, 8, 8], entries)
        writer.mapping = [(0, 0), (0, 1), (0, 2)]
        let decoded = try decode(writer.file())
        #expect(!decoded.header.isGray && !decoded.header.hasAlpha && decoded.header.bitsPerChannel == 8)
        for (x, y) in [(0, 0), (1, 0), (1, 1), (8, 6), (4, 0), (5, 0)] {
            // Indices beyond the palette are its last.
            let expected = entries[min((x + y) % 6, 3)].map { UInt8($0) } + [255]
            #expect(decoded.picture.pixel(x, y) == expected, "\(x), \(y)")
        }
    }

    @Test
    func `a palette's own bits and a component beside it for alpha are those of the picture`() throws {
        var writer = try JP2Writer(width: 9, height: 7, components: 2) { x, y, c in c == 0 ? x % 2 : x * 20 + y }
        writer.palette = ([12, 12, 12], [[0, 4_095, 1_000], [2_000, 3_000, 4_000]])
        // The columns in another order than the channels.
        writer.mapping = [(0, 2), (0, 1), (0, 0), (1, nil)]
        writer.channels = [.color(1), .color(2), .color(3), .opacity]
        let decoded = try decode(writer.file())
        #expect(decoded.header.layout == .rgba16 && decoded.header.bitsPerChannel == 12 && decoded.header.hasAlpha)
        func wide(_ value: Int, _ most: Int) -> Int { value * 65_535 / most }
        #expect(decoded.samples(4, 3) == [wide(1_000, 4_095), 65_535, 0, wide(83, 255)])
        #expect(
            decoded.samples(5, 3) == [wide(4_000, 4_095), wide(3_000, 4_095), wide(2_000, 4_095), wide(103, 255)])
    }

    @Test
    func `a mapping to what is not there is damage`() throws {
        var writer = try JP2Writer(width: 9, height: 7, components: 1) { x, _, _ in x % 2 }
        writer.palette = ([8, 8, 8], [[1, 2, 3], [4, 5, 6]])
        for mapping: [(component: Int, column: Int?)] in [
            [(0, 0), (0, 1), (0, 3)], [(0, 0), (1, 1), (0, 2)], [(0, 0), (0, 1), (2, nil)],
        ] {
            writer.mapping = mapping
            #expect(error(of: writer.file()) == CodecError(.damaged, "The JPEG 2000's palette is damaged"))
        }
        writer.mapping = [(0, 0), (0, 1), (0, 2)]
        let sound = writer.file()
        #expect(error(of: sound) == nil)
        // More entries than there is room for.
        var file = sound
        let palette = try #require(AbsurdSize.place(of: Array("pclr".utf8), in: file))
        file[palette + 5] = 200
        #expect(error(of: file)?.code == .damaged)
    }

    @Test
    func `CMYK is refused and not taken for colours with alpha`() throws {
        let sentence = "The JPEG 2000 picture is in CMYK, which is not read from this format"
        var writer = try JP2Writer(width: 9, height: 7, components: 4) { x, y, c in x * 20 + y + c }
        writer.colors = [JP2Writer.enumerated(12)]
        #expect(error(of: writer.file()) == CodecError(.unsupported, sentence))
        var icc = BuiltInProfile.sRGB.bytes
        icc.replaceSubrange(16..<20, with: Array("CMYK".utf8))
        writer.colors = [JP2Writer.profile(icc, method: 3)]
        #expect(error(of: writer.file()) == CodecError(.unsupported, sentence))
    }

    @Test
    func `alpha is what the channel definitions say, and the fourth channel where there are none`() throws {
        var writer = try JP2Writer(width: 9, height: 7, components: 4) { x, y, c in x * 20 + y + c * 2 }
        func pixel() throws -> [UInt8] {
            let decoded = try decode(writer.file())
            #expect(decoded.header.hasAlpha == (decoded.header.layout == .rgba8))
            return decoded.picture.pixel(4, 3) + [decoded.header.hasAlpha ? 1 : 0]
        }
        #expect(try pixel() == [83, 85, 87, 89, 1])
        writer.channels = [.opacity, .color(3), .color(2), .color(1)]
        #expect(try pixel() == [89, 87, 85, 83, 1])
        writer.channels = [.color(1), .color(2), .color(3), .unspecified]
        #expect(try pixel() == [83, 85, 87, 255, 0])
        writer.channels = [.color(1), .opacity, .unspecified, .unspecified]
        writer.colors = [JP2Writer.enumerated(17)]
        #expect(try pixel() == [83, 83, 83, 85, 1])
    }

    @Test
    func `colours that were multiplied by their opacity come back as they were`() throws {
        func straight(_ x: Int, _ c: Int) -> Int { c == 0 ? 200 : c == 1 ? 80 : x * 6 }
        func alpha(_ x: Int, _ y: Int) -> Int { y * 36 + x % 4 }
        var writer = try JP2Writer(width: 32, height: 8, components: 4) { x, y, c in
            c == 3 ? alpha(x, y) : (straight(x, c) * alpha(x, y) + 127) / 255
        }
        writer.channels = [.color(1), .color(2), .color(3), .premultipliedOpacity]
        let picture = try decode(writer.file()).picture
        for y in 0..<8 {
            for x in 0..<32 {
                let pixel = picture.pixel(x, y).map(Int.init)
                #expect(pixel[3] == alpha(x, y))
                // Half a step of what was stored, and of what comes.
                let loss = alpha(x, y) == 0 ? 255 : (255 + alpha(x, y)) / (2 * alpha(x, y)) + 1
                for c in 0..<3 { #expect(abs(pixel[c] - straight(x, c)) <= loss, "\(x), \(y), \(c)") }
                if alpha(x, y) == 0 { #expect(pixel == [0, 0, 0, 0]) }
            }
        }
    }

    @Test
    func `a codestream whose second and third components are halved is taken for Y'CbCr, which is said`() throws {
        let tools = try ToolFolder()
        // Planes of 64 × 48 and twice 32 × 48, of the light and the colours of pure red (ITU-R BT.601).
        let planes = [(76, 64 * 48), (85, 32 * 48), (255, 32 * 48)].flatMap { value, count in
            [UInt8](repeating: UInt8(value), count: count)
        }
        let input = try tools.write(planes, as: "in.raw")
        let out = tools.path("out.j2k").path
        try tools.run("opj_compress", ["-F", "64,48,3,8,u@1x1:2x1:2x1", "-mct", "0", "-i", input, "-o", out])
        let decoded = try decode(try tools.read("out.j2k"))
        let pixel = decoded.picture.pixel(40, 20)
        #expect(pixel[0] > 250 && pixel[1] < 5 && pixel[2] < 5, "\(pixel)")
        #expect(decoded.header.notes.count == 1 && decoded.header.notes[0].contains("Y'CbCr"))
    }
}
