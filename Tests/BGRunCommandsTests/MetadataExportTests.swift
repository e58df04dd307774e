import Foundation
import Testing

/// Which metadata exported files have, as another program reads them.
@Suite struct MetadataExportTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(1)
        try ExifTool.run(
            [
                "-overwrite_original", "-EXIF:Make=Maker", "-EXIF:Model=Box", "-EXIF:FNumber=4",
                "-EXIF:GPSLatitude=12.5", "-EXIF:GPSLatitudeRef=N", "-EXIF:Artist=Camera Owner",
                "-EXIF:Copyright=Old notice", "-EXIF:DateTimeOriginal=2019:05:04 10:00:00",
                "-EXIF:ImageDescription=A harbour", "-XMP-exif:GPSLatitude=12.5", "-XMP-dc:Rights=Old notice",
                "-XMP-dc:Creator=Camera Owner", "-XMP-dc:Subject=boats", "-XMP-tiff:Make=Maker",
                "-XMP-iptcExt:LocationCreatedGPSLatitude=12.5", "-IPTC:By-line=Camera Owner",
                "-IPTC:CopyrightNotice=Old notice", "-IPTC:Keywords=boats", "-Comment=said here",
                "-EXIF:XPAuthor=Camera Owner",
                "-IPTC:Sub-location=Quay 5", "-XMP-iptcCore:Location=Quay 5",
                "photos/photo-0001.jpg",
            ], in: place)
    }

    private func lines(_ options: String..., format: String = "jpeg") throws -> [String] {
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--format", format] + options, in: place)
        let ended = run.end()
        #expect(ended.status == 0, "\(ended.errors)")
        let name = try #require(try place.contents("out").keys.first)
        let lines = try ExifTool.lines("out/\(name)", in: place)
        #expect(!lines.contains { $0.contains("Warning") }, "\(lines)")
        return lines
    }

    private static let camera = [
        "[EXIF] Make : Maker", "[EXIF] Model : Box", "[EXIF] FNumber : 4", "[XMP] Make : Maker",
    ]
    private static let notices = ["[EXIF] Copyright : Old notice", "[XMP] Rights : Old notice"]
    private static let notice = "[IPTC] CopyrightNotice : Old notice"

    @Test(arguments: ["jpeg", "png", "webp"])
    func positionsAreTakenOutAndTheRestStays(format: String) throws {
        let lines = try lines("--metadata", "-gps", format: format)
        #expect(!lines.contains { $0.contains("GPS") || $0.contains("Location") || $0.contains("Quay 5") }, "\(lines)")
        let kept = Self.camera + Self.notices + ["[XMP] Subject : boats", "[EXIF] ImageDescription : A harbour"]
        #expect(Set(lines).isSuperset(of: kept), "\(lines)")
        #expect(lines.contains("[IPTC] Keywords : boats") == (format == "jpeg"))
        #expect(lines.contains("[File] Comment : said here") == (format == "jpeg"))
    }

    @Test func severalGroupsAreTakenOutTogether() throws {
        let lines = try lines("--metadata", "-gps,-camera,-description")
        #expect(Set(lines).isDisjoint(with: Self.camera))
        #expect(!lines.contains { $0.contains("boats") || $0.contains("harbour") || $0.contains("said here") })
        #expect(Set(lines).isSuperset(of: Self.notices + [Self.notice]), "\(lines)")
        #expect(lines.contains("[EXIF] DateTimeOriginal : 2019:05:04 10:00:00"))
    }

    @Test func aNoticeAloneStays() throws {
        let lines = try lines("--metadata", "+copyright")
        #expect(Set(lines).isSuperset(of: Self.notices + [Self.notice]), "\(lines)")
        #expect(Set(lines).isDisjoint(with: Self.camera))
        #expect(!lines.contains { $0.contains("GPS") || $0.contains("Camera Owner") || $0.contains("boats") })
        #expect(!lines.contains { $0.contains("DateTimeOriginal") || $0.contains("harbour") }, "\(lines)")
    }

    @Test(arguments: ["keep", "strip", "+gps"])
    func creditsAreGivenInEveryForm(metadata: String) throws {
        let lines = try lines("--metadata", metadata, "--artist", "Zoë <Q>", "--copyright", "© 2026 Zoë & Co")
        let credits = [
            "[EXIF] Artist : Zoë <Q>", "[EXIF] Copyright : © 2026 Zoë & Co", "[XMP] Creator : Zoë <Q>",
            "[XMP] Rights : © 2026 Zoë & Co", "[IPTC] By-line : Zoë <Q>",
            "[IPTC] CopyrightNotice : © 2026 Zoë & Co",
        ]
        #expect(Set(lines).isSuperset(of: credits), "\(lines)")
        #expect(!lines.contains { $0.contains("Camera Owner") || $0.contains("Old notice") }, "\(lines)")
        #expect(lines.contains("[EXIF] GPSLatitude : 12.5") == (metadata != "strip"))
        #expect(Set(lines).isSuperset(of: Self.camera) == (metadata == "keep"))
    }

    /// Without a word about its characters, and as what says that they are Latin-1.
    @Test(arguments: [[], ["-IPTC:CodedCharacterSet=ESC . A"]])
    func creditsLeaveOtherTextsReadable(charset: [String]) throws {
        try ExifTool.run(
            ["-overwrite_original", "-IPTC:City=Köln", "-IPTC:Caption-Abstract=Straße"] + charset
                + ["photos/photo-0001.jpg"], in: place)
        let lines = try lines("--artist", "Zoë")
        let texts = ["[IPTC] City : Köln", "[IPTC] Caption-Abstract : Straße", "[IPTC] By-line : Zoë"]
        #expect(Set(lines).isSuperset(of: texts), "\(lines)")
        // It shows the escape as a dot.
        #expect(lines.filter { $0.contains("CodedCharacterSet") } == ["[IPTC] CodedCharacterSet : .%G"])
    }

    @Test func creditsLoseControlCharactersInEveryForm() throws {
        let lines = try lines("--artist", "Zo\u{7}ë\u{FFFE}")
        let credits = ["[EXIF] Artist : Zoë", "[XMP] Creator : Zoë", "[IPTC] By-line : Zoë"]
        #expect(Set(lines).isSuperset(of: credits), "\(lines)")
    }

    @Test func selectionsAreWrittenAsInOutputsToo() throws {
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--output", "size=90,metadata=-gps,-camera,quality=70")
        #expect(ended.status == 0, "\(ended.errors)")
        let lines = try ExifTool.lines("out/photo-0001.jpg", in: place)
        #expect(Set(lines).isDisjoint(with: Self.camera) && !lines.contains { $0.contains("GPS") })
        #expect(Set(lines).isSuperset(of: Self.notices))
    }

    @Test func whatCountsInPixelsFollowsThem() throws {
        let photo = "photos/photo-0001.jpg"
        try ExifTool.run(
            [
                "-overwrite_original", "-n", "-Orientation=6", "-FocalPlaneXResolution=4000",
                "-FocalPlaneYResolution=2000", "-SubjectArea=30 20 12 18", photo,
            ], in: place)
        func size(_ lines: [String]) throws -> (width: Double, height: Double) {
            func side(_ name: String) throws -> Double {
                let line = try #require(lines.first { $0.hasPrefix("[File] Image\(name) : ") })
                return try #require(Double(line.split(separator: " ").last ?? ""))
            }
            return (try side("Width"), try side("Height"))
        }
        let stored = try size(try ExifTool.lines(photo, in: place))
        let after = try lines()
        let upright = try size(after)
        let (across, down) = (upright.height / stored.width, upright.width / stored.height)
        func value(_ name: String) throws -> [Double] {
            let line = try #require(after.first { $0.hasPrefix("[EXIF] \(name) : ") }, "\(after)")
            return line.split(separator: " ").dropFirst(3).compactMap { Double($0) }
        }
        // The stored picture's right is below in the upright one, and its top on the right.
        let area = [upright.width - 20 * down, 30 * across, 18 * down, 12 * across].map { $0.rounded() }
        #expect(try value("SubjectArea") == area)
        #expect(abs(try value("FocalPlaneXResolution")[0] - 2_000 * down) < 0.01)
        #expect(abs(try value("FocalPlaneYResolution")[0] - 4_000 * across) < 0.01)
    }

    @Test func aDamagedPictureIsReportedForItsDamageAlone() throws {
        let photo = "photos/photo-0001.jpg"
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.path + "/" + photo))
        try whole.prefix(whole.count * 3 / 4).write(to: URL(fileURLWithPath: place.path + "/" + photo))
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--format", "png", "--report", "report.jsonl")
        #expect(ended.status == 65)
        let report = try String(contentsOf: URL(fileURLWithPath: place.path + "/report.jsonl"), encoding: .utf8)
        let reason = try #require(report.split(separator: "\"reason\":\"").last?.prefix { $0 != "\"" })
        #expect(report.contains("the comment was left out") && !reason.contains("left out"), "\(report)")
    }

    @Test(arguments: ["-here", "+", "-gps,+camera", "-gps,", "keeps"])
    func whatIsNoGroupIsRefused(metadata: String) throws {
        let ended = try place.bgrun("export", "photos", "--out", "out", "--metadata", metadata)
        #expect(ended.status == 64)
        #expect(ended.errors.contains("copyright"), "the groups there are")
    }
}
