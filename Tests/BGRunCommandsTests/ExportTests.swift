import Foundation
import Testing

/// Whole exports of real pictures.
@Suite struct ExportTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private func records(_ path: String) throws -> [[String: Any]] {
        let text = try String(contentsOfFile: place.path + "/" + path, encoding: .utf8)
        return try text.split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        }
    }

    @Test func theReportHasALineForEachInput() throws {
        try place.putPhotos(4)
        try place.write("this is no picture", to: "photos/notes.txt")
        try place.write("this is no picture", to: "broken.jpg")
        let ended = try place.bgrun(
            "export", "photos", "broken.jpg", "--out", "out", "--size", "200", "--report", "r.jsonl", "--json")
        #expect(ended.status == 65)
        let lines = try records("r.jsonl")
        #expect(lines.count == 6)
        let good = lines.filter { $0["status"] as? String == "good" }
        #expect(good.count == 4)
        for line in good {
            let outputs = try #require(line["outputs"] as? [[String: Any]])
            let path = try #require(outputs.first?["path"] as? String)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).count
            #expect(outputs.count == 1 && outputs[0]["bytes"] as? Int == bytes)
            #expect((outputs[0]["checksum"] as? String)?.count == 32)
            #expect(max(outputs[0]["width"] as? Int ?? 0, outputs[0]["height"] as? Int ?? 0) == 200)
            #expect((line["inputBytes"] as? Int ?? 0) > 0 && (line["inputPixels"] as? Int) == 480 * 320)
            #expect(line["device"] as? String == "cpu")
            #expect(line["times"] != nil && line["seconds"] != nil)
        }
        #expect(lines.contains { $0["status"] as? String == "skipped" && $0["code"] as? String == "notAPicture" })
        #expect(lines.contains { $0["status"] as? String == "failed" && $0["code"] as? String == "unknownFormat" })
        let summary = try ended.json()
        let counts = try #require(summary["counts"] as? [String: Int])
        #expect(counts == ["good": 4, "damaged": 0, "failed": 1, "current": 0, "notPictures": 1])
        #expect(summary["outcome"] as? String == "completedWithFailures")
    }

    @Test func aTruncatedPictureIsDamagedStaysSoAndStopsNothing() throws {
        try place.putPhotos(3)
        let path = place.path + "/photos/photo-0002.jpg"
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
        let first = try place.bgrun("export", "photos", "--out", "out", "--size", "100")
        #expect(first.status == 65)
        #expect(first.errors.contains("photo-0002.jpg: damaged"))
        #expect(first.errors.contains("1 with problems, of which 1 was exported as far as possible:"))
        #expect(place.exists("out/photo-0002.jpg") && place.exists("out/photo-0003.jpg"))
        let second = try place.bgrun("export", "photos", "--out", "out", "--size", "100")
        #expect(second.status == 65, "an output kept from a damaged input is still told")
    }

    @Test func aFileThatComesInTheWayDuringARunStays() throws {
        try place.putPhotos(3)
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--progress", "json"], in: place,
            environment: ["BGRUN_TEST_SLOW_ENCODE_ON": "photo-0002:5"])
        try #require(run.waits(for: "\"files\":2,"))
        try place.write("mine", to: "out/photo-0002.jpg")
        let ended = run.end()
        #expect(ended.status == 65 && ended.errors.contains("\"code\":\"outputExists\""), "\(ended.errors)")
        let again = try place.bgrun("export", "photos", "--out", "out", "--size", "100")
        #expect(again.status == 65 && again.errors.contains("photo-0002.jpg: outputExists"), "\(again.errors)")
        #expect(try place.contents("out")["photo-0002.jpg"] == Data("mine".utf8))
    }

    @Test func outputsAreKeptWhileInputAndSettingsAreTheSame() throws {
        try place.putPhotos(3)
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        let before = try place.contents("out")
        let again = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--json")
        #expect(
            try again.json()["counts"] as? [String: Int] == [
                "good": 0, "damaged": 0, "failed": 0, "current": 3, "notPictures": 0,
            ])
        let other = try place.bgrun("export", "photos", "--out", "out", "--size", "90", "--json")
        #expect((try other.json()["counts"] as? [String: Int])?["good"] == 3)
        let photos = try Photos.small.get()
        try FileManager.default.removeItem(atPath: place.path + "/photos/photo-0001.jpg")
        try place.put(photos[5], at: "photos/photo-0001.jpg")
        let changed = try place.bgrun("export", "photos", "--out", "out", "--size", "90", "--json")
        #expect((try changed.json()["counts"] as? [String: Int])?["good"] == 1)
        let back = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--json")
        #expect(back.status == 0)
        #expect(
            try place.contents("out").filter { $0.key != "photo-0001.jpg" }
                == before.filter { $0.key != "photo-0001.jpg" })
    }

    @Test func aForeignFileIsNeverReplacedWithoutOverwrite() throws {
        try place.putPhotos(2)
        try place.write("mine", to: "out/photo-0001.jpg")
        let skipped = try place.bgrun("export", "photos", "--out", "out", "--size", "100")
        #expect(skipped.status == 65)
        #expect(skipped.errors.contains("photo-0001.jpg: outputExists"))
        #expect(try place.contents("out")["photo-0001.jpg"] == Data("mine".utf8))
        #expect(place.exists("out/photo-0002.jpg"))
        let overwritten = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--existing", "overwrite")
        #expect(overwritten.status == 0)
        #expect(try place.contents("out")["photo-0001.jpg"] != Data("mine".utf8))
    }

    @Test func anOutputThatSomebodyChangedIsTheirs() throws {
        try place.putPhotos(1)
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        try place.write("retouched", to: "out/photo-0001.jpg")
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 65)
        #expect(try place.contents("out")["photo-0001.jpg"] == Data("retouched".utf8))
    }

    @Test func whatWasMadeFromAnotherInputStaysWhileThatIsThere() throws {
        let photos = try Photos.small.get()
        for (folder, photo) in zip(["day1", "day2"], photos) { try place.put(photo, at: "\(folder)/a.jpg") }
        try place.put(photos[2], at: "day2/b.jpg")
        func export(_ folder: String, _ more: String...) throws -> CommandRun.Ended {
            try CommandRun(["export", folder, "--out", "web", "--size", "100"] + more, in: place).end()
        }
        #expect(try export("day1").status == 0)
        let first = try place.contents("web")
        let reason = "\(place.path)/web/a.jpg was made from \(place.path)/day1/a.jpg; --existing overwrite replaces it"
        let dry = try export("day2", "--dry-run")
        #expect(dry.status == 65 && dry.output.contains("\(place.path)/day2/a.jpg: failed, \(reason)"), "\(dry.output)")
        let second = try export("day2")
        #expect(second.status == 65)
        #expect(second.errors.contains("\(place.path)/day2/a.jpg: outputExists: \(reason)\n"), "\(second.errors)")
        let both = try place.contents("web")
        #expect(both["a.jpg"] == first["a.jpg"] && both.keys.sorted() == ["a.jpg", "b.jpg"])
        #expect(
            try export("day1", "--json").json()["counts"] as? [String: Int] == [
                "good": 0, "damaged": 0, "failed": 0, "current": 1, "notPictures": 0,
            ])
        #expect(try export("day2", "--existing", "overwrite").status == 0)
        let replaced = try place.contents("web")
        #expect(replaced["a.jpg"] != first["a.jpg"])
        #expect(try export("day1").errors.contains("web/a.jpg was made from \(place.path)/day2/a.jpg"))
        #expect(try place.contents("web") == replaced)
    }

    @Test func numbersThatMoveOnLoseNoPicture() throws {
        let photos = try Photos.small.get()
        for (name, photo) in zip(["b", "c"], photos) { try place.put(photo, at: "photos/\(name).jpg") }
        let arguments = ["export", "photos", "--out", "out", "--size", "100", "--name", "{index}.{ext}"]
        #expect(try CommandRun(arguments, in: place).end().status == 0)
        let before = try place.contents("out")
        try place.put(photos[2], at: "photos/a.jpg")
        let ended = try CommandRun(arguments, in: place).end()
        #expect(ended.status == 65)
        #expect(
            ended.errors.contains(
                "a.jpg: outputExists: \(place.path)/out/1.jpg was made from \(place.path)/photos/b.jpg"))
        #expect(
            ended.errors.contains(
                "b.jpg: outputExists: \(place.path)/out/2.jpg was made from \(place.path)/photos/c.jpg"))
        let after = try place.contents("out")
        #expect(after.keys.sorted() == ["1.jpg", "2.jpg", "3.jpg"])
        #expect(after["1.jpg"] == before["1.jpg"] && after["2.jpg"] == before["2.jpg"])
        #expect(after["3.jpg"] == before["2.jpg"], "the third is what the second was")
    }

    @Test func anInputThatMovedIsTheSameAsBefore() throws {
        let files = FileManager.default
        try place.putPhotos(2)
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        try files.moveItem(atPath: place.path + "/photos", toPath: place.path + "/moved")
        let moved = try place.bgrun("export", "moved", "--out", "out", "--size", "90", "--json")
        #expect((try moved.json()["counts"] as? [String: Int])?["good"] == 2, "\(moved.errors)")
        // The old name leads to the new place.
        try files.moveItem(atPath: place.path + "/moved", toPath: place.path + "/photos")
        try files.createSymbolicLink(atPath: place.path + "/moved", withDestinationPath: "photos")
        let linked = try place.bgrun("export", "photos", "--out", "out", "--size", "80", "--json")
        #expect((try linked.json()["counts"] as? [String: Int])?["good"] == 2, "\(linked.errors)")
    }

    @Test func theReportNeverReplacesAnInput() throws {
        try place.putPhotos(1)
        let before = try place.contents("photos")
        let ended = try place.bgrun("export", "photos", "--out", "out", "--report", "photos/photo-0001.jpg")
        #expect(ended.status == 64)
        #expect(try place.contents("photos") == before)
    }

    @Test func failStartsNothingWhereAnOutputExists() throws {
        try place.putPhotos(2)
        try place.write("mine", to: "out/photo-0002.jpg")
        let ended = try place.bgrun("export", "photos", "--out", "out", "--existing", "fail")
        #expect(ended.status == 73)
        #expect(ended.errors.contains("outputExists"))
        #expect(try place.contents("out").count == 1)
    }

    @Test func overwriteDoesAllOfItAgain() throws {
        try place.putPhotos(2)
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "100").status == 0)
        let again = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--existing", "overwrite", "--json")
        #expect((try again.json()["counts"] as? [String: Int])?["good"] == 2)
    }

    @Test func severalOutputsComeFromOneInput() throws {
        try place.putPhotos(2)
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--output", "size=200", "--output",
            "size=64,quality=50,name=small/{stem}.{ext}")
        #expect(ended.status == 0)
        #expect(
            try place.contents("out").keys.sorted() == [
                "photo-0001-200.jpg", "photo-0002-200.jpg", "small/photo-0001.jpg", "small/photo-0002.jpg",
            ])
    }

    @Test func theNumberOfWorkersChangesNoByte() throws {
        try place.putPhotos(6)
        #expect(try place.bgrun("export", "photos", "--out", "one", "--size", "150", "--workers", "1").status == 0)
        #expect(try place.bgrun("export", "photos", "--out", "four", "--size", "150", "--workers", "4").status == 0)
        #expect(try place.contents("one") == place.contents("four"))
        #expect(try place.contents("one").count == 6)
    }

    @Test func progressComesAsJSONLines() throws {
        try place.putPhotos(3)
        let ended = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--progress", "json")
        let lines = ended.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
        let last = try #require(lines.dropLast().last, "the very last tells the end")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
        #expect(object["event"] as? String == "progress")
        #expect(object["files"] as? Int == 3 && object["filesTotal"] as? Int == 3)
        #expect(object["fraction"] as? Double == 1 && object["device"] as? String == "cpu")
        #expect(object["megapixelsPerSecond"] != nil && object["failures"] as? Int == 0)
    }

    @Test func aSmallMemoryClaimFailsPicturesThatNeedMoreAndSaysSo() throws {
        try place.putPhotos(2, from: Photos.large)
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--memory", "100k", "--report", "r.jsonl")
        #expect(ended.status == 65)
        let lines = try records("r.jsonl")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { ["memoryShare", "limit"].contains($0["code"] as? String) })
        #expect(try place.contents("out").isEmpty)
    }

    @Test func picturesLargerThanTheirShareOfTheMemoryAreDoneOneByOne() throws {
        try place.putPhotos(3, from: Photos.large)
        let first = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--report", "r.jsonl")
        #expect(first.status == 0)
        let needs = try records("r.jsonl").compactMap { $0["workingBytes"] as? Int }
        let most = try #require(needs.max())
        let second = try place.bgrun(
            "export", "photos", "--out", "again", "--size", "100", "--workers", "3", "--memory", "\(most + most / 2)",
            "--report", "s.jsonl")
        #expect(second.status == 0)
        #expect(try records("s.jsonl").allSatisfy { ($0["workingBytes"] as? Int ?? .max) > most / 2 })
        #expect(try place.contents("out") == place.contents("again"))
    }

    @Test func limitsAreKept() throws {
        try place.putPhotos(1)
        let ended = try place.bgrun("export", "photos", "--out", "out", "--max-pixels", "1000", "--report", "r.jsonl")
        #expect(ended.status == 65)
        #expect(try records("r.jsonl").first?["code"] as? String == "limit")
    }

    @Test func anOutputFolderThatCannotBeMadeIsNamed() throws {
        try place.putPhotos(2)
        try place.write("", to: "file")
        let ended = try place.bgrun("export", "photos", "--out", "file/out")
        #expect(ended.status == 73)
        #expect(ended.errors.contains("/file"))
    }

    @Test func aDamagedJournalIsNamedAndNothingIsStarted() throws {
        try place.putPhotos(1)
        try place.write(String(repeating: "no database ", count: 400), to: ".state/bgrun/tasks.sqlite")
        let ended = try place.bgrun("export", "photos", "--out", "out")
        #expect(ended.status == 78)
        #expect(ended.errors.contains("tasks.sqlite"))
        #expect(!place.exists("out"))
    }
}
