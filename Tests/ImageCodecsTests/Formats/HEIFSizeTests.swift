import Foundation
import ImageCodecs
import Testing

/// What a HEIF says of its sizes is held against what is in it, before memory is taken for it.
struct HEIFSizeTests {
    private let tools: ToolFolder

    init() throws { tools = try ToolFolder() }

    private func coded(width: Int, height: Int) throws -> HEIFWriter.Coded {
        try tools.hevc(Picture.sample(width: width, height: height))
    }

    private func refusal(of file: [UInt8], maxPixels: Int? = nil, maxWorkingBytes: Int? = nil) -> CodecError? {
        var limits = DecodeLimits()
        if let maxPixels { limits.maxPixels = maxPixels }
        if let maxWorkingBytes { limits.maxWorkingBytes = maxWorkingBytes }
        do throws(CodecError) {
            _ = try decode(file, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test
    func `a picture that is long and thin is held to its pixels alone`() throws {
        var writer = HEIFWriter()
        _ = writer.add(try coded(width: 9_000, height: 64))
        #expect(refusal(of: writer.file(), maxPixels: 9_000 * 64) == nil)
        #expect(refusal(of: writer.file(), maxPixels: 9_000 * 63)?.code == .limit)
    }

    @Test
    func `a picture that is larger than its header says is not decoded`() throws {
        var writer = HEIFWriter()
        // A tile of a million pixels would be taken.
        _ = writer.add(try coded(width: 1_200, height: 900), size: (40, 30))
        let error = try #require(refusal(of: writer.file()))
        #expect(error.code == .damaged && error.reason.hasSuffix("larger than its header says"), "\(error)")
    }

    @Test(arguments: [false, true])
    func `a grid that is larger than its header says is claimed as it is`(isInside: Bool) throws {
        var writer = HEIFWriter()
        let how = HEIFWriter.grid(rows: 1, columns: 1, width: 4_000, height: 3_000)
        let size = HEIFWriter.size((40, 30))
        let grid = writer.add(.init(kind: "grid", bytes: how, properties: [size], isInside: isInside))
        writer.refer("dimg", from: grid, to: [writer.add(try coded(width: 64, height: 64))])
        // Three planes of 12 million.
        let beyond = try #require(refusal(of: writer.file(), maxWorkingBytes: 36_000_000))
        #expect(beyond.code == .outOfMemory, "\(beyond)")
        #expect(refusal(of: writer.file(), maxPixels: 11_999_999)?.code == .limit)
        let error = try #require(refusal(of: writer.file()))
        #expect(error.code == .damaged && error.reason.hasSuffix("not what its header says"), "\(error)")
    }

    @Test
    func `a grid of AV1 is held to what it says of its own size too`() throws {
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

    @Test
    func `bytes that items share are read as often as files need it`() throws {
        var writer = HEIFWriter()
        _ = writer.add(try coded(width: 1_024, height: 768))
        // The second time they are another picture, which is left out.
        writer.extents = 2
        #expect(refusal(of: writer.file()) == nil)
        writer.extents = 30
        let bytes = writer.items[0].bytes.count
        try #require(bytes * 22 > 1 << 20, "\(bytes)")
        let error = try #require(refusal(of: writer.file()))
        #expect(error.code == .damaged && error.reason.contains("bytes of a file of"), "\(error)")
    }

    @Test
    func `how a grid is put together is read as a whole`() throws {
        var writer = HEIFWriter()
        _ = writer.add(try coded(width: 64, height: 64), shown: (60, 50))
        #expect(refusal(of: writer.file()) == nil)
        writer.extents = 2
        let error = try #require(refusal(of: writer.file()))
        #expect(error.code == .damaged && error.reason.hasSuffix("in pieces"), "\(error)")
    }

    @Test
    func `a side is no longer than the library counts`() throws {
        var writer = HEIFWriter()
        _ = writer.add(try coded(width: 64, height: 64), shown: (60_000, 64))
        let error = try #require(refusal(of: writer.file()))
        #expect(error.code == .limit && error.reason.contains("60000 × 64"), "\(error)")
    }

    @Test
    func `what is small in the file and large in the library is refused`() throws {
        var writer = HEIFWriter()
        let picture = writer.add(try coded(width: 64, height: 64))
        let plain = writer.file()
        #expect(refusal(of: plain) == nil)
        let empty = [0, 0, 0, 8] + Array("free".utf8)
        let boxes = try #require(refusal(of: plain + (0..<1_000).flatMap { _ in empty }))
        #expect(boxes.code == .limit && boxes.reason.hasSuffix("boxes are too many"), "\(boxes)")
        let packed = HEIFWriter.Item(kind: "mime", bytes: [1, 2, 3], properties: [], text: "\0text/xml\0deflate\0")
        writer.refer("cdsc", from: writer.add(packed), to: [picture])
        let metadata = try #require(refusal(of: writer.file()))
        #expect(metadata.code == .unsupported && metadata.reason.contains("packed"), "\(metadata)")
        writer.items[1].text = "\0text/xml\0\0"
        #expect(refusal(of: writer.file()) == nil)
        writer.refer("cdsc", from: picture, to: [picture])
        #expect(refusal(of: writer.file())?.code == .damaged)
    }
}
