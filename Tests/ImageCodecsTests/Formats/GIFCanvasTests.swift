import Foundation
import ImageCodecs
import Testing

/// GIFs whose first frame does not lie on their screen.
struct GIFCanvasTests {
    private let sound: [UInt8]
    private let picture: Picture
    /// Where the first frame says its place and size.
    private let frame: Int

    init() throws {
        sound = try #require(try FormatFiles(.gif).file(.plain))
        picture = try decode(sound).picture
        frame = try #require(AbsurdSize.place(of: [0x2C, 0, 0, 0, 0, 64, 0, 48, 0], in: sound)) + 1
    }

    private func file(screen: (UInt8, UInt8), left: UInt8 = 0, top: UInt8 = 0) -> [UInt8] {
        var file = sound
        file.replaceSubrange(6..<10, with: [screen.0, 0, screen.1, 0])
        file.replaceSubrange(frame..<frame + 4, with: [left, 0, top, 0])
        return file
    }

    private func workingBytes(_ file: [UInt8], limits: DecodeLimits = DecodeLimits()) throws(CodecError) -> Int {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: file.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: file)
        return try CodecRegistry.decoder(for: UnsafeRawBufferPointer(copy), limits: limits)
            .workingBytes(scaleEighths: 8)
    }

    @Test(arguments: [(0, 0), (40, 30), (64, 0), (0, 48), (63, 48)] as [(UInt8, UInt8)])
    func `a screen that is too small grows to hold the first frame`(width: UInt8, height: UInt8) throws {
        let decoded = try decode(file(screen: (width, height)))
        #expect(decoded.picture == picture)
        #expect(decoded.damage.isEmpty && !decoded.header.hasAlpha)
    }

    @Test
    func `what a grown screen has beside the frame is clear`() throws {
        let decoded = try decode(file(screen: (40, 30), left: 5, top: 7))
        #expect(decoded.header.width == 69 && decoded.header.height == 55 && decoded.header.hasAlpha)
        #expect(decoded.picture.pixel(4, 20) == [0, 0, 0, 0])
        #expect(decoded.picture.pixel(20, 6) == [0, 0, 0, 0])
        #expect(decoded.picture.pixel(5, 7) == picture.pixel(0, 0))
        #expect(decoded.picture.pixel(68, 54) == picture.pixel(63, 47))
    }

    @Test
    func `a file without its last byte ends early`() throws {
        let decoded = try decode(Array(sound.dropLast()))
        #expect(decoded.picture == picture)
        #expect(decoded.damage == ["The GIF ends early or is damaged"])
    }

    @Test
    func `memory is claimed for the grown size, and limits hold for it`() throws {
        let small = try workingBytes(file(screen: (64, 48)))
        #expect(try workingBytes(file(screen: (0, 0))) == small)
        #expect(try workingBytes(file(screen: (0, 0), left: 100, top: 50)) - small == (164 * 98 - 64 * 48) * 4)
        var limits = DecodeLimits()
        limits.maxPixels = 64 * 48
        #expect(try workingBytes(file(screen: (0, 0)), limits: limits) == small)
        #expect(throws: CodecError(.limit, "65 × 48 pixels are more than the limit of 3072")) {
            try workingBytes(file(screen: (0, 0), left: 1), limits: limits)
        }
    }
}
