import Glibc
import ImageCodecs
import Testing

struct TIFFLabTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        /// 8 CIELab, 9 ICCLab.
        var photometric: Int
        var bits: Int
        var isSeparate: Bool
        var tile: Int?
        var testDescription: String { "\(photometric), \(bits) bits, separate \(isSeparate), tile \(tile ?? 0)" }

        /// What the file has for L*, a* or b* (Adobe Photoshop TIFF Technical Notes, March 2002).
        func code(_ value: Double, _ channel: Int) -> UInt64 {
            let isICC = photometric == 9
            if channel == 0 {
                let most: Double = bits == 8 ? 255 : isICC ? 0xFF00 : 0xFFFF
                return UInt64((value * most / 100).rounded())
            }
            let number = Int(((value + (isICC ? 128 : 0)) * (bits == 8 ? 1 : 256)).rounded())
            return UInt64(number & (1 << bits - 1))
        }
    }

    static let shapes = [8, 9].flatMap { photometric in
        [8, 16].flatMap { bits in
            [false, true].flatMap { isSeparate in
                [nil, 16].map { Shape(photometric: photometric, bits: bits, isSeparate: isSeparate, tile: $0) }
            }
        }
    }

    /// sRGB's white, black, gray of 119 and red, and what they are under D50.
    private static let colors: [(lab: [Double], rgb: [Double])] = {
        let light = pow((119.0 / 255 + 0.055) / 1.055, 2.4)
        return [
            ([100, 0, 0], [255, 255, 255]), ([0, 0, 0], [0, 0, 0]),
            ([116 * cbrt(light) - 16, 0, 0], [119, 119, 119]), ([54.29, 80.81, 69.89], [255, 0, 0]),
        ]
    }()

    @Test(arguments: shapes)
    func `L*a*b* comes as sRGB, and its profile is gone`(shape: Shape) throws {
        let colors = TIFFLabTests.colors
        var writer = TIFFWriter(width: 37, height: 23) { x, y, c in shape.code(colors[(x + y) % 4].lab[c], c) }
        writer.photometric = shape.photometric
        writer.bits = shape.bits
        writer.isSeparate = shape.isSeparate
        writer.tile = shape.tile
        writer.icc = BuiltInProfile.displayP3.bytes
        let decoded = try decode(writer.file(), band: 5)
        #expect(decoded.damage.isEmpty)
        #expect(decoded.header.layout == (shape.bits == 16 ? .rgba16 : .rgbx8))
        #expect(decoded.header.metadata.icc == nil)
        #expect(decoded.header.notes.isEmpty)
        let scale: Double = shape.bits == 16 ? 257 : 1
        for (x, y) in [(0, 0), (1, 0), (2, 0), (3, 0), (36, 22), (17, 9), (16, 16)] {
            let color = colors[(x + y) % 4]
            let samples = decoded.samples(x, y).map { Double($0) / scale }
            // Red is rounded in three numbers.
            let most: Double = color.lab[1] == 0 || shape.bits == 16 ? 1 : 5
            #expect(zip(samples, color.rgb).allSatisfy { abs($0 - $1) <= most }, "\(samples) for \(color.rgb)")
            #expect(samples[3] == 255)
        }
    }

    @Test
    func `the white that a file names is its white`() throws {
        let shape = Shape(photometric: 8, bits: 16, isSeparate: false)
        // sRGB's blue and white, of D65.
        let colors = [[32.303, 79.197, -107.864], [100, 0, 0]]
        var writer = TIFFWriter(width: 2, height: 1, bits: 16, photometric: 8) { x, _, c in
            shape.code(colors[x][c], c)
        }
        writer.more = [(318, 5, [3127, 10_000, 3290, 10_000])]
        let decoded = try decode(writer.file())
        for (x, color) in [[0, 0, 255], [255, 255, 255]].enumerated() {
            let samples = decoded.samples(x, 0).map { Double($0) / 257 }
            #expect(zip(samples, color).allSatisfy { abs($0 - Double($1)) <= 1 }, "\(samples)")
        }
        writer.more = [(318, 5, [0, 10_000, 0, 10_000])]
        let unknown = try decode(writer.file()).samples(1, 0)
        #expect(unknown.allSatisfy { $0 >= 65_500 }, "\(unknown)")
    }

    @Test
    func `16 bits that are said to be signed are read too`() throws {
        let shape = Shape(photometric: 8, bits: 16, isSeparate: false)
        var writer = TIFFWriter(width: 4, height: 1, bits: 16, photometric: 8) { x, _, c in
            shape.code(TIFFLabTests.colors[x].lab[c], c)
        }
        writer.sampleFormat = 2
        #expect(try decode(writer.file()).samples(2, 0).prefix(3).allSatisfy { abs($0 - 119 * 257) < 257 })
    }

    @Test
    func `what of L*a*b* cannot be read is refused`() {
        let kinds = "TIFF in L*a*b* is supported with 8 or 16 bits and without alpha only"
        var writer = TIFFWriter(width: 4, height: 4, bits: 32, photometric: 8) { _, _, _ in 0 }
        #expect(throws: CodecError(.unsupported, kinds)) { try decode(writer.file()) }
        writer.bits = 8
        writer.samples = 4
        writer.extraSamples = [2]
        #expect(throws: CodecError(.unsupported, kinds)) { try decode(writer.file()) }
        writer = TIFFWriter(width: 4, height: 4, photometric: 10) { _, _, _ in 0 }
        #expect(throws: CodecError(.unsupported, "TIFF in ITU L*a*b* is not supported")) { try decode(writer.file()) }
    }
}
