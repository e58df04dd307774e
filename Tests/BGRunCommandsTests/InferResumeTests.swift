import CDispatch  // The headers of `stat` belong to the module that is loaded first.
import Foundation
import Glibc
import Inference
import InferenceData
import Testing

/// `bgrun infer`: how a job stops, dies and goes on.
@Suite struct InferResumeTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.write(try SmallModel.file(), to: "model.onnx")
    }

    private func whole() throws -> [String: Data] {
        let ended = try place.infer("photos", "--out", "whole", "--batch", "2")
        #expect(ended.status == 0, "\(ended.errors)")
        return try place.contents("whole")
    }

    /// A run whose third batch of six hangs, met when the others are done.
    private func hangingRun(_ options: [String] = []) throws -> CommandRun {
        let run = try CommandRun(
            [
                "infer", "model.onnx", "photos", "--out", "out", "--batch", "2", "--progress", "json", "--workers", "2",
                "--grace", "0.1s",
            ] + options, in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0005"])
        try #require(run.waits(for: "\"files\":\(Photos.count - 2),"))
        return run
    }

    private func killRun() throws {
        let run = try hangingRun()
        run.send(SIGKILL)
        #expect(run.end().wasKilled)
    }

    @Test("rule 77, rule 82: after kill -9 the same command goes on, and gives the same bytes")
    func afterAKillTheSameCommandGoesOn() throws {
        try place.putPhotos()
        try killRun()
        #expect(!place.exists("out/scores.npy") && !place.exists("out/inputs.jsonl"), "whole or not at all")
        let ended = try place.infer("photos", "--out", "out", "--batch", "2", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let counts = try ended.json()["counts"] as? [String: Int]
        #expect(counts?["good"] == 2 && counts?["current"] == Photos.count - 2)
        #expect(try place.contents("out") == whole())
    }

    /// Takes away what a batch left, as a crash of the machine does with files that were not flushed: the first row in the file
    /// of all rows, or all of another file.
    private func empty(_ file: String) throws {
        let folder = try #require(
            FileManager.default.contentsOfDirectory(atPath: place.path + "/out").first { $0.hasPrefix(".bgrun-parts-") }
        )
        let path = "\(place.path)/out/\(folder)/\(file)"
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_size > 0)
        let rows = try NPYAssembly(elementType: .float32, rowShape: [SmallModel.classes])
        let lost =
            file == "rows.0.npy" ? rows.offset(ofRow: 0)..<rows.offset(ofRow: 1) : 0..<Int(status.st_size)
        let zeros = [UInt8](repeating: 0, count: lost.count)
        let descriptor = open(path, O_WRONLY)
        #expect(pwrite(descriptor, zeros, zeros.count, off_t(lost.lowerBound)) == zeros.count)
        #expect(futimens(descriptor, [status.st_atim, status.st_mtim]) == 0)
        Glibc.close(descriptor)
    }

    @Test(
        "rule 82: a batch without its content is made anew, whatever names, lengths and times say",
        arguments: ["0000000.json", "rows.0.npy"])
    func batchesWithoutTheirContentAreMadeAnew(file: String) throws {
        try place.putPhotos()
        try killRun()
        try empty(file)
        let ended = try place.infer("photos", "--out", "out", "--batch", "2", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let counts = try ended.json()["counts"] as? [String: Int]
        #expect(counts?["good"] == 4 && counts?["current"] == Photos.count - 4)
        #expect(try place.contents("out") == whole())
    }

    @Test func whatIsChangedBehindARunIsNoResult() throws {
        try place.putPhotos()
        let run = try hangingRun(["--stall-limit", "10s"])
        try empty("rows.0.npy")
        let failed = run.end()
        #expect(failed.status == 74 && failed.errors.contains("was changed by somebody else"), "\(failed.errors)")
        #expect(!place.exists("out/scores.npy") && !place.exists("out/inputs.jsonl"), "whole or not at all")
        #expect(try place.infer("photos", "--out", "out", "--batch", "2").status == 0)
        #expect(try place.contents("out") == whole())
    }

    @Test(
        "rule 82: where one result has its name already and another has not, the same command goes on",
        arguments: [["photos"], ["photos", "--preset", "unit"], ["photos/photo-0001.jpg", "photos/photo-0002.jpg"]])
    func resultsThatHaveTheirNamesAreKept(then inputs: [String]) throws {
        try place.putPhotos()
        // No file can get this name.
        try place.write("mine", to: "out/inputs.jsonl/file")
        let failed = try place.infer("photos", "--out", "out", "--batch", "2", "--existing", "overwrite")
        #expect(failed.status == 73 && failed.errors.contains("inputs.jsonl"), "\(failed.errors)")
        #expect(place.exists("out/scores.npy"))
        try FileManager.default.removeItem(atPath: place.path + "/out/inputs.jsonl")
        func run(_ folder: String) throws -> CommandRun.Ended {
            try CommandRun(["infer", "model.onnx", "--out", folder, "--batch", "2", "--json"] + inputs, in: place).end()
        }
        let ended = try run("out")
        #expect(ended.status == 0, "\(ended.errors)")
        let counts = try ended.json()["counts"] as? [String: Int]
        let isTheSame = inputs == ["photos"]
        #expect(counts?["good"] == (isTheSame ? 0 : inputs[0] == "photos" ? Photos.count : 2))
        #expect(try run("whole").status == 0)
        #expect(try place.contents("out") == place.contents("whole"))
    }

    @Test func whatComesInTheWayDuringARunStays() throws {
        try place.putPhotos()
        let run = try hangingRun(["--stall-limit", "10s"])
        try place.write("mine", to: "out/scores.npy")
        let failed = run.end()
        #expect(failed.status == 74 && failed.errors.contains("outputExists"), "\(failed.errors)")
        let again = try place.infer("photos", "--out", "out", "--batch", "2")
        #expect(again.status == 73 && again.errors.contains("is not known to be made by bgrun"), "\(again.errors)")
        #expect(try place.contents("out")["scores.npy"] == Data("mine".utf8))
        #expect(try place.infer("photos", "--out", "out", "--batch", "2", "--existing", "overwrite").status == 0)
        #expect(try place.contents("out") == whole())
    }

    @Test("rule 77: a signal stops an inference cleanly", arguments: [SIGINT, SIGTERM])
    func aSignalStopsCleanly(signal: Int32) throws {
        try place.putPhotos()
        let run = try hangingRun()
        run.send(signal)
        let stopped = run.end()
        #expect(stopped.status == 75 && stopped.errors.contains("same command"), "\(stopped.errors)")
        #expect(!place.exists("out/scores.npy"))
        #expect(try place.infer("photos", "--out", "out", "--batch", "2").status == 0)
        #expect(try place.contents("out") == whole())
    }

    /// Runs `photos` through the model.
    ///
    /// - Returns: How many inputs had to be done for that.
    private func good(_ options: String...) throws -> Int? {
        let ended = try CommandRun(
            ["infer", "model.onnx", "photos", "--out", "out", "--json"] + options, in: place
        ).end()
        return (try ended.json()["counts"] as? [String: Int])?["good"]
    }

    @Test("rule 83: another model, other settings or another input are done anew")
    func whatChangedIsDoneAnew() throws {
        try place.putPhotos(4)
        #expect(try good() == 4)
        #expect(try good() == 0)
        try place.write(try SmallModel.file(seed: 2), to: "model.onnx")
        #expect(try good() == 4)
        #expect(try good("--preset", "unit") == 4)
        let photo = try #require(try Photos.small.get().last)
        try place.put(photo, at: "photos/photo-0009.jpg")
        #expect(try good("--preset", "unit") == 5)
    }

    @Test("rule 83: other labels under the same name are other settings")
    func otherLabelsAreOtherSettings() throws {
        try place.putPhotos(4)
        for name in ["cat", "dog"] {
            try place.write((0..<SmallModel.classes).map { "\(name) \($0)\n" }.joined(), to: "labels.txt")
            #expect(try good("--as", "classes", "--labels", "labels.txt") == 4)
            #expect(try good("--as", "classes", "--labels", "labels.txt") == 0)
            #expect(
                try place.contents("out")["results.jsonl"].map { String(decoding: $0, as: UTF8.self) }?.contains(name)
                    == true)
        }
    }

    /// Its worker reads it once more after the second batch was given up.
    @Test("a model that is changed during a run ends the run, written anew as it was it does not", arguments: [1, 2])
    func aModelThatIsChangedEndsTheRun(seed: UInt64) throws {
        try place.putPhotos()
        let run = try CommandRun(
            [
                "infer", "model.onnx", "photos", "--out", "out", "--batch", "2", "--progress", "json", "--workers", "1",
                "--stall-limit", "3s",
            ], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        try #require(run.waits(for: "\"files\":2,"))
        try place.write(try SmallModel.file(seed: seed), to: "model.onnx")
        let ended = run.end()
        let isTold = ended.errors.contains("\(place.path)/model.onnx was changed while the job ran")
        guard seed != 1 else {
            #expect(ended.status == 65 && !isTold, "\(ended.errors)")
            return
        }
        #expect(ended.status == 75 && isTold, "\(ended.errors)")
        #expect(!place.exists("out/scores.npy") && !place.exists("out/inputs.jsonl"), "whole or not at all")
        #expect(try place.infer("photos", "--out", "out", "--batch", "2").status == 0)
        #expect(try place.contents("out") == whole())
    }
}
