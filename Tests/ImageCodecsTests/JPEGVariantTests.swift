import Glibc
import ImageCodecs
import JPEGVariants
import Testing

/// A JPEG of a kind the product does not write, from a pixel function.
func jpeg(_ variant: jpeg_variant, _ sample: (Int, Int, Int) -> UInt8) -> [UInt8] {
    var rows: [UInt8] = []
    for y in 0..<Int(variant.height) {
        for x in 0..<Int(variant.width) { rows += (0..<Int(variant.components)).map { sample(x, y, $0) } }
    }
    var variant = variant
    var size = 0
    guard let file = jpeg_variant_encode(&variant, rows, &size) else { return [] }
    defer { free(file) }
    return Array(UnsafeBufferPointer(start: file, count: size))
}

extension jpeg_variant {
    init(_ components: Int32, width: Int32 = 64, height: Int32 = 48) {
        self.init()
        self.components = components
        self.width = width
        self.height = height
        luma_width = 1
        luma_height = 1
    }
}

/// Smooth, so that any subsampling keeps it.
private func smooth(_ x: Int, _ y: Int, _ c: Int) -> UInt8 { UInt8(min(40 + x * 2 + y + c * 25, 255)) }

struct JPEGVariantTests {
    @Test(
        arguments: [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)].map { [Int32($0.0), Int32($0.1)] }, [8, 4, 2, 1])
    func `every subsampling decodes at every scale`(factors: [Int32], scale: Int) throws {
        var variant = jpeg_variant(3)
        variant.luma_width = factors[0]
        variant.luma_height = factors[1]
        let decoded = try decode(jpeg(variant, smooth), scaleEighths: scale)
        #expect(decoded.damage.isEmpty)
        let step = 8 / scale
        for (x, y) in [(1, 1), (4, 3), (6, 4)] {
            for c in 0..<3 {
                // The middle of the square of pixels that came together.
                let expected = Int(smooth(x * step + step / 2, y * step + step / 2, c))
                let actual = Int(decoded.picture.pixel(x, y)[c])
                #expect(abs(actual - expected) <= 6, "\(x) \(y) \(c): \(actual), not \(expected)")
            }
        }
    }

    @Test(arguments: [1, 3], [(0, 1), (1, 0), (1, 1)].map { [Int32($0.0), Int32($0.1)] })
    func `progressive and arithmetic files give the picture of a plain one`(
        components: Int32, coding: [Int32]
    ) throws {
        var variant = jpeg_variant(components)
        let plain = try decode(jpeg(variant, smooth))
        variant.is_progressive = coding[0]
        variant.is_arithmetic = coding[1]
        let decoded = try decode(jpeg(variant, smooth))
        #expect(decoded.damage.isEmpty)
        #expect(decoded.picture == plain.picture)
        #expect(decoded.header.isGray == (components == 1))
    }

    @Test
    func `scans for each component and restart markers change nothing`() throws {
        var variant = jpeg_variant(3)
        let plain = try decode(jpeg(variant, smooth))
        variant.has_separate_scans = 1
        #expect(try decode(jpeg(variant, smooth)).picture == plain.picture)
        variant.has_separate_scans = 0
        variant.restart_rows = 1
        #expect(try decode(jpeg(variant, smooth)).picture == plain.picture)
    }

    @Test(arguments: [false, true])
    func `CMYK as Adobe writes it comes as ink`(storesYCCK: Bool) throws {
        // libjpeg marks four components as Adobe's, whose values are the paper that is left: 255 is no ink.
        var variant = jpeg_variant(4)
        variant.stores_ycck = storesYCCK ? 1 : 0
        let decoded = try decode(jpeg(variant, smooth))
        #expect(decoded.header.layout == .cmyk8)
        for c in 0..<4 {
            #expect(abs(Int(decoded.picture.pixel(20, 20)[c]) - (255 - Int(smooth(20, 20, c)))) <= 4)
        }
    }

    @Test
    func `CMYK without Adobe's marker is ink already`() throws {
        var file = jpeg(jpeg_variant(4), smooth)
        let marker = try #require((0..<file.count - 1).first { file[$0] == 0xFF && file[$0 + 1] == 0xEE })
        file.removeSubrange(marker..<marker + 2 + Int(file[marker + 3]))
        let decoded = try decode(file)
        #expect(abs(Int(decoded.picture.pixel(20, 20)[0]) - Int(smooth(20, 20, 0))) <= 4)
    }

    @Test
    func `RGB components are not taken for luma and chroma`() throws {
        var variant = jpeg_variant(3)
        variant.stores_rgb = 1
        let decoded = try decode(jpeg(variant, smooth))
        for c in 0..<3 { #expect(abs(Int(decoded.picture.pixel(20, 20)[c]) - Int(smooth(20, 20, c))) <= 3) }
    }

    @Test
    func `every setting of the encoder gives a readable file of its kind`() throws {
        let picture = Picture.sample(width: 65, height: 49)
        let plain = try encoded(picture, as: .jpeg)
        let optimized = try encoded(picture, as: .jpeg) { $0.optimize = true }
        let progressive = try encoded(picture, as: .jpeg) { $0.progressive = true }
        let full = try encoded(picture, as: .jpeg) { $0.fullChroma = true }
        let gray = try encoded(Picture.sample(width: 65, height: 49, isGray: true), as: .jpeg) { $0.isGray = true }
        #expect(optimized.count < plain.count)
        #expect(full.count > plain.count)
        #expect(hasMarker(0xC0, plain) && hasMarker(0xC2, progressive))
        #expect(try decode(optimized).picture == decode(plain).picture)
        #expect(try decode(progressive).picture == decode(plain).picture)
        #expect(try decode(gray).header.isGray)
        let low = try encoded(picture, as: .jpeg) { $0.quality = 20 }
        #expect(low.count < plain.count)
    }

    private func hasMarker(_ code: UInt8, _ file: [UInt8]) -> Bool {
        (0..<file.count - 1).contains { file[$0] == 0xFF && file[$0 + 1] == code }
    }

    @Test
    func `a gray file carries no profile for colours, and one that needs it is written in colour`() throws {
        let picture = Picture.sample(width: 16, height: 16, isGray: true)
        let p3 = try encoded(picture, as: .jpeg) {
            $0.isGray = true
            $0.metadata.icc = BuiltInProfile.displayP3.bytes
        }
        #expect(try decode(p3).header.isGray)
        #expect(try decode(p3).header.metadata.icc == nil)
        // Another curve: the parameters of the profile's first curve are changed.
        var other = BuiltInProfile.sRGB.bytes
        let curve = try #require((0..<other.count - 4).first { other[$0..<$0 + 4].elementsEqual("para".utf8) })
        other.replaceSubrange(curve + 12..<curve + 16, with: [0, 1, 0x80, 0])
        let file = try encoded(picture, as: .jpeg) {
            $0.isGray = true
            $0.metadata.icc = other
        }
        #expect(try !decode(file).header.isGray)
        #expect(try decode(file).header.metadata.icc == other)
    }
}
