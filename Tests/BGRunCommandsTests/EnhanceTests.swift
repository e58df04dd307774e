import Foundation
import Glibc
import ImageCodecs
import Inference
import InferenceData
import ModelParts
import Testing

/// `bgrun enhance`: pictures through models that give pictures.
@Suite struct EnhanceTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.write(try SmallModel.doubling(), to: "x2.onnx")
    }

    /// Values of a picture's channels, 0 ... 1, and its size.
    private func pixels(_ path: String) throws -> (width: Int, height: Int, values: [Float]) {
        let file = open(place.path + "/" + path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let read = try ImageReader().read(descriptor: file, preset: .unit)
        return (read.tensor.shape[3], read.tensor.shape[2], read.tensor.elements(as: Float.self))
    }

    private func enhance(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandRun.Ended {
        try CommandRun(
            ["enhance", "photos", "--model", "x2.onnx", "--format", "png"] + arguments, in: place,
            environment: environment
        ).end()
    }

    @Test func tileByTileIsAsInOneGo() throws {
        try place.putPhotos(1)
        #expect(try enhance("--out", "whole", "--tile", "4096").status == 0)
        // Two convolutions of 3 x 3 look two pixels far.
        let ended = try enhance("--out", "tiles", "--tile", "48", "--overlap", "2")
        #expect(ended.status == 0, "\(ended.errors)")
        let (whole, tiles) = (try pixels("whole/photo-0001.png"), try pixels("tiles/photo-0001.png"))
        #expect(whole.width == 960 && whole.height == 640)
        #expect(tiles.width == whole.width && tiles.height == whole.height)
        let largest = zip(whole.values, tiles.values).map { abs($0 - $1) }.max() ?? 1
        #expect(largest <= 1.01 / 255, "levels differ by \(largest * 255)")
        // Without an overlap the seams show, so the comparison can fail.
        #expect(try enhance("--out", "seams", "--tile", "48", "--overlap", "0").status == 0)
        let seams = try pixels("seams/photo-0001.png")
        #expect((zip(whole.values, seams.values).map { abs($0 - $1) }.max() ?? 0) > 2 / 255)
    }

    /// Metadata of a file.
    private func header(_ path: String) throws -> ImageHeader {
        try Data(contentsOf: URL(filePath: place.path + "/" + path)).withUnsafeBytes {
            try CodecRegistry.decoder(for: $0, limits: DecodeLimits()).header
        }
    }

    /// A turned picture in Display P3 with EXIF, XMP and IPTC.
    private func putTaggedPhoto() throws {
        try place.putPhotos(1)
        var metadata = try header("photos/photo-0001.jpg").metadata
        metadata.xmp = Array(#"<x tiff:Orientation="1" exif:PixelXDimension="480" dc:title="a picture"/>"#.utf8)
        metadata.iptc = Array("8BIM\u{4}\u{4}\0\0\0\0\0\u{2}ab".utf8)
        metadata.icc = BuiltInProfile.displayP3.bytes
        let encoder = try CodecRegistry.encoder(
            for: EncodeRequest(format: .jpeg, width: 48, height: 32, layout: .rgbx8, metadata: metadata))
        let rows = [UInt8](repeating: 90, count: 48 * 32 * 4)
        try rows.withUnsafeBytes { try encoder.writeRows(try #require($0.baseAddress), strideBytes: 48 * 4, count: 32) }
        var file = Data()
        try encoder.finish { file.append(contentsOf: $0) }
        try place.write(file, to: "photos/photo-0001.jpg")
    }

    @Test(arguments: ["keep", "strip"]) func metadataIsThatOfAnExportOfTheSameSize(policy: String) throws {
        try putTaggedPhoto()
        let words = ["--format", "jpeg", "--metadata", policy]
        let enhanced = try CommandRun(
            ["enhance", "photos", "--model", "x2.onnx", "--out", "enhanced"] + words, in: place
        ).end()
        #expect(enhanced.status == 0, "\(enhanced.errors)")
        let exported = try CommandRun(
            ["export", "photos", "--size", "long:96", "--enlarge", "--out", "exported"] + words, in: place
        ).end()
        #expect(exported.status == 0, "\(exported.errors)")
        let (found, wanted) = (try header("enhanced/photo-0001.jpg"), try header("exported/photo-0001.jpg"))
        #expect(max(found.width, found.height) == 96)
        #expect(found.width == wanted.width && found.height == wanted.height && found.orientation == 1)
        #expect(found.metadata.icc == BuiltInProfile.sRGB.bytes)
        #expect(found.metadata.exif == wanted.metadata.exif && found.metadata.xmp == wanted.metadata.xmp)
        #expect(found.metadata.iptc == wanted.metadata.iptc)
        let isKept = policy == "keep"
        for part in [found.metadata.exif, found.metadata.xmp, found.metadata.iptc] { #expect((part != nil) == isKept) }
    }

    /// A turned Ultra HDR photograph of 48 x 32 pixels with a map of half its size, both brighter to the right and below.
    private func putPhotoWithGainMap() throws {
        func jpeg(_ width: Int, _ height: Int) throws -> [UInt8] {
            let pixels = (0..<width * height).flatMap { at -> [UInt8] in
                let code = UInt8(20 + 120 * (at % width) / width + 80 * (at / width) / height)
                return [code, code, code, 255]
            }
            let encoder = try CodecRegistry.encoder(
                for: EncodeRequest(format: .jpeg, width: width, height: height, layout: .rgbx8, isGray: true))
            try pixels.withUnsafeBytes {
                try encoder.writeRows(try #require($0.baseAddress), strideBytes: width * 4, count: height)
            }
            var file: [UInt8] = []
            try encoder.finish { file += $0 }
            return file
        }
        var writer = UltraHDRWriter(picture: try jpeg(48, 32), map: try jpeg(24, 16))
        // Orientation 6 and nothing else.
        writer.exif =
            [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6] + [UInt8](repeating: 0, count: 7)
        writer.hasISO = true
        try place.write(Data(writer.file), to: "photos/photo.jpg")
    }

    @Test func theGainMapIsThatOfAnExportOfTheSameSize() throws {
        try putPhotoWithGainMap()
        let enhanced = try CommandRun(
            ["enhance", "photos", "--model", "x2.onnx", "--out", "enhanced", "--format", "jpeg"], in: place
        ).end()
        #expect(enhanced.status == 0, "\(enhanced.errors)")
        let exported = try CommandRun(
            ["export", "photos", "--size", "long:96", "--enlarge", "--out", "exported"], in: place
        ).end()
        #expect(exported.status == 0, "\(exported.errors)")
        func map(_ path: String) throws -> (map: GainMap, file: Data) {
            let map = try #require(try header(path).gainMap).get()
            return (map, try Data(contentsOf: URL(filePath: place.path + "/" + path))[map.range])
        }
        let (found, wanted) = (try map("enhanced/photo.jpg"), try map("exported/photo.jpg"))
        #expect(found.map.width == 32 && found.map.height == 48)
        #expect(found.map.metadata.gainMapISO == UltraHDRWriter.meaning && found.map.metadata.xmp != nil)
        #expect(found.file == wanted.file)
    }

    @Test func theReportSaysWhereTheGainMapIsLeftOut() throws {
        try putPhotoWithGainMap()
        let ended = try enhance("--out", "out", "--report", "report.jsonl")
        #expect(ended.status == 0, "\(ended.errors)")
        let report = try String(contentsOfFile: place.path + "/report.jsonl", encoding: .utf8)
        #expect(report.contains("the gain map was left out: only a JPEG keeps it"), "\(report)")
    }

    @Test func aPictureThatIsNoneStopsNoOther() throws {
        try place.putPhotos(3)
        try place.write("this is no picture", to: "photos/photo-0000.jpg")
        let ended = try enhance("--out", "out", "--tile", "128")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0000.jpg: unknownFormat: "), "\(ended.errors)")
        #expect(Set(try place.contents("out").keys) == ["photo-0001.png", "photo-0002.png", "photo-0003.png"])
    }

    @Test func whatIsNoPictureAndWasNotNamedIsPassedOverAsByAnExport() throws {
        try place.putPhotos(2)
        for name in ["desktop.ini", "Thumbs.db", "photo-0001.jpg.xmp", "photo-0002.txt", "empty.dat", ".DS_Store"] {
            try place.write(name.hasPrefix("empty") ? "" : "[.ShellClassInfo]", to: "photos/\(name)")
        }
        let counts = try [
            try enhance("--out", "out", "--json"), try place.bgrun("export", "photos", "--out", "exported", "--json"),
        ].map { ended in
            #expect(ended.status == 0, "\(ended.errors)")
            return try ended.json()["counts"] as? [String: Int]
        }
        #expect(counts[0]?["good"] == 2 && counts[0]?["notPictures"] == 5, "\(counts)")
        #expect(counts[0] == counts[1])
    }

    @Test func aPictureThatNeedsMoreMemoryThanThereIsIsOneFailedItem() throws {
        try place.putPhotos(1)
        try place.put(try #require(try Photos.large.get().first), at: "photos/large.jpg")
        let ended = try enhance("--out", "out", "--memory", "64M")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("large.jpg: memoryShare: It needs "), "\(ended.errors)")
        #expect(ended.errors.contains("MiB of memory; 64 MiB are allowed."), "\(ended.errors)")
        #expect(try place.contents("out").keys.elementsEqual(["photo-0001.png"]))
        // What its worker has no room for beside others is made alone.
        let shared = try enhance("--out", "shared", "--memory", "400M", "--workers", "6")
        #expect(shared.status == 0, "\(shared.errors)")
        #expect(try place.contents("shared").count == 2)
    }

    @Test func aDecoderThatTakesMoreMemoryThanItsPictureMayClaimIsOneFailedItem() throws {
        try place.putPhotos(3)
        let ended = try enhance("--out", "out", "--memory", "256M", environment: ["BGRUN_TEST_HOG_ON": "photo-0002"])
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0002.jpg") && ended.errors.contains("(SIGABRT)"), "\(ended.errors)")
        #expect(try place.contents("out").count == 2)
    }

    @Test func howLongAModelTakesIsNotGuessedBeforeItHasWorked() throws {
        try place.putPhotos(2)
        let before = try enhance("--out", "out", "--dry-run")
        #expect(before.status == 0 && before.output.contains("in a time that is not known before"), "\(before.output)")
        #expect(try enhance("--out", "out", "--dry-run", "--json").json()["estimatedSeconds"] == nil)
    }

    @Test("rule 77, rule 83: it goes on after kill -9, and does anew what another model would do otherwise")
    func itGoesOnAndDoesAnewWhatChanged() throws {
        try place.putPhotos(4)
        let run = try CommandRun(
            ["enhance", "photos", "--model", "x2.onnx", "--out", "out", "--format", "png", "--progress", "json"],
            in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":3,"))
        run.send(SIGKILL)
        #expect(run.end().wasKilled)
        let resumed = try enhance("--out", "out", "--json")
        #expect(resumed.status == 0, "\(resumed.errors)")
        var counts = try resumed.json()["counts"] as? [String: Int]
        #expect(counts?["good"] == 1 && counts?["current"] == 3)
        #expect(try enhance("--out", "whole").status == 0)
        #expect(try place.contents("out") == place.contents("whole"))
        try place.write(try SmallModel.doubling(seed: 2), to: "x2.onnx")
        counts = try enhance("--out", "out", "--json").json()["counts"] as? [String: Int]
        #expect(counts?["good"] == 4)
    }

    @Test func aModelOfAFixedSizeGetsTilesOfIt() throws {
        try place.putPhotos(1)
        #expect(try enhance("--out", "whole", "--tile", "4096").status == 0)
        try place.write(try SmallModel.doubling(side: 64), to: "x2.onnx")
        let ended = try enhance("--out", "tiles", "--overlap", "2")
        #expect(ended.status == 0, "\(ended.errors)")
        let (whole, tiles) = (try pixels("whole/photo-0001.png"), try pixels("tiles/photo-0001.png"))
        #expect(tiles.width == whole.width && tiles.height == whole.height)
        #expect((zip(whole.values, tiles.values).map { abs($0 - $1) }.max() ?? 1) <= 1.01 / 255)
    }

    @Test func aPictureThatIsSmallerThanAModelOfAFixedSizeGoesThroughIt() throws {
        try PictureFile.write([200, 90, 40, 255], width: 21, height: 9, to: place.path + "/small.png")
        try place.write(try SmallModel.doubling(side: 48), to: "x2.onnx")
        let ended = try place.bgrun("enhance", "small.png", "--model", "x2.onnx", "--out", "out")
        #expect(ended.status == 0, "\(ended.errors)")
        let made = try pixels("out/small.png")
        #expect(made.width == 42 && made.height == 18)
    }

    @Test func aJobWithAModelOfAFixedSizeIsTheSameJobAfterAKill() throws {
        try place.putPhotos(3)
        try place.write(try SmallModel.doubling(side: 64), to: "x2.onnx")
        let run = try CommandRun(
            ["enhance", "photos", "--model", "x2.onnx", "--out", "out", "--format", "png", "--progress", "json"],
            in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":2,"))
        run.send(SIGKILL)
        #expect(run.end().wasKilled)
        let resumed = try enhance("--out", "out", "--json")
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(try resumed.json()["continued"] as? Bool == true)
    }

    @Test func aModelOfAnotherKindIsRefusedBeforeAnyWork() throws {
        try place.putPhotos(1)
        try place.write(try SmallModel.file(nodes: [ModelParts.node("Unheard", ["scores"], ["other"])]), to: "x2.onnx")
        let unsupported = try enhance("--out", "out")
        #expect(unsupported.status == 69 && unsupported.errors.contains("Unheard"))
        try place.write(try SmallModel.file(), to: "x2.onnx")
        // It gives scores: no picture has a result, and each says why.
        let scores = try enhance("--out", "out", "--tile", "32", "--overlap", "0")
        #expect(scores.status == 65 && scores.errors.contains("photo-0001.jpg: mismatch: "), "\(scores.errors)")
        #expect(try place.contents("out").isEmpty)
    }
}
