import Glibc
import ImageCodecs
import Testing

struct ColorTests {
    @Test
    func `the built-in profiles are small and told apart`() {
        #expect(BuiltInProfile.sRGB.bytes.count < 1_000)
        #expect(BuiltInProfile.displayP3.bytes.count < 1_000)
        #expect(ColorProfile.channels(of: BuiltInProfile.sRGB.bytes) == "RGB ")
        #expect(ColorProfile.isEquivalent(nil, BuiltInProfile.sRGB.bytes))
        #expect(!ColorProfile.isEquivalent(nil, BuiltInProfile.displayP3.bytes))
    }

    @Test
    func `a profile with another description and date counts as the same`() {
        var renamed = BuiltInProfile.displayP3.bytes
        renamed[31] ^= 7
        #expect(renamed != BuiltInProfile.displayP3.bytes)
        #expect(ColorProfile.isEquivalent(renamed, BuiltInProfile.displayP3.bytes))
    }

    @Test
    func `bytes that are no profile are equivalent to nothing and cannot be converted from`() {
        let junk = [UInt8](repeating: 7, count: 500)
        #expect(!ColorProfile.isEquivalent(junk, nil))
        #expect(throws: CodecError(.unsupported, "The colour profile cannot be read")) {
            try ColorTransform(from: junk, layout: .rgbx8, to: .sRGB)
        }
        #expect(throws: CodecError.self) {
            try ColorTransform(from: BuiltInProfile.sRGB.bytes, layout: .cmyk8, to: .sRGB)
        }
    }

    @Test
    func `gray stays gray and P3 red leaves sRGB's gamut`() throws {
        var pixels: [UInt8] = [128, 128, 128, 255, 255, 0, 0, 255, 200, 60, 40, 255]
        let transform = try ColorTransform(from: BuiltInProfile.displayP3.bytes, layout: .rgbx8, to: .sRGB)
        pixels.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            transform.apply(to: start, strideBytes: 12, width: 3, count: 1)
        }
        #expect(pixels[0..<4] == [128, 128, 128, 255])
        #expect(pixels[4..<8] == [255, 0, 0, 255])
        #expect(pixels[8] > 210 && pixels[9] < 60 && pixels[11] == 255)
    }

    @Test(arguments: [PixelLayout.rgbx8, .rgba8, .rgba16, .rgbaF32])
    func `P3 and back keeps the colours and the alpha`(layout: PixelLayout) throws {
        let picture = Picture.sample(width: 40, height: 30, layout: layout, isGray: true)
        var copy = picture
        let there = try ColorTransform(from: nil, layout: layout, to: .displayP3)
        let back = try ColorTransform(from: BuiltInProfile.displayP3.bytes, layout: layout, to: .sRGB)
        let stride = 40 * layout.bytesPerPixel
        copy.bytes.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            there.apply(to: start, strideBytes: stride, width: 40, count: 30)
            back.apply(to: start, strideBytes: stride, width: 40, count: 30)
        }
        switch layout {
        case .rgbx8, .rgba8, .cmyk8: #expect(copy.meanDifference(to: picture) < 0.6)
        case .rgba16: #expect(largestDifference(copy, picture, as: UInt16.self) { Double($0) } < 8)
        case .rgbaF32: #expect(largestDifference(copy, picture, as: Float.self) { Double($0) } < 0.0002)
        }
    }

    private func largestDifference<Sample>(
        _ a: Picture, _ b: Picture, as: Sample.Type, _ value: (Sample) -> Double
    ) -> Double {
        a.bytes.withUnsafeBytes { a in
            b.bytes.withUnsafeBytes { b in
                zip(a.bindMemory(to: Sample.self), b.bindMemory(to: Sample.self))
                    .reduce(0) { max($0, abs(value($1.0) - value($1.1))) }
            }
        }
    }

    @Test
    func `CMYK without a profile follows the plain formula`() throws {
        var pixels: [UInt8] = [0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 0, 128, 255, 128]
        let transform = try ColorTransform(from: nil, layout: .cmyk8, to: .sRGB)
        #expect(transform.outputLayout == .rgbx8)
        pixels.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            transform.apply(to: start, strideBytes: 16, width: 4, count: 1)
        }
        #expect(pixels == [255, 255, 255, 255, 0, 255, 255, 255, 0, 0, 0, 255, 127, 63, 0, 255])
    }

    @Test
    func `sRGB's tone curve comes as its standard's formula`() throws {
        let curves = try #require(ProfileCurves(of: nil, entries: 256, inverseEntries: 4_096))
        for code in 0..<256 {
            let value = Double(code) / 255
            let expected = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            #expect(abs(Double(curves.linear[0][code]) - expected) < 1e-5)
        }
        #expect(abs(curves.coded[2][4_095] - 1) < 1e-5)
        let half = curves.coded[1][2_048]
        #expect(abs(half - 0.7355) < 0.001)
        // Linear white is the white of the profile connection space.
        #expect(abs(curves.matrix[0...2].reduce(0, +) - 0.9642) < 0.001)
        #expect(abs(curves.matrix[3...5].reduce(0, +) - 1) < 0.001)
    }

    @Test
    func `a matrix profile whose white cannot be is refused`() {
        var impossible = BuiltInProfile.displayP3.bytes
        // Its three columns: no light of red and blue, and green of none that there is (ICC.1, section 9.2).
        for tag in ["rXYZ", "gXYZ", "bXYZ"] {
            guard let entry = impossible.firstRange(of: Array(tag.utf8)) else { continue }
            let start = impossible[entry.upperBound..<entry.upperBound + 4].reduce(0) { $0 << 8 | Int($1) } + 8
            impossible.replaceSubrange(start..<start + 12, with: [UInt8](repeating: 0, count: 12))
            if tag == "gXYZ" { impossible[start] = 0x80 }
        }
        for layout in [PixelLayout.rgbx8, .rgba16, .rgbaF32] {
            #expect(throws: CodecError(.unsupported, "The colour profile has no white that can be")) {
                try ColorTransform(from: impossible, layout: layout, to: .sRGB)
            }
        }
    }

    /// A gray profile whose codes are linear light: header, one tag, and its curve of gamma 1 (ICC.1, section 10.6).
    private static let linearGray: [UInt8] = {
        var bytes = [UInt8](repeating: 0, count: 128)
        func put(_ part: [UInt8], at place: Int) { bytes.replaceSubrange(place..<place + part.count, with: part) }
        put(PNGWriter.big(160), at: 0)
        put([2, 0x40], at: 8)
        put(Array("mntrGRAYXYZ ".utf8), at: 12)
        put(Array("acsp".utf8), at: 36)
        // The white of D50.
        put([0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D], at: 68)
        for part in [1, 0x6B54_5243, 144, 14] { bytes += PNGWriter.big(part) }
        return bytes + Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    }()

    @Test(arguments: [BuiltInProfile.sRGB, .displayP3], [PixelLayout.rgbx8, .rgba16, .rgbaF32])
    func `every code of linear gray becomes the nearest one, without a colour`(
        target: BuiltInProfile, layout: PixelLayout
    ) throws {
        let codes = (0..<256).map { code in (0..<4).map { $0 == 3 ? 99 : code } }.flatMap { $0 }
        var pixels: [UInt8] =
            switch layout {
            case .rgba16: codes.map { UInt16($0 * 257) }.withUnsafeBytes { Array($0) }
            case .rgbaF32: codes.map { Float($0) / 255 }.withUnsafeBytes { Array($0) }
            default: codes.map { UInt8($0) }
            }
        let transform = try ColorTransform(from: ColorTests.linearGray, layout: layout, to: target)
        pixels.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            transform.apply(to: start, strideBytes: bytes.count, width: 256, count: 1)
        }
        let values: [Double] = pixels.withUnsafeBytes { bytes in
            switch layout {
            case .rgba16: bytes.bindMemory(to: UInt16.self).map { Double($0) / 257 }
            case .rgbaF32: bytes.bindMemory(to: Float.self).map { Double($0) * 255 }
            default: bytes.map { Double($0) }
            }
        }
        for code in 0..<256 {
            let light = Double(code) / 255
            let exact = 255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
            let pixel = values[code * 4..<code * 4 + 4].map { $0 }
            #expect(abs(pixel[0] - exact) < 0.6, "\(code) became \(pixel[0]) for \(exact)")
            #expect(pixel[0] == pixel[1] && pixel[0] == pixel[2])
            #expect(abs(pixel[3] - 99) < 0.001)
        }
    }

    @Test
    func `the checksum is XXH3's with 128 bits`() {
        let empty = [UInt8]().withUnsafeBytes(Checksum.xxh3)
        #expect(empty == "99aa06d3014798d86001c324468d497f")
        #expect(Array("a".utf8).withUnsafeBytes(Checksum.xxh3) == "a96faf705af16834e6c632b61e964e1f")
    }
}
