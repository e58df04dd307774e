import Foundation
import Glibc
import Testing

/// What becomes an input, and what is told about the rest.
@Suite struct InputTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private var photo: String { get throws { try #require(try Photos.small.get().first) } }

    private func codes(_ report: String) throws -> [String] {
        let text = try String(contentsOfFile: place.path + "/" + report, encoding: .utf8)
        return try text.split(separator: "\n").compactMap {
            (try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["code"] as? String
        }
    }

    @Test func outputsMayGoBesideTheirInputsAndAreNotExportedAgain() throws {
        for name in ["a", "b"] { try place.put(photo, at: "photos/\(name).jpg") }
        let arguments = ["export", "photos", "--out", "photos", "--name", "{stem}-small.{ext}", "--size", "100"]
        #expect(try CommandRun(arguments, in: place).end().status == 0)
        let made = ["a-small.jpg", "a.jpg", "b-small.jpg", "b.jpg"]
        #expect(try place.contents("photos").keys.sorted() == made)
        let again = try CommandRun(arguments + ["--json", "--report", "r.jsonl"], in: place).end()
        #expect(again.status == 0)
        #expect((try again.json()["counts"] as? [String: Int])?["current"] == 2)
        #expect(again.errors.contains("2 outputs of earlier exports left out"))
        #expect(try codes("r.jsonl").filter { $0 == "ownOutput" }.count == 2)
        #expect(try place.contents("photos").keys.sorted() == made)
    }

    @Test func theInputFolderAsOutputFolderIsRefusedInWords() throws {
        try place.put(photo, at: "photos/a.jpg")
        let before = try place.contents("photos")
        let ended = try place.bgrun("export", "photos", "--out", "photos", "--size", "100")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("overwritesInput"))
        #expect(try place.contents("photos") == before)
    }

    @Test(arguments: [[], ["--dry-run"]])
    func aFolderWithoutInputsIsSaid(more: [String]) throws {
        try FileManager.default.createDirectory(atPath: place.path + "/empty", withIntermediateDirectories: true)
        let ended = try CommandRun(["export", "empty", "--out", "out"] + more, in: place).end()
        #expect(ended.status == 66)
        #expect(ended.errors.contains("0 inputs found in \(place.path)/empty"))
        #expect(!place.exists("out"))
    }

    @Test func outputsOfAnEarlierFolderBelowTheInputAreLeftOut() throws {
        try place.put(photo, at: "photos/a.jpg")
        #expect(try place.bgrun("export", "photos", "--out", "photos/web", "--size", "100").status == 0)
        let ended = try place.bgrun("export", "photos", "--out", "other", "--size", "50")
        #expect(ended.status == 0)
        #expect(ended.errors.contains("1 output of earlier exports left out"))
        #expect(try place.contents("other").keys.sorted() == ["a.jpg"])
    }

    @Test func whatWasExportedFromElsewhereIsAnInputLikeAnyOther() throws {
        try place.put(photo, at: "photos/a.jpg")
        #expect(try place.bgrun("export", "photos", "--out", "web", "--size", "100").status == 0)
        #expect(try place.bgrun("export", "web", "--out", "thumbs", "--size", "50").status == 0)
        #expect(place.exists("thumbs/a.jpg"))
    }

    @Test func linkedFoldersAreToldAndLoopsNamed() throws {
        try place.put(photo, at: "photos/a.jpg")
        symlink("..", place.path + "/photos/up")
        let linked = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--report", "r.jsonl")
        #expect(linked.status == 0, "a link to a folder is no failure")
        #expect(linked.errors.contains("a linked folder is not followed: \(place.path)/photos/up"))
        #expect(try codes("r.jsonl") == ["linkedFolder"])
        symlink("self.jpg", place.path + "/photos/self.jpg")
        let looped = try place.bgrun("export", "photos", "--out", "out", "--size", "100")
        #expect(looped.status == 65)
        #expect(looped.errors.contains("self.jpg: brokenLink: the link leads back to itself"))
    }

    @Test func anotherSpellingIsTheSameCommand() throws {
        try place.put(photo, at: "photos/a.jpg")
        symlink("photos", place.path + "/link")
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        symlink("out", place.path + "/outlink")
        for (input, output) in [("photos/../photos/", "./x/../out"), ("link", "outlink")] {
            let again = try place.bgrun("export", input, "--out", output, "--size", "100", "--json")
            #expect((try again.json()["counts"] as? [String: Int])?["current"] == 1, "\(input) \(output)")
        }
    }

    @Test func aLinkedFileKeepsTheNameItWasCalledBy() throws {
        try place.put(photo, at: "photos/a.jpg")
        symlink("photos/a.jpg", place.path + "/called.jpg")
        #expect(try place.bgrun("export", "called.jpg", "--out", "out", "--size", "100").status == 0)
        #expect(place.exists("out/called.jpg"))
    }

    @Test func namesThatDifferOnlyInUnicodeFormAreTwoNames() throws {
        let names = ["caf\u{e9}.jpg", "cafe\u{301}.jpg"]
        try FileManager.default.createDirectory(atPath: place.path + "/photos", withIntermediateDirectories: true)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: photo))
        for name in names {
            let fd = open(place.path + "/photos/" + name, O_CREAT | O_WRONLY, 0o600)
            bytes.withUnsafeBytes { _ = Glibc.write(fd, $0.baseAddress, $0.count) }
            close(fd)
        }
        let first = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--json")
        #expect(first.status == 0, "\(first.errors)")
        #expect((try first.json()["counts"] as? [String: Int])?["good"] == 2)
        for name in names { #expect(access(place.path + "/out/" + name, F_OK) == 0) }
        let again = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--json")
        #expect((try again.json()["counts"] as? [String: Int])?["current"] == 2)
    }

    @Test func aNamedInputThatIsMissingIsShownEscapedWhereItIsNotUTF8() throws {
        // The shell hands on a byte that no string of this test could hold.
        let script = "exec \"$0\" export \"$(printf 'a\\344.jpg')\" --out out"
        let ended = try CommandRun(["-c", script, CommandRun.executable], in: place, program: "/bin/sh").end()
        #expect(ended.status == 66)
        #expect(ended.errors.contains("a\\xE4.jpg"))
    }

    @Test func aDryRunLooksAtTheFirstBytes() throws {
        try place.put(photo, at: "photos/a.jpg")
        try place.write("no picture", to: "photos/notes.txt")
        try place.write("no picture", to: "photos/text.jpg")
        try place.write("no picture", to: "named.jpg")
        let ended = try place.bgrun("export", "photos", "named.jpg", "--out", "out", "--dry-run", "--json")
        #expect(ended.status == 65)
        let plan = try ended.json()
        #expect((plan["items"] as? [[String: Any]])?.count == 1)
        let settled = try #require(plan["settled"] as? [[String: Any]])
        let codes = settled.compactMap { $0["code"] as? String }
        #expect(codes.sorted() == ["notAPicture", "unknownFormat", "unknownFormat"])
    }
}
