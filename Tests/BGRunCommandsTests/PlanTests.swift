import Foundation
import Glibc
import Testing

/// What is decided before any picture is opened.
@Suite struct PlanTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private var photo: String { get throws { try #require(try Photos.small.get().first) } }

    /// Paths below `out` that a dry run plans, sorted.
    private func planned(_ arguments: String...) throws -> [String] {
        let run = try CommandRun(["export"] + arguments + ["--out", "out", "--dry-run", "--json"], in: place)
        let ended = run.end()
        let items = try ended.json()["items"] as? [[String: Any]] ?? []
        let root = place.path + "/out/"
        return items.flatMap { $0["outputs"] as? [String] ?? [] }.map {
            $0.hasPrefix(root) ? String($0.dropFirst(root.count)) : $0
        }.sorted()
    }

    @Test func theFolderTreeIsKept() throws {
        for path in ["photos/a.jpg", "photos/2024/b.jpg", "photos/2024/05/c.jpeg"] { try place.put(photo, at: path) }
        #expect(try planned("photos") == ["2024/05/c.jpg", "2024/b.jpg", "a.jpg"])
    }

    @Test func hiddenNamesAndTheOutputFolderAreNotWalked() throws {
        for path in ["photos/a.jpg", "photos/.trash/b.jpg", "photos/.c.jpg", "out/d.jpg"] {
            try place.put(photo, at: path)
        }
        #expect(try planned(".") == ["photos/a.jpg"])
    }

    @Test func severalOutputsAreToldApartBySize() throws {
        try place.put(photo, at: "photos/a.jpg")
        #expect(
            try planned("photos", "--output", "size=2048", "--output", "size=fit:300x200,format=webp")
                == ["a-2048.jpg", "a-300x200.webp"])
    }

