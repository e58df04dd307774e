import Foundation
import ImageCodecs
import Testing

struct HEIFSizeTests {
    private let tools: ToolFolder

    init() throws { tools = try ToolFolder() }

    private func refusal(of file: [UInt8], maxPixels: Int) -> CodecError? {
        var limits = DecodeLimits()
        limits.maxPixels = maxPixels
        do throws(CodecError) {
            _ = try decode(file, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test
    func `a picture that is long and thin is told what its sides are held to`() throws {
        let picture = try encoded(Picture.sample(width: 9_000, height: 64), as: .png)
        let output = tools.path("out.heic").path
        try tools.run("heif-enc", ["-q", "50", "-o", output, try tools.write(picture, as: "in.png")])
        let file = try tools.read("out.heic")
        #expect(refusal(of: file, maxPixels: 9_000 * 9_000) == nil)
        let error = try #require(refusal(of: file, maxPixels: 8_000 * 8_000))
        #expect(error.code == .limit && !error.reason.contains("\n"))
        #expect(error.reason.contains("9000x64"))
        #expect(error.reason.hasSuffix("the square root of the most pixels for each side"))
    }

    @Test
    func `a grid of pictures is held to what it says of its own size too`() throws {
        let picture = try encoded(Picture.sample(width: 512, height: 128), as: .png)
        let output = tools.path("out.avif").path
        try tools.run("avifenc", ["--grid", "4x1", "-s", "10", try tools.write(picture, as: "in.png"), output])
        var file = try tools.read("out.avif")
        // The container is the same, and the brand is what it is told by.
        let brand = Array("avif".utf8)
        for place in 8..<64 where Array(file[place..<place + 4]) == brand {
            file.replaceSubrange(place..<place + 4, with: Array("mif1".utf8))
        }
        #expect(refusal(of: file, maxPixels: 512 * 512) == nil)
        // One row of four, 512 wide and 128 high.
        let grid = try #require(AbsurdSize.place(of: [0, 0, 0, 3, 2, 0, 0, 128], in: file))
        file.replaceSubrange(grid + 4..<grid + 8, with: [0xEA, 0x60, 0xEA, 0x60])
        let error = try #require(refusal(of: file, maxPixels: 1_000_000))
        #expect(error.code == .limit)
        #expect(!error.reason.contains("\n"))
    }
}
