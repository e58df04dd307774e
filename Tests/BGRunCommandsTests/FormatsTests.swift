import Foundation
import ImageCodecs
import Testing

/// Formats whose libraries are opened at run time, from the command line.
@Suite struct FormatsTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    /// As on a machine where these are not installed.
    private static let without = ["BGRUN_TEST_WITHOUT_LIBRARIES": "libavif.so.15 libjxl.so.0.7 libtiff.so.6"]

    private struct Document: Decodable {
        struct Row: Decodable {
            var format: String
            var reads: Bool
            var writes: Bool
            var package: String?
        }
        var formats: [Row]
    }

    @Test func formatsSaysWhichPackageAddsWhatIsMissing() throws {
        let ended = try CommandRun(["formats", "--json"], in: place, environment: Self.without).end()
        #expect(ended.status == 0)
        let rows = try JSONDecoder().decode(Document.self, from: Data(ended.output.utf8)).formats
        #expect(rows.map(\.format) == ImageFormat.allCases.map(\.rawValue))
        for row in rows {
            let isMissing = ["avif", "jxl", "tiff"].contains(row.format)
            #expect(row.reads == !isMissing, "\(row.format)")
            if isMissing { #expect(!row.writes) }
        }
        #expect(rows.first { $0.format == "avif" }?.package == "libavif15")
        let text = try CommandRun(["formats"], in: place, environment: Self.without).end().output
        #expect(text.contains("needs the package libjxl0.7"))
    }

    @Test func picturesGoThroughEveryWrittenFormatAndBack() throws {
        try place.putPhotos(1)
        for format in ImageFormat.allCases where format.isWritten {
            let made = try place.bgrun(
                "export", "photos", "--out", format.rawValue, "--size", "64", "--format", format.rawValue)
            #expect(made.status == 0, "\(format): \(made.errors)")
            let back = try place.bgrun("export", format.rawValue, "--out", "back-\(format.rawValue)", "--format", "png")
            #expect(back.status == 0, "\(format): \(back.errors)")
        }
    }

    @Test(arguments: [("avif", "libavif15"), ("tiff", "libtiff6")])
    func aFormatWhoseLibraryIsMissingIsRefusedBeforeAnythingIsStarted(format: String, package: String) throws {
        try place.putPhotos(1)
        let ended = try CommandRun(
            ["export", "photos", "--out", "out", "--format", format], in: place, environment: Self.without
        ).end()
        #expect(ended.status == 69)
        #expect(ended.errors.contains("libraryMissing"))
        #expect(ended.errors.contains("Install the package \(package)."))
        #expect(!place.exists("out"))
    }

    @Test(arguments: [("jxl", "libjxl0.7"), ("tiff", "libtiff6")])
    func anInputWhoseLibraryIsMissingFailsWithTheNameOfThePackage(format: String, package: String) throws {
        try place.putPhotos(2)
        #expect(try place.bgrun("export", "photos", "--out", "mixed", "--size", "64", "--format", format).status == 0)
        #expect(
            try place.bgrun("export", "photos", "--out", "mixed", "--size", "64", "--format", "jpeg").status == 0)
        let ended = try CommandRun(
            ["export", "mixed", "--out", "out", "--format", "png", "--name", "{stem}-{index}.{ext}"], in: place,
            environment: Self.without
        ).end()
        #expect(ended.status == 65)
        #expect(ended.errors.contains("libraryMissing"))
        #expect(ended.errors.contains("the package \(package) has it"))
    }

    /// libjxl 0.7 describes each on standard error, by file and line of its own source.
    @Test func aDamagedPictureIsToldInOurOwnWordsAlone() throws {
        try place.putPhotos(1)
        #expect(try place.bgrun("export", "photos", "--out", "jxl", "--size", "300", "--format", "jxl").status == 0)
        let path = place.path + "/jxl/photo-0001.jxl"
        var file = Array(try Data(contentsOf: URL(filePath: path)))
        for index in stride(from: file.count / 3, to: file.count, by: 97) { file[index] ^= 0x55 }
        try Data(file).write(to: URL(filePath: path))
        let ended = try place.bgrun("export", "jxl", "--out", "out", "--format", "png", "--progress", "json")
        #expect(ended.status == 65)
        let strange = ended.errors.split(separator: "\n").filter { !$0.hasPrefix("{") }
        #expect(strange.isEmpty, "\(strange)")
    }

    private func estimatedSeconds(_ format: String) throws -> Double {
        let shown = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "4000", "--format", format, "--dry-run", "--json")
        let estimate = try JSONDecoder().decode(Estimate.self, from: Data(shown.output.utf8))
        return try #require(estimate.estimatedSeconds.last)
    }

    @Test func aDryRunCountsSlowEncodersIn() throws {
        try place.putPhotos(2)
        let (slow, fast) = (try estimatedSeconds("avif"), try estimatedSeconds("jpeg"))
        #expect(slow > fast * 3)
    }
}

private struct Estimate: Decodable {
    var estimatedSeconds: [Double]
}
