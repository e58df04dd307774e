import Foundation
import ImageCodecs
import Testing

@Suite(.enabled(if: ToolFolder.has("avifenc"), "avifenc is not installed"))
struct AVIFSizeTests {
    private let tools: ToolFolder

    init() throws { tools = try ToolFolder() }

    /// An AVIF file of 1200 x 900 pixels.
    private func file() throws -> [UInt8] {
        let png = try tools.write(try encoded(Picture.sample(width: 1_200, height: 900), as: .png), as: "in.png")
        try tools.run("avifenc", ["-s", "10", "--min", "30", "--max", "40", png, tools.path("out.avif").path])
        return try tools.read("out.avif")
    }

    /// The same file with a brand of HEIF in the place of AVIF's.
    private func asHEIF(_ file: [UInt8]) -> [UInt8] {
        var file = file
        while let brand = file.prefix(64).firstRange(of: Array("avif".utf8)) {
            file.replaceSubrange(brand, with: Array("mif1".utf8))
        }
        return file
    }

    @Test(arguments: [false, true])
    func `a picture that is larger than its header says is not decoded`(isHEIF: Bool) throws {
        var file = try file()
        let size = try #require(file.firstRange(of: Array("ispe".utf8))).upperBound + 4
        // 40 x 30, big-endian.
        file.replaceSubrange(size..<size + 8, with: [0, 0, 0, 40, 0, 0, 0, 30])
        do throws(CodecError) {
            _ = try decode(isHEIF ? asHEIF(file) : file)
            Issue.record("it was decoded")
        } catch {
            #expect(error.code == .damaged && error.reason.hasSuffix("larger than its header says"), "\(error)")
        }
    }

    @Test
    func `a grid that is larger than its header says is claimed as it is`() throws {
        let picture = try encoded(Picture.sample(width: 2_048, height: 512), as: .png)
        let output = tools.path("grid.avif").path
        try tools.run("avifenc", ["--grid", "4x1", "-s", "10", try tools.write(picture, as: "in.png"), output])
        var file = try tools.read("grid.avif")
        let size = try #require(file.firstRange(of: [0, 0, 8, 0, 0, 0, 2, 0])).lowerBound
        file.replaceSubrange(size..<size + 8, with: [0, 0, 0, 40, 0, 0, 0, 30])
        var limits = DecodeLimits()
        // Less than the planes of what is coded and of what it is put into.
        limits.maxWorkingBytes = 2_048 * 512 * 6
        for (limits, code) in [(limits, CodecError.Code.outOfMemory), (DecodeLimits(), .damaged)] {
            do throws(CodecError) {
                _ = try decode(file, limits: limits)
                Issue.record("it was decoded")
            } catch {
                #expect(error.code == code, "\(error)")
            }
        }
    }

    @Test
    func `AV1 under a brand of HEIF is read as AVIF is`() throws {
        let file = try file()
        let (plain, other) = (try decode(file), try decode(asHEIF(file)))
        #expect(other.header.format == .heic && plain.header.format == .avif)
        #expect(other.picture.bytes == plain.picture.bytes)
    }
}