    @Test func namesFollowTheTemplate() throws {
        for name in ["a", "b"] { try place.put(photo, at: "photos/x/\(name).jpg") }
        #expect(
            try planned("photos", "--name", "{format}/{dir}/{index}-{stem}-{size}.{ext}", "--size", "640")
                == ["jpeg/x/1-a-640.jpg", "jpeg/x/2-b-640.jpg"])
    }

    @Test func whatIsNoPictureGetsNoNumber() throws {
        for name in ["a", "b"] {
            try place.put(photo, at: "photos/\(name).jpg")
            try place.write("<x/>", to: "photos/\(name).xmp")
        }
        #expect(try planned("photos", "--name", "{index}.{ext}") == ["1.jpg", "2.jpg"])
    }

    @Test func endingsOfInputsTellOutputsApart() throws {
        for name in ["a.jpg", "a.JPEG", "b"] { try place.put(photo, at: "photos/\(name)") }
        #expect(try planned("photos", "--name", "{stem}-{type}.{ext}") == ["a-JPEG.jpg", "a-jpg.jpg", "b-.jpg"])
    }

    @Test(arguments: [[], ["--dry-run"]])
    func whatCannotBeLosslessIsAFailureOfItsItem(more: [String]) throws {
        try place.put(photo, at: "photos/a.jpg")
        try place.put(photo, at: "photos/b.png")
        let ended = try CommandRun(["export", "photos", "--out", "out", "--lossless"] + more, in: place).end()
        #expect(ended.status == 65)
        #expect((ended.errors + ended.output).contains("--lossless needs a format that can be"))
        #expect(place.exists("out/b.png") == more.isEmpty && !place.exists("out/a.jpg"))
    }

    @Test func theFormatFollowsTheNameUnlessOneIsGiven() throws {
        try place.put(photo, at: "photos/a.PNG")
        try place.put(photo, at: "photos/b.tif")
        #expect(try planned("photos") == ["a.png", "b.jpg"])
        #expect(try planned("photos", "--format", "webp") == ["a.webp", "b.webp"])
    }

    @Test func namesThatPromiseAnotherFormatAreRefused() throws {
        for name in ["a.jpg", "b.jpg", "c.png"] { try place.put(photo, at: "photos/\(name)") }
        let ended = try place.bgrun("export", "photos", "--out", "out", "--name", "{stem}.png")
        #expect(ended.status == 64)
        #expect(
            ended.errors.contains(
                "misnamed: \(place.path)/out/a.png would hold JPEG; end the name in .{ext}, or ask for --format png"))
        #expect(!ended.errors.contains("b.png") && !place.exists("out"))
        let raw = try place.bgrun("export", "photos", "--out", "out", "--name", "{stem}.CR2")
        #expect(raw.errors.contains("a.CR2 would hold JPEG; end the name in .{ext}\n"))
        // Those that say what is in the file, or nothing about it, are as good as any.
        #expect(try planned("photos/a.jpg", "--name", "{stem}.JPEG") == ["a.JPEG"])
        #expect(try planned("photos/a.jpg", "--name", "{stem}.v2") == ["a.v2"])
        #expect(try planned("photos/a.jpg", "--name", "{stem}.png", "--format", "png") == ["a.png"])
    }

    @Test func collisionsAreRefusedBeforeAnythingStarts() throws {
        try place.put(photo, at: "one/a.jpg")
        try place.put(photo, at: "two/a.jpg")
        let ended = try place.bgrun("export", "one", "two", "--out", "out")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("one/a.jpg and") && ended.errors.contains("two/a.jpg both go to"))
        #expect(ended.errors.contains("{type} or {index}"))
        #expect(!place.exists("out"))
    }

    @Test func twoOutputsOfOneInputUnderOneNameAreRefused() throws {
        try place.put(photo, at: "a.jpg")
        let ended = try place.bgrun(
            "export", "a.jpg", "--out", "out", "--output", "size=100,name=x.{ext}", "--output", "size=200,name=x.{ext}")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("collision"))
    }

    @Test func theSameFileNamedTwiceIsOneInput() throws {
        try place.put(photo, at: "photos/a.jpg")
        #expect(try planned("photos", "photos/a.jpg", "./photos") == ["a.jpg"])
    }

    @Test func aSidecarWithThePicturesNameIsNoCollision() throws {
        try place.put(photo, at: "photos/a.jpg")
        try place.write("<xmp/>", to: "photos/a.xmp")
        #expect(try planned("photos") == ["a.jpg"])
    }

    @Test(arguments: ["../{stem}.{ext}", "x/../../{stem}.{ext}", "{stem}/", "."])
    func namesThatLeaveTheOutputFolderAreRefused(template: String) throws {
        try place.put(photo, at: "photos/a.jpg")
        let ended = try place.bgrun("export", "photos", "--out", "out", "--name", template)
        #expect(ended.status == 64)
        #expect(ended.errors.contains("leavesFolder"))
        #expect(!place.exists("a.jpg") && !place.exists("out"))
    }

    @Test func aNameOfDotsCannotClimb() throws {
        try place.put(photo, at: "photos/...jpg")
        try place.put(photo, at: "photos/b..jpg")
        let ended = try place.bgrun(
            "export", "photos/b..jpg", "photos/...jpg", "--out", "out", "--name", "{stem}/x.{ext}")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("leavesFolder"))
    }

    @Test func aLinkInTheOutputFolderThatLeadsOutIsRefused() throws {
        try place.put(photo, at: "photos/sub/a.jpg")
        try FileManager.default.createDirectory(atPath: place.path + "/elsewhere", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: place.path + "/out", withIntermediateDirectories: true)
        symlink(place.path + "/elsewhere", place.path + "/out/sub")
        let ended = try place.bgrun("export", "photos", "--out", "out")
        #expect(ended.status == 64)
        #expect(try place.contents("elsewhere").isEmpty)
    }

    @Test func anOutputThatWouldReplaceAnInputIsRefused() throws {
        try place.put(photo, at: "photos/a.jpg")
        link(place.path + "/photos/a.jpg", place.path + "/hard.jpg")
        let before = try place.contents("photos")
        #expect(try place.bgrun("export", "photos/a.jpg", "--out", "photos", "--existing", "overwrite").status == 64)
        let ended = try place.bgrun(
            "export", "photos", "--out", ".", "--name", "hard.jpg", "--existing", "overwrite")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("overwritesInput"))
        #expect(try place.contents("photos") == before)
    }

    @Test func aMissingInputStartsNothing() throws {
        try place.put(photo, at: "photos/a.jpg")
        let ended = try place.bgrun("export", "photos", "nowhere.jpg", "--out", "out")
        #expect(ended.status == 66)
        #expect(ended.errors.contains("nowhere.jpg"))
        #expect(!place.exists("out"))
    }

    @Test func pipesAreReportedAndNeverOpened() throws {
        try place.put(photo, at: "photos/a.jpg")
        mkfifo(place.path + "/photos/pipe.jpg", 0o600)
        let ended = try place.bgrun("export", "photos", "--out", "out", "--report", "report.jsonl")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("pipe.jpg: special"))
        #expect(place.exists("out/a.jpg"))
    }

    @Test func aNameThatIsNotUTF8IsShownEscaped() throws {
        try place.put(photo, at: "photos/a.jpg")
        let name = Array((place.path + "/photos/").utf8CString.dropLast()) + [CChar(bitPattern: 0xe4)]
        close(open(name + ".jpg".utf8CString, O_CREAT | O_WRONLY, 0o600))
        let ended = try place.bgrun("export", "photos", "--out", "out")
        // It is empty.
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photos/\\xE4.jpg"))
        #expect(place.exists("out/a.jpg"))
    }

    @Test func linksToFilesAreFollowedAndLinksToFoldersAreNot() throws {
        try place.put(photo, at: "photos/a.jpg")
        try place.put(photo, at: "elsewhere/b.jpg")
        symlink("../elsewhere/b.jpg", place.path + "/photos/linked.jpg")
        symlink("..", place.path + "/photos/loop")
        symlink("gone.jpg", place.path + "/photos/broken.jpg")
        #expect(try planned("photos") == ["a.jpg", "linked.jpg"])
        let ended = try place.bgrun("export", "photos", "--out", "out")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("broken.jpg: brokenLink"))
    }

    @Test func aDryRunChangesNothing() throws {
        try place.putPhotos(3)
        let ended = try place.bgrun("export", "photos", "--out", "out", "--dry-run", "--report", "r.jsonl")
        #expect(ended.status == 0)
        #expect(ended.output.contains("photo-0003.jpg"))
        #expect(!place.exists("out") && !place.exists(".state") && !place.exists("r.jsonl"))
    }

    @Test(arguments: [
        ["export", "a.jpg"], ["export", "--out", "out"], ["export", "a.jpg", "--out", "out", "--size", "0"],
        ["export", "a.jpg", "--out", "out", "--size", "fit:3"],
        ["export", "a.jpg", "--out", "out", "--format", "gif"],
        ["export", "a.jpg", "--out", "out", "--quality", "101"],
        ["export", "a.jpg", "--out", "out", "--bits", "16", "--format", "jpeg"],
        ["export", "a.jpg", "--out", "out", "--sharpen", "9"], ["export", "a.jpg", "--out", "out", "--matte", "red"],
        ["export", "a.jpg", "--out", "out", "--name", "{nonsense}"],
        ["export", "a.jpg", "--out", "out", "--output", "sise=3"],
        ["export", "a.jpg", "--out", "out", "--output", "="],
        ["export", "a.jpg", "--out", "out", "--crop=-1:-1"],
        ["export", "a.jpg", "--out", "out", "--crop=1e-320:1e-320"],
        ["export", "a.jpg", "--out", "out", "--max-pixels", "9000000000000000000"],
        ["export", "a.jpg", "--out", "out", "--gpu", "--cpu"],
        ["export", "a.jpg", "--out", "out", "--workers", "0"],
        ["export", "a.jpg", "--out", "out", "--memory", "none"],
        ["export", "a.jpg", "--out", "out", "--expire-after", "-3s"],
    ])
    func aWrongCommandLineIsStatus64(arguments: [String]) throws {
        try place.put(photo, at: "a.jpg")
        let ended = try CommandRun(arguments, in: place).end()
        #expect(ended.status == 64)
        #expect(!ended.errors.isEmpty)
        #expect(!place.exists("out"))
    }
}
