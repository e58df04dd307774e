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

    @Test(arguments: ["-here", "+", "-gps,+camera", "-gps,", "keeps"])
    func whatIsNoGroupIsRefused(metadata: String) throws {
        let ended = try place.bgrun("export", "photos", "--out", "out", "--metadata", metadata)
        #expect(ended.status == 64)
        #expect(ended.errors.contains("copyright"), "the groups there are")
    }
}
