import Foundation
import ImageCodecs
import Testing

/// Several outputs of each picture, and what a change of one makes anew.
@Suite struct SeveralOutputsTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(3)
    }

    /// Files by name with the numbers of their inodes, which a file that is made again changes.
    private func files() throws -> [String: UInt64] {
        var files: [String: UInt64] = [:]
        for name in try place.contents("out").keys {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.path + "/out/" + name)
            files[name] = try #require(attributes[.systemFileNumber] as? UInt64)
        }
        return files
    }

    @Test func aFileNamesTheOutputs() throws {
        try place.write(
            """
            outputs:
              web: {size: 200, quality: 70}
              small:
                size: 60
                format: webp
                name: "small/{stem}.{ext}"
            """, to: "outputs.yml")
        let ended = try place.bgrun(
            "export", "photos", "--out", "out", "--outputs", "outputs.yml", "--metadata", "strip")
        #expect(ended.status == 0, "\(ended.errors)")
        let made = try place.contents("out")
        #expect(made.count == 6 && made["photo-0001-200.jpg"] != nil && made["small/photo-0003.webp"] != nil)
        // The same as with options, those outside the file included.
        let options = try place.bgrun(
            "export", "photos", "--out", "again", "--metadata", "strip", "--output", "size=200,quality=70", "--output",
            "size=60,format=webp,name=small/{stem}.{ext}")
        #expect(options.status == 0)
        #expect(try place.contents("again") == made)
    }

    @Test func anOutputThatCannotBeMadeLeavesTheOthers() throws {
        func export() throws -> String {
            let ended = try place.bgrun(
                "export", "photos/photo-0001.jpg", "--out", "out", "--output", "size=100", "--output",
                "size=90,max-bytes=10", "--output", "size=80,format=png", "--output", "size=70,crop=10x10+60000+0")
            #expect(ended.status == 65)
            return ended.errors
        }
        let told = try export()
        #expect(told.contains("/out/photo-0001-90.jpg cannot be made: its output cannot have 10 bytes"), "\(told)")
        #expect(told.contains("/out/photo-0001-70.jpg cannot be made: the crop lies outside"), "\(told)")
        let first = try files()
        #expect(first.keys.sorted() == ["photo-0001-100.jpg", "photo-0001-80.png"])
        let alone = try place.bgrun(
            "export", "photos/photo-0001.jpg", "--out", "alone", "--output", "size=100", "--output",
            "size=80,format=png")
        #expect(alone.status == 0)
        #expect(try place.contents("alone") == place.contents("out"))
        // They are there, and what failed is tried again.
        #expect(try export().contains("photo-0001-90.jpg"))
        #expect(try files() == first)
    }

    @Test func damageIsRememberedBesideAnOutputThatCannotBeMade() throws {
        let photo = try Data(contentsOf: URL(fileURLWithPath: place.path + "/photos/photo-0001.jpg"))
        try photo.prefix(photo.count / 2).write(to: URL(fileURLWithPath: place.path + "/cut.jpg"))
        func export(_ options: [String]) throws -> CommandRun.Ended {
            let command = ["export", "cut.jpg", "--out", "out", "--json", "--output", "size=100"]
            return try CommandRun(command + options, in: place).end()
        }
        let both = try export(["--output", "size=90,max-bytes=10"])
        #expect(both.status == 65)
        #expect((try both.json()["counts"] as? [String: Int])?["damaged"] == 1)
        #expect(try place.contents("out").keys.sorted() == ["cut-100.jpg"])
        let again = try export(["--name", "{stem}-100.{ext}"])
        #expect(again.status == 65 && again.output.contains("keptDamaged"), "\(again.output)")
    }

    @Test func anOutputThatNoPictureOfAFormatCanHaveLeavesTheOthers() throws {
        try PictureFile.write([9, 9, 9, 255], width: 30, height: 20, to: place.path + "/flat.png")
        func ended(_ outputs: String...) throws -> CommandRun.Ended {
            try CommandRun(
                ["export", "flat.png", "--out", "out"] + outputs.flatMap { ["--output", $0] }, in: place
            ).end()
        }
        let both = try ended("size=20,max-bytes=2k", "size=10")
        #expect(both.status == 65)
        #expect(
            both.errors.contains("needsQuality: ") && both.errors.contains("/out/flat-20.png cannot be made"),
            "\(both.errors)")
        #expect(try place.contents("out").keys.sorted() == ["flat-10.png"])
        let none = try ended("size=20,max-bytes=2k", "size=15,bits=10")
        #expect(none.status == 65 && none.errors.contains("flat-20.png") && none.errors.contains("flat-15.png"))
    }

    @Test func everyOutputThatIsMissingIsToldAndTheOthersAreCounted() throws {
        try place.write("mine", to: "out/photo-0001-80.png")
        let ended = try CommandRun(
            [
                "export", "photos/photo-0001.jpg", "--out", "out", "--json", "--output", "size=100", "--output",
                "size=90,max-bytes=10", "--output", "size=80,format=png",
            ], in: place
        ).end()
        #expect(ended.status == 65)
        #expect(ended.output.contains("photo-0001-90.jpg cannot be made"), "\(ended.output)")
        #expect(ended.output.contains("photo-0001-80.png exists"), "\(ended.output)")
        #expect((try ended.json()["counts"] as? [String: Int])?["good"] == 1)
    }

    @Test func outputsOfAFileKeepTheirNamesWhenOneIsLeft() throws {
        try place.write("outputs: {web: {size: 200}, small: {size: 60}}\n", to: "outputs.yml")
        let command = ["export", "photos", "--out", "out", "--outputs", "outputs.yml", "--json"]
        #expect(try CommandRun(command, in: place).end().status == 0)
        let first = try files()
        try place.write("outputs: {web: {size: 200}}\n", to: "outputs.yml")
        let ended = try CommandRun(command, in: place).end()
        #expect((try ended.json()["counts"] as? [String: Int])?["current"] == 3)
        #expect(try files() == first)
    }

    @Test func eachOutputHasAPresetOfItsOwn() throws {
        for (look, saturation) in [("gray", -1), ("vivid", 1)] {
            try place.write("operations: [{saturation: \(saturation)}]\n", to: "\(look).yml")
            let alone = try place.bgrun(
                "export", "photos", "--out", "alone", "--size", "60", "--preset", "\(look).yml", "--name",
                "\(look)/{stem}.{ext}")
            #expect(alone.status == 0, "\(alone.errors)")
        }
        let outputs = ["gray", "vivid"].flatMap { ["--output", "preset=\($0).yml,name=\($0)/{stem}.{ext}"] }
        let ended = try CommandRun(["export", "photos", "--out", "out", "--size", "60"] + outputs, in: place).end()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try place.contents("out") == place.contents("alone"))
    }

    @Test func anOutputIsTheSameWhateverIsMadeBesideItOrWasMadeBefore() throws {
        let outputs = ["size=40", "size=90,linear", "size=150,denoise=0.3", "size=200,quality=60"]
        func export(_ chosen: [String], to folder: String) throws {
            let ended = try CommandRun(
                ["export", "photos", "--out", folder]
                    + chosen.flatMap { ["--output", "\($0),name={stem}-{size}.{ext}"] },
                in: place
            ).end()
            #expect(ended.status == 0, "\(ended.errors)")
        }
        // One after the other into one folder, all at once, and all at once the other way round.
        for count in 1...outputs.count { try export(Array(outputs.prefix(count)), to: "grown") }
        try export(outputs, to: "once")
        try export(outputs.reversed(), to: "reversed")
        for output in outputs { try export([output], to: "alone") }
        let grown = try place.contents("grown")
        #expect(grown.count == 3 * outputs.count)
        for folder in ["once", "reversed", "alone"] { #expect(try place.contents(folder) == grown, "\(folder)") }
    }

    @Test func flagsAreTheDefaultsOfTheOutputsThatCanHaveThem() throws {
        let flags = [
            ["--quality", "50"], ["--max-bytes", "9k"], ["--lossless"], ["--bits", "16"], ["--gravity", "top"],
            ["--text-color", "ff0000"],
        ]
        let outputs = [
            ["format=png,size=fill:50x50", "format=jpeg,size=60"], ["format=png", "format=jpeg"],
            ["format=jpeg", "format=webp"], ["format=jpeg", "format=png"], ["size=fill:50x50", "size=60"],
            ["size=60", "size=50,watermark-text=Text"],
        ]
        for (flags, outputs) in zip(flags, outputs) {
            let ended = try CommandRun(
                ["export", "photos", "--out", "out", "--dry-run"] + flags + outputs.flatMap { ["--output", $0] },
                in: place
            ).end()
            #expect(ended.status == 0, "\(flags): \(ended.errors)")
        }
        // A quality that is a default is that of the output with one, and what an output asks for itself has to fit.
        let both = try CommandRun(
            [
                "export", "photos", "--out", "out", "--quality", "50", "--output", "format=png,size=60", "--output",
                "size=50",
            ],
            in: place
        ).end()
        #expect(both.status == 0, "\(both.errors)")
        let alone = try place.bgrun(
            "export", "photos", "--out", "alone", "--quality", "50", "--size", "50", "--name", "{stem}-50.{ext}")
        #expect(alone.status == 0)
        let made = try place.contents("out")
        let jpegs = try place.contents("alone")
        #expect(made.count == 6 && made.merging(jpegs) { $1 } == made)
        for refused in [
            "format=png,quality=50", "format=png,max-bytes=9k", "format=jpeg,lossless", "format=jpeg,bits=16",
        ] {
            let ended = try place.bgrun("export", "photos", "--out", "no", "--dry-run", "--output", refused)
            #expect(ended.status == 64, "\(refused)")
        }
        try place.write("outputs: {a: {format: png}, b: {format: jpeg}}\n", to: "outputs.yml")
        let file = try place.bgrun(
            "export", "photos", "--out", "no", "--dry-run", "--quality", "50", "--outputs", "outputs.yml")
        #expect(file.status == 0, "\(file.errors)")
    }

    @Test func aCommaWithinAValueIsWrittenWithABackslash() throws {
        let photo = place.path + "/photos/photo-0001.jpg"
        let command = ["export", photo, "--out", "out", "--metadata", "strip"]
        let unescaped = try CommandRun(command + ["--output", "copyright=Berlin, 2026,size=50"], in: place).end()
        #expect(unescaped.status == 64)
        #expect(unescaped.errors.contains(#"no output option " 2026"; a comma within a value is written \,"#))
        let ended = try CommandRun(
            command + ["--output", #"name=a\,b\\{stem}.{ext},size=50,metadata=-gps,-camera,artist=A\, B \ C"#],
            in: place
        ).end()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try place.contents("out").keys.sorted() == [#"a,b\photo-0001.jpg"#])
        let exif = try PictureFile(place.path + #"/out/a,b\photo-0001.jpg"#).header.metadata.exif
        #expect(String(decoding: try #require(exif), as: UTF8.self).contains(#"A, B \ C"#))
        let help = try place.bgrun("export", "--help").output.split { $0.isWhitespace }.joined(separator: " ")
        #expect(help.contains(#"A comma within a value is written \,."#), "\(help)")
    }

    @Test func mistakesInTheFileAreToldWithTheirLines() throws {
        try place.write(
            "outputs:\n web:\n  size: huge\n small: {sise: 60}\n wide: {format: png, max-bytes: 1M}\n",
            to: "outputs.yml")
        let ended = try place.bgrun("export", "photos", "--out", "out", "--outputs", "outputs.yml")
        #expect(ended.status == 64)
        for words in [":3: outputs.web.size", ":4: outputs.small.sise", ":5: outputs.wide"] {
            #expect(ended.errors.contains(words), "\(ended.errors)")
        }
        #expect(try place.bgrun("export", "photos", "--out", "out", "--outputs", "nowhere.yml").status == 64)
        #expect(!place.exists("out"))
    }

    @Test func ofThreeOutputsTheOneThatChangedIsMadeAgain() throws {
        func export(_ quality: Int) throws -> [String: Any] {
            let ended = try place.bgrun(
                "export", "photos", "--out", "out", "--json", "--output", "size=200", "--output",
                "size=120,quality=\(quality)", "--output", "size=60,format=webp")
            #expect(ended.status == 0, "\(ended.errors)")
            return try ended.json()
        }
        _ = try export(80)
        let (first, bytes) = (try files(), try place.contents("out"))
        #expect(first.count == 9)
        #expect((try export(80)["counts"] as? [String: Int])?["current"] == 3)
        #expect(try files() == first)
        _ = try export(60)
        let second = try files()
        let again = second.filter { first[$0.key] != $0.value }.keys.sorted()
        #expect(again == ["photo-0001-120.jpg", "photo-0002-120.jpg", "photo-0003-120.jpg"])
        _ = try export(80)
        #expect(try place.contents("out") == bytes)
    }

    @Test func aFileInTheWayOfOneOutputKeepsNoOtherFromBeingMade() throws {
        try place.write("mine", to: "out/photo-0001-60.jpg")
        try place.write("mine", to: "out/photo-0002-60.jpg")
        let photo = place.path + "/photos/photo-0002.jpg"
        let whole = try Data(contentsOf: URL(fileURLWithPath: photo))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: photo))
        let arguments = ["export", "photos", "--out", "out", "--output", "size=200", "--output", "size=60"]
        let reason = "exists and is not known to be made by bgrun; --existing overwrite replaces it"
        let dry = try CommandRun(arguments + ["--dry-run", "--json"], in: place).end()
        #expect(dry.status == 65)
        let items = try #require(try dry.json()["items"] as? [[String: Any]])
        #expect(items.map { ($0["outputs"] as? [String])?.count } == [1, 1, 2])
        #expect(items[0]["missing"] as? [String] == ["\(place.path)/out/photo-0001-60.jpg \(reason)"])
        let ended = try CommandRun(arguments + ["--report", "r.jsonl"], in: place).end()
        #expect(ended.status == 65)
        #expect(ended.errors.contains("Exported 3 pictures"), "\(ended.errors)")
        #expect(ended.errors.contains("photo-0001.jpg: outputExists: \(place.path)/out/photo-0001-60.jpg \(reason)\n"))
        let made = try place.contents("out")
        #expect(made.count == 6 && made["photo-0001-200.jpg"] != nil)
        #expect(made["photo-0001-60.jpg"] == Data("mine".utf8) && made["photo-0002-60.jpg"] == Data("mine".utf8))
        let text = try String(contentsOfFile: place.path + "/r.jsonl", encoding: .utf8)
        let records = try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }.sorted { ($0["input"] as? String ?? "") < ($1["input"] as? String ?? "") }
        #expect(records.map { $0["status"] as? String } == ["good", "damaged", "good"])
        #expect(records.map { $0["code"] as? String } == ["outputExists", "outputExists", nil])
        #expect(records.map { ($0["outputs"] as? [Any])?.count } == [1, 1, 2])
        // What is there is kept, and what is in the way is told again until it is gone.
        let first = try files()
        let again = try CommandRun(arguments + ["--json"], in: place).end()
        let kept = try again.json()
        #expect(again.status == 65 && kept["problemCount"] as? Int == 2)
        #expect((kept["counts"] as? [String: Int])?["current"] == 3)
        #expect(try files() == first)
        try FileManager.default.removeItem(atPath: place.path + "/out/photo-0001-60.jpg")
        let last = try CommandRun(arguments + ["--json"], in: place).end()
        #expect((try last.json()["counts"] as? [String: Int])?["good"] == 1)
        #expect(try place.contents("out")["photo-0001-60.jpg"] != nil)
        #expect(try files()["photo-0001-200.jpg"] == first["photo-0001-200.jpg"])
    }

    @Test(arguments: ["size=50,size=60", "enlarge,enlarge", "name=x.{ext},size=3,name=x.{ext}"])
    func aSettingThatIsGivenTwiceIsRefused(output: String) throws {
        let ended = try place.bgrun("export", "photos", "--out", "out", "--output", output)
        #expect(ended.status == 64 && ended.errors.contains("is given twice in"), "\(ended.errors)")
        #expect(!place.exists("out"))
    }

    @Test func anOperationMayComeAgainInAChain() throws {
        let chain = "name={stem}.{ext},saturation=-0.5,contrast=0.2,saturation=0.5"
        #expect(try place.bgrun("export", "photos", "--out", "out", "--size", "60", "--output", chain).status == 0)
        let flags = ["--saturation", "-0.5", "--contrast", "0.2", "--saturation", "0.5"]
        #expect(
            try CommandRun(["export", "photos", "--out", "flags", "--size", "60"] + flags, in: place).end().status == 0)
        #expect(try place.contents("out") == place.contents("flags"))
    }

    @Test(.enabled(if: FaultyRun.isPossible, "SKIPPED: strace is missing, or may not trace here"))
    func eachPictureHasAProcessOfItsOwnWhereThatIsAskedFor() throws {
        func workers(_ options: [String], out: String) throws -> Int {
            let arguments = ["-f", "-qq", "-s", "64", "-e", "trace=execve", "-o", "calls", CommandRun.executable]
            let ended = try CommandRun(
                arguments + ["export", "photos", "--out", out, "--size", "90", "--workers", "1"] + options, in: place,
                program: "/usr/bin/strace"
            ).end()
            #expect(ended.status == 0, "\(ended.errors)")
            let calls = try String(contentsOfFile: place.path + "/calls", encoding: .utf8)
            return calls.split(separator: "\n").count { $0.contains("\"worker\"") }
        }
        #expect(try workers([], out: "out") == 1)
        #expect(try workers(["--isolate"], out: "isolated") == 3)
        #expect(try place.contents("out") == place.contents("isolated"))
    }
}
