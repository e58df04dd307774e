import Foundation
import Glibc
import ImageCodecs
import SeededNumbers
import Testing

/// `bgrun infer` and `bgrun enhance` where features meet: pictures, models and flags that are drawn by a seed.
///
/// `BGRUN_TEST_COMBINATIONS` is for how many seeds, where that is more than usual.
@Suite struct CombinationTests {
    static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["BGRUN_TEST_COMBINATIONS"].flatMap { Int($0) } ?? 3
        return (1...UInt64(max(count, 1))).map { $0 }
    }()

    private static let pictureCount = 7

    private func put(_ pictures: [OddPicture], in folder: String, of place: TestPlace) throws {
        for (number, picture) in pictures.enumerated() {
            try place.write(try picture.file, to: "\(folder)/\(number).\(picture.format.rawValue)")
        }
    }

    private func draw(_ random: inout SeededGenerator) -> [OddPicture] {
        (0..<Self.pictureCount).map { _ in OddPicture(&random) }
    }

    /// Runs a command to its end.
    private func end(_ arguments: [String], in place: TestPlace) throws {
        let ended = try CommandRun(arguments, in: place).end()
        try #require(ended.status == 0, "\(arguments.joined(separator: " ")): \(ended.errors)")
    }

    /// Runs a command to its end after a kill at some moment of a run before, in which one item of so many pictures hangs.
    private func endAfterKill(
        _ arguments: [String], in place: TestPlace, batch: Int = 1, _ random: inout SeededGenerator
    ) throws {
        // An item has the name of its first picture.
        let firsts = Array(stride(from: 0, to: Self.pictureCount, by: batch))
        let run = try CommandRun(
            arguments + ["--progress", "json"], in: place,
            environment: ["BGRUN_TEST_HANG_ON": "/\(firsts.randomElement(using: &random) ?? 0)."])
        try #require(run.waits(for: "\"files\":"))
        usleep(UInt32.random(in: 0...200_000, using: &random))
        run.send(SIGKILL)
        #expect(run.end().wasKilled)
        try end(arguments, in: place)
    }

    private func enhancement(_ random: inout SeededGenerator, in place: TestPlace) throws -> [String] {
        let channels = Bool.random(using: &random) ? 1 : 3
        let model =
            switch Int.random(in: 0...3, using: &random) {
            case 0: try SmallModel.unchanging(channels: channels)
            case 1: try SmallModel.doubling(side: 24, channels: channels)
            default: try SmallModel.doubling(channels: channels)
            }
        try place.write(model, to: "model.onnx")
        let tile = [16, 20, 33, 192].randomElement(using: &random) ?? 20
        let overlap = Int.random(in: 0...min(7, (tile - 1) / 2), using: &random)
        return [
            "--model", "model.onnx", "--tile", "\(tile)", "--overlap", "\(overlap)", "--name", "{stem}-{type}.{ext}",
        ]
    }

    @Test(arguments: seeds) func enhancedBytesDependOnPicturesAndFlagsAlone(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let place = try TestPlace()
        try put(draw(&random), in: "photos", of: place)
        let format = ["png", "jpeg", "webp", "tiff"].randomElement(using: &random) ?? "png"
        let flags = try enhancement(&random, in: place) + ["--format", format]
        func command(_ folder: String, _ more: String...) -> [String] {
            ["enhance", "photos", "--out", folder] + flags + more
        }
        try end(command("one", "--workers", "1"), in: place)
        try end(command("isolated", "--workers", "3", "--isolate"), in: place)
        try endAfterKill(command("resumed", "--workers", "3"), in: place, &random)
        let wanted = try place.contents("one")
        #expect(wanted.count == Self.pictureCount)
        #expect(try place.contents("isolated") == wanted, "seed \(seed)")
        #expect(try place.contents("resumed") == wanted, "seed \(seed)")
    }

    @Test(arguments: seeds) func resultsOfAModelDependOnPicturesAndFlagsAlone(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ 1_000)
        let place = try TestPlace()
        try put(draw(&random), in: "photos", of: place)
        try place.write(try SmallModel.file(), to: "model.onnx")
        let preset = ["imagenet", "clip", "yolo", "unit"].randomElement(using: &random) ?? "unit"
        let form = Bool.random(using: &random) ? "arrays" : "classes"
        func command(_ folder: String, _ more: String...) -> [String] {
            ["infer", "model.onnx", "photos", "--out", folder, "--preset", preset, "--as", form] + more
        }
        try end(command("one", "--workers", "1", "--batch", "7"), in: place)
        try end(command("three", "--workers", "3", "--batch", "7"), in: place)
        try end(command("single", "--workers", "2", "--batch", "1"), in: place)
        try endAfterKill(command("resumed", "--workers", "3", "--batch", "3"), in: place, batch: 3, &random)
        let wanted = try place.contents("one")
        #expect(wanted.count == (form == "arrays" ? 2 : 1))
        for folder in ["three", "single", "resumed"] {
            #expect(try place.contents(folder) == wanted, "seed \(seed), \(folder)")
        }
    }

    /// Files of the same pictures: as they were drawn, turned, with alpha that is full, and gray with three channels.
    private func forms(of pictures: [OddPicture], _ random: inout SeededGenerator) -> [String: [OddPicture]] {
        // Without losses, and in a format that has all of these.
        let plain = pictures.map { picture in
            var plain = picture
            (plain.format, plain.orientation) = (.png, 1)
            return plain
        }
        var turned = plain
        for place in turned.indices { turned[place].orientation = Int.random(in: 2...8, using: &random) }
        var opaque = plain
        for place in opaque.indices { opaque[place].hasAlpha = true }
        var colored = plain
        for place in colored.indices { colored[place].isGray = false }
        return ["plain": plain, "turned": turned, "opaque": opaque, "colored": colored]
    }

    @Test(arguments: seeds) func theSamePictureInAnotherFormGivesTheSame(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ 2_000)
        let place = try TestPlace()
        let forms = forms(of: draw(&random), &random)
        for (name, pictures) in forms { try put(pictures, in: name, of: place) }
        let flags = try enhancement(&random, in: place) + ["--bits", "8", "--metadata", "strip"]
        try place.write(try SmallModel.file(), to: "classes.onnx")
        for name in forms.keys {
            try end(["enhance", name, "--out", "made-\(name)"] + flags, in: place)
            try end(["infer", "classes.onnx", name, "--out", "scores-\(name)", "--preset", "unit"], in: place)
        }
        let files = try place.contents("made-plain").keys.sorted()
        #expect(files.count == Self.pictureCount)
        let scores = try SmallModel.read(place.path + "/scores-plain/scores.npy").values
        for name in forms.keys where name != "plain" {
            for file in files {
                let wanted = try PictureFile("\(place.path)/made-plain/\(file)")
                let found = try PictureFile("\(place.path)/made-\(name)/\(file)")
                try #require(found.header.width == wanted.header.width && found.header.height == wanted.header.height)
                let largest = zip(found.pixels, wanted.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 255
                // Luma of equal channels is theirs but for a rounding.
                #expect(largest <= (name == "turned" ? 0 : 1), "seed \(seed), \(name), \(file)")
            }
            let found = try SmallModel.read("\(place.path)/scores-\(name)/scores.npy").values
            let largest = zip(found, scores).map { abs($0 - $1) }.max() ?? .infinity
            // Pictures with alpha are resized in other numbers, and turned ones the other way round.
            #expect(largest <= (name == "colored" ? 1e-6 : 0.02), "seed \(seed), \(name): \(largest)")
        }
    }
}
