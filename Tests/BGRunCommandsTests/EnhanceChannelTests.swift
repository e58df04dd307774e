import Foundation
import ImageCodecs
import Testing

/// What `bgrun enhance` does with parts of a picture that its model does not see.
@Suite struct EnhanceChannelTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.write(try SmallModel.doubling(), to: "x2.onnx")
        try place.write(try SmallModel.doubling(channels: 1), to: "luma-x2.onnx")
        try place.write(try SmallModel.unchanging(channels: 1), to: "luma.onnx")
        try place.write(try SmallModel.unchanging(channels: 3), to: "colors.onnx")
    }

    /// Writes `photos/a.png`: colours that run into each other, and alpha that is clear above and rises to the right.
    private func putPicture(hasAlpha: Bool, isWide: Bool = false, width: Int = 40, height: Int = 24) throws {
        let layout: PixelLayout = isWide ? .rgba16 : hasAlpha ? .rgba8 : .rgbx8
        let encoder = try CodecRegistry.encoder(
            for: EncodeRequest(format: .png, width: width, height: height, layout: layout, isOpaque: !hasAlpha))
        var samples: [Int] = []
        for place in 0..<width * height {
            let (y, x) = place.quotientAndRemainder(dividingBy: width)
            let alpha = !hasAlpha ? 255 : y < 5 ? 0 : min(255, 20 + 7 * x)
            samples += [60 + 3 * x, 180 - 4 * y, 70 + (x * y) % 90, alpha]
        }
        func write<Sample: FixedWidthInteger>(_ type: Sample.Type, times factor: Int) throws {
            try samples.map { Sample($0 * factor) }.withUnsafeBytes {
                let stride = width * layout.bytesPerPixel
                try encoder.writeRows(try #require($0.baseAddress), strideBytes: stride, count: height)
            }
        }
        if isWide { try write(UInt16.self, times: 257) } else { try write(UInt8.self, times: 1) }
        var file = Data()
        try encoder.finish { file.append(contentsOf: $0) }
        try place.write(file, to: "photos/a.png")
    }

    private func enhance(_ model: String, _ arguments: String...) throws -> (picture: PictureFile, notes: [String]) {
        let ended = try CommandRun(
            ["enhance", "photos", "--model", model, "--out", "out", "--report", "report.jsonl"] + arguments, in: place
        ).end()
        #expect(ended.status == 0, "\(ended.errors)")
        let name = arguments.contains("jpeg") ? "a.jpg" : "a.png"
        return (
            try PictureFile(place.path + "/out/" + name),
            try place.lines("report.jsonl").first?["notes"] as? [String] ?? []
        )
    }

    private func exported(_ arguments: String...) throws -> PictureFile {
        let ended = try CommandRun(["export", "photos", "--out", "exported"] + arguments, in: place).end()
        #expect(ended.status == 0, "\(ended.errors)")
        return try PictureFile(place.path + "/exported/" + (arguments.contains("jpeg") ? "a.jpg" : "a.png"))
    }

    @Test(arguments: ["x2.onnx", "luma-x2.onnx"]) func alphaIsThatOfAnExportOfTheSameSize(model: String) throws {
        try putPicture(hasAlpha: true)
        let (found, notes) = try enhance(model)
        let wanted = try exported("--size", "long:80", "--enlarge")
        try #require(found.header.hasAlpha && found.pixels.count == wanted.pixels.count)
        #expect(stride(from: 3, to: wanted.pixels.count, by: 4).allSatisfy { found.pixels[$0] == wanted.pixels[$0] })
        #expect(notes.count { $0.contains("alpha") } == 1, "\(notes)")
    }

    @Test func whatAModelLeavesAloneIsThePicture() throws {
        for (model, hasAlpha) in [("colors.onnx", true), ("luma.onnx", false), ("luma.onnx", true)] {
            try putPicture(hasAlpha: hasAlpha)
            let given = try PictureFile(place.path + "/photos/a.png")
            let (found, notes) = try enhance(model, "--existing", "overwrite")
            try #require(found.header.hasAlpha == hasAlpha && found.pixels.count == given.pixels.count)
            for place in found.pixels.indices where given.pixels[place | 3] > 0 {
                try #require(found.pixels[place] == given.pixels[place], "\(model), sample \(place)")
            }
            #expect(notes.contains { $0.contains("kept beside it") }, "\(notes)")
        }
    }

    @Test func aModelOfLumaKeepsTheColoursOfAnExportOfTheSameSize() throws {
        try putPicture(hasAlpha: false)
        let (found, notes) = try enhance("luma-x2.onnx")
        let wanted = try exported("--size", "long:80", "--enlarge")
        try #require(!found.header.isGray && found.pixels.count == wanted.pixels.count)
        var compared = 0
        for pixel in stride(from: 0, to: found.pixels.count, by: 4) {
            let (made, resized) = (
                found.pixels[pixel..<pixel + 3].map(Int.init), wanted.pixels[pixel..<pixel + 3].map(Int.init)
            )
            // What was clipped has other colours.
            guard made.allSatisfy({ (1...254).contains($0) }) else { continue }
            compared += 1
            for (a, b) in [(0, 1), (2, 1)] { #expect(abs((made[a] - made[b]) - (resized[a] - resized[b])) <= 2) }
        }
        #expect(compared > found.pixels.count / 16)
        #expect(notes.contains { $0.contains("luma alone") && $0.contains("the colours were resized") }, "\(notes)")
    }

    @Test func aJPEGIsLaidOverWhiteAsAnExportDoesIt() throws {
        try putPicture(hasAlpha: true)
        let (found, _) = try enhance("colors.onnx", "--format", "jpeg", "--quality", "100")
        let wanted = try exported("--format", "jpeg", "--quality", "100")
        #expect(found.pixel(3, 1) == [255, 255, 255])
        #expect(zip(found.pixels, wanted.pixels).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }

    @Test func bitsAreThoseOfAnExport() throws {
        try putPicture(hasAlpha: true, isWide: true)
        let ended = try place.bgrun("enhance", "photos", "--model", "x2.onnx", "--out", "out")
        #expect(ended.status == 0, "\(ended.errors)")
        let file = try Data(contentsOf: URL(filePath: place.path + "/out/a.png"))
        let header = try file.withUnsafeBytes { try CodecRegistry.decoder(for: $0, limits: DecodeLimits()).header }
        #expect(header.bitsPerChannel == 16 && header.hasAlpha)
    }

    @Test func aResultOfOneChannelFromColoursIsSaidToBeGray() throws {
        try putPicture(hasAlpha: false)
        try place.write(try SmallModel.toLuma(), to: "gray.onnx")
        let (found, notes) = try enhance("gray.onnx")
        #expect(found.header.isGray && notes.contains { $0.contains("the result is gray") }, "\(notes)")
    }
}
