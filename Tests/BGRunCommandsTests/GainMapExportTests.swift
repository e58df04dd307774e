import Foundation
import Testing

/// Gain maps of exported files, as another program reads them.
@Suite struct GainMapExportTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(2)
        func photo(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: place.path + "/photos/\(name).jpg")))
        }
        // One that is plain serves as the other's map, at half its size.
        #expect(
            try place.bgrun("export", "photos", "--out", "half", "--size", "240", "--metadata", "strip").status == 0)
        let half = Array(try Data(contentsOf: URL(filePath: place.path + "/half/photo-0002.jpg")))
        try ExifTool.run(["-overwrite_original", "-all=", "photos/photo-0001.jpg"], in: place)
        var writer = UltraHDRWriter(picture: try photo("photo-0001"), map: half)
        writer.hasISO = true
        try Data(writer.file).write(to: URL(filePath: place.path + "/photos/photo-0001.jpg"))
        try FileManager.default.removeItem(atPath: place.path + "/photos/photo-0002.jpg")
    }

    @Test func anotherReaderFindsTheMapAndNothingToComplainAbout() throws {
        let ended = try place.bgrun("export", "photos", "--out", "out", "--size", "200")
        #expect(ended.status == 0, "\(ended.errors)")
        let lines = try ExifTool.lines("out/photo-0001.jpg", in: place)
        #expect(!lines.contains { $0.contains("Warning") || $0.contains("Error") }, "\(lines)")
        let file = Array(try Data(contentsOf: URL(filePath: place.path + "/out/photo-0001.jpg")))
        let length = try #require(
            lines.compactMap { $0.firstMatch(of: /DirectoryItemLength : (\d+)/).flatMap { Int($0.1) } }.last)
        let start = file.count - length
        for expected in [
            "[MPF] NumberOfImages : 2", "[MPF] MPImageStart : \(start)", "[MPF] MPImageLength : \(length)",
            "[XMP] Version : 1.0",
        ] {
            #expect(lines.contains(expected), "\(expected): \(lines)")
        }
        #expect(lines.contains { $0.contains("DirectoryItemSemantic") && $0.contains("GainMap") }, "\(lines)")
        let taken = try CommandRun(
            ["-b", "-MPImage2", "-w", "%0f./map.jpg", "out/photo-0001.jpg"], in: place, program: "/usr/bin/exiftool"
        ).end()
        #expect(taken.status == 0, "\(taken.errors)")
        let map = Array(try Data(contentsOf: URL(filePath: place.path + "/map.jpg")))
        let isSame = map.elementsEqual(file[start...])
        #expect(isSame)
        let meaning = try ExifTool.lines("map.jpg", in: place)
        for expected in [
            "[File] ImageWidth : 100", "[XMP] GainMapMax : 3", "[XMP] HDRCapacityMax : 3.25", "[XMP] Gamma : 1",
        ] {
            #expect(meaning.contains(expected), "\(expected): \(meaning)")
        }
    }

    @Test(arguments: [["--no-gain-map"], ["--output", "size=200,no-gain-map"]])
    func whoeverWantsNoneGetsNone(options: [String]) throws {
        let ended = try CommandRun(["export", "photos", "--out", "out", "--size", "200"] + options, in: place).end()
        #expect(ended.status == 0, "\(ended.errors)")
        let lines = try ExifTool.lines("out/photo-0001.jpg", in: place)
        #expect(
            !lines.contains { $0.contains("MPF") || $0.contains("GainMap") || $0.contains("DirectoryItem") }, "\(lines)"
        )
    }

    @Test func theReportSaysWhereAMapIsLeftOut() throws {
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "200", "--format", "webp", "--report", "report.jsonl")
        #expect(ended.status == 0, "\(ended.errors)")
        let report = try String(contentsOfFile: place.path + "/report.jsonl", encoding: .utf8)
        #expect(report.contains("the gain map was left out: only a JPEG keeps it"), "\(report)")
    }
}
