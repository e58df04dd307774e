import Foundation
import Glibc
import ImageCodecs
import RandomPictures
import SeededNumbers
import Testing

/// Random pictures with random options through the command: however it is asked for the same, it makes the same bytes.
/// `BGRUN_RANDOM_PICTURES` and `BGRUN_RANDOM_SEED` as in the tests of the exporter.
@Suite(.serialized) struct RandomExportTests {
    private static let picturesInARun = 12
    /// Commands start processes, so few of all pictures go through them.
    private static let share = 50

    private static func number(_ name: String, or usual: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
    }

    private static let operations: Set = [
        "exposure", "white-balance", "contrast", "saturation", "curve", "denoise", "local-contrast", "deconvolve",
        "grain",
    ]

    /// One folder of pictures with two or three outputs of each.
    private final class Round {
        let place: TestPlace
        let seed: UInt64
        let outputs: [RandomOptions]
        var random: SeededGenerator

        init(seed: UInt64) throws {
            place = try TestPlace()
            self.seed = seed
            random = SeededGenerator(seed: seed)
            try FileManager.default.createDirectory(atPath: place.path + "/in", withIntermediateDirectories: true)
            var sizes: [(Int, Int)] = []
            for index in 0..<picturesInARun {
                let picture = RandomPicture(seed: random.next())
                sizes.append((picture.width, picture.height))
                let ending = picture.format.rawValue
                try Data(picture.file()).write(to: URL(filePath: place.path + "/in/\(index).\(ending)"))
            }
            let count = Int.random(in: 2...3, using: &random)
            outputs = (0..<count).map { index in
                RandomOptions(seed: seed &+ UInt64(index), width: sizes[index].0, height: sizes[index].1)
            }
        }

        func text(_ index: Int) -> String {
            let options = outputs[index].outputText
            return "name={stem}-\(index).{ext}" + (options.isEmpty ? "" : "," + options)
        }

        func arguments(_ chosen: [Int]) -> [String] { chosen.flatMap { ["--output", text($0)] } }

        /// Exports, and returns what is in the folder and what the command said.
        func export(_ options: [String], to folder: String) throws -> (files: [String: Data], ended: CommandRun.Ended) {
            let ended = try CommandRun(["export", "in", "--out", folder] + options, in: place).end()
            return (try place.contents(folder), ended)
        }

        /// The outputs in a file, their looks in presets.
        func described() throws -> [String] {
            var lines = ["outputs:"]
            for (index, output) in outputs.enumerated() {
                lines += ["  o\(index):", "    name: \"{stem}-\(index).{ext}\""]
                for option in output.options where !operations.contains(option.name) {
                    lines.append("    \(option.name): \"\(option.value ?? "true")\"")
                }
                let looks = output.options.filter { operations.contains($0.name) }
                if looks.isEmpty { continue }
                try place.write(
                    "operations:\n" + looks.map { "- \($0.name): \"\($0.value ?? "")\"\n" }.joined(),
                    to: "look\(index).yml")
                lines.append("    preset: look\(index).yml")
            }
            try place.write(lines.joined(separator: "\n") + "\n", to: "outputs.yml")
            return ["--outputs", "outputs.yml"]
        }

        /// Ends the command in its midst, and lets it go on.
        func killed(_ options: [String], to folder: String) throws -> (files: [String: Data], ended: CommandRun.Ended) {
            for _ in 0..<2 {
                let run = try CommandRun(["export", "in", "--out", folder] + options, in: place)
                usleep(UInt32.random(in: 20_000...120_000, using: &random))
                run.send(SIGKILL)
                _ = run.end()
            }
            return try export(options, to: folder)
        }
    }

    private func check(_ seed: UInt64) throws -> [String] {
        let round = try Round(seed: seed)
        let all = Array(round.outputs.indices)
        let usual = try round.export(["--workers", "1"] + round.arguments(all), to: "usual")
        var wrong: [String] = []
        func expect(_ made: (files: [String: Data], ended: CommandRun.Ended), _ words: String) {
            if made.ended.status != usual.ended.status {
                wrong.append("status \(made.ended.status), not \(usual.ended.status), \(words): \(made.ended.errors)")
            }
            let names = Set(made.files.keys).union(usual.files.keys)
            let other = names.filter { made.files[$0] != usual.files[$0] }.sorted()
            if !other.isEmpty { wrong.append("other bytes \(words): \(other.joined(separator: " "))") }
        }
        if ![0, 65].contains(usual.ended.status) {
            wrong.append("status \(usual.ended.status): \(usual.ended.errors)")
        }
        if usual.ended.status == 0, usual.files.count != all.count * Self.picturesInARun {
            wrong.append("\(usual.files.count) files, and status 0")
        }
        expect(try round.export(["--workers", "2"] + round.arguments(all.reversed()), to: "two"), "with two workers")
        expect(try round.export(["--isolate"] + round.arguments(all), to: "isolated"), "in processes of their own")
        expect(try round.export(try round.described(), to: "described"), "with a file of outputs and presets")
        expect(try round.killed(round.arguments(all), to: "killed"), "after two kills")
        // An output first alone, and then beside the others.
        _ = try round.export(round.arguments([round.random.next() % 2 == 0 ? 0 : all.count - 1]), to: "grown")
        expect(try round.export(round.arguments(all), to: "grown"), "beside one that was there")
        let verified = try round.place.bgrun("verify", "usual")
        if verified.status != 0, !usual.files.isEmpty { wrong.append("verify: \(verified.output) \(verified.errors)") }
        let outputs = all.map { round.text($0) }.joined(separator: " | ")
        return wrong.map { "seed \(seed), \(outputs): \($0)" }
    }

    @Test func theSameIsMadeHoweverItIsAskedFor() throws {
        let first = Self.number("BGRUN_RANDOM_SEED", or: 1)
        let pictures = Self.number("BGRUN_RANDOM_PICTURES", or: 3000) / Self.share
        var (wrong, done) = ([String](), 0)
        while done < pictures, wrong.count < 20 {
            wrong += try check(UInt64(first + done))
            done += Self.picturesInARun
        }
        print("\(done) random pictures through the command from seed \(first), \(wrong.count) differences")
        for sentence in wrong { Issue.record(Comment(rawValue: sentence)) }
    }
}
