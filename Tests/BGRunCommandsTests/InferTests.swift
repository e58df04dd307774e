import Foundation
import Glibc
import Inference
import InferenceData
import ModelParts
import SwiftProtobuf
import Testing

/// `bgrun infer`: what is made of inputs.
@Suite struct InferTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.write(try SmallModel.file(), to: "model.onnx")
    }

    private func close(_ found: [Float], _ expected: [Float]) -> Bool {
        found.count == expected.count
            && zip(found, expected).allSatisfy { abs($0 - $1) <= 1e-4 * max(1, abs($1)) }
    }

    @Test(arguments: ["1", "4", "64"]) func rowsOfAnArrayKeepTheirOrderAndTheirValues(batch: String) throws {
        let inputs = SmallModel.inputs(11)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        let ended = try place.infer("data.npy", "--out", "out", "--batch", batch, "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect((try ended.json()["counts"] as? [String: Int])?["good"] == 11)
        let scores = try SmallModel.read(place.path + "/out/scores.npy")
        #expect(scores.shape == [11, SmallModel.classes])
        #expect(close(scores.values, try SmallModel.scores(inputs)))
        let lines = try place.lines("out/inputs.jsonl")
        #expect(lines.map { $0["row"] as? Int } == Array(0..<11))
        #expect(lines[3]["input"] as? String == "\(place.path)/data.npy[3]")
        #expect(Set(try place.contents("out").keys) == ["scores.npy", "inputs.jsonl"])
    }

    /// What each batch takes beside its computation would count with such a small model.
    @Test func aLongArrayHasLargerBatchesByDefault() throws {
        try place.write(try SmallModel.array(SmallModel.inputs(160)), to: "data.npy")
        for (options, batches) in [([], 13), (["--batch", "8"], 20)] {
            let shown = try CommandRun(
                ["infer", "model.onnx", "data.npy", "--out", "out", "--dry-run", "--json"] + options, in: place
            ).end()
            #expect(try shown.json()["batches"] as? Int == batches, "\(shown.errors)")
        }
        let ended = try place.infer("data.npy", "--out", "out")
        #expect(ended.status == 0, "\(ended.errors)")
        let scores = try SmallModel.read(place.path + "/out/scores.npy")
        #expect(scores.shape == [160, SmallModel.classes])
        #expect(try place.infer("data.npy", "--out", "eights", "--batch", "8").status == 0)
        #expect(try place.contents("out")["scores.npy"] == place.contents("eights")["scores.npy"])
    }

    @Test func batchesOfPicturesGetSmallerTowardsTheEnd() throws {
        try place.putPhotos()
        try place.write(try SmallModel.file(batch: 1), to: "model.onnx")
        func batches(_ options: String...) throws -> Int {
            let shown = try CommandRun(
                ["infer", "model.onnx", "photos", "--out", "out", "--dry-run", "--json"] + options, in: place
            ).end()
            return try #require(try shown.json()["batches"] as? Int, "\(shown.errors)")
        }
        #expect(try batches() == Photos.count)
        #expect(try batches("--batch", "8") == 2)
        #expect(try place.infer("photos", "--out", "out").status == 0)
        #expect(try place.infer("photos", "--out", "eights", "--batch", "8").status == 0)
        #expect(try place.contents("out") == place.contents("eights"))
        let photo = try #require(try Photos.small.get().first)
        for number in Photos.count..<88 { try place.put(photo, at: "photos/more-\(number).jpg") }
        // Eight at first, then an eighth of what is left.
        #expect(try batches() == 30)
        #expect(try batches("--batch", "8") == 11)
    }

    @Test func aModelOfAFixedBatchTakesAnyNumberOfInputs() throws {
        let inputs = SmallModel.inputs(6)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        try place.write(try SmallModel.file(batch: 4), to: "model.onnx")
        let ended = try place.infer("data.npy", "--out", "out", "--batch", "5")
        #expect(ended.status == 0, "\(ended.errors)")
        let scores = try SmallModel.read(place.path + "/out/scores.npy")
        let expected = try SmallModel.scores(inputs)
        #expect(scores.shape == [6, SmallModel.classes] && close(scores.values, expected))
    }

    @Test func outputsWithoutARowForEachInputAreMadeOneByOne() throws {
        let sum = ModelParts.node("ReduceSum", ["scores"], ["sum"], [ModelParts.attribute("keepdims", int: 0)])
        let inputs = SmallModel.inputs(5)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        try place.write(try SmallModel.file(nodes: [sum], outputs: ["sum"]), to: "model.onnx")
        let ended = try place.infer("data.npy", "--out", "out")
        #expect(ended.status == 0, "\(ended.errors)")
        let sums = try SmallModel.read(place.path + "/out/sum.npy")
        let expected = try SmallModel.scores(inputs).chunked(SmallModel.classes).map { $0.reduce(0, +) }
        #expect(sums.shape == [5] && close(sums.values, expected))
        // A model that takes four at once and gives one number has none for each.
        try place.write(try SmallModel.file(batch: 4, nodes: [sum], outputs: ["sum"]), to: "model.onnx")
        let refused = try place.infer("data.npy", "--out", "other")
        #expect(refused.status == 65 && refused.errors.contains("no row for each"), "\(refused.errors)")
    }

    @Test func anOutputOfAsManyRowsAsThereAreInputsIsNotCutUp() throws {
        // The scores of two classes, for each batch of two inputs.
        let nodes = [
            ModelParts.node("Transpose", ["scores"], ["turned"], [ModelParts.attribute("perm", ints: [1, 0])]),
            ModelParts.node(
                "Split", ["turned"], ["a", "b", "c", "d", "e"],
                [ModelParts.attribute("axis", int: 0), ModelParts.attribute("num_outputs", int: 5)]),
        ]
        let inputs = SmallModel.inputs(4)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        try place.write(try SmallModel.file(nodes: nodes, outputs: ["a"]), to: "model.onnx")
        let ended = try place.infer("data.npy", "--out", "out", "--batch", "2")
        #expect(ended.status == 0, "\(ended.errors)")
        let found = try SmallModel.read(place.path + "/out/a.npy")
        let expected = try SmallModel.scores(inputs).chunked(SmallModel.classes).flatMap { $0.prefix(2) }
        #expect(found.shape == [4, 2, 1] && close(found.values, expected), "\(found)")
    }

    @Test func aModelThatLeavesItsRowsAtZeroTakesAnyNumber() throws {
        let inputs = SmallModel.inputs(3)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        try place.write(try SmallModel.file(batch: 0), to: "model.onnx")
        let ended = try place.infer("data.npy", "--out", "out")
        #expect(ended.status == 0, "\(ended.errors)")
        let scores = try SmallModel.read(place.path + "/out/scores.npy")
        let expected = try SmallModel.scores(inputs)
        #expect(scores.shape == [3, SmallModel.classes] && close(scores.values, expected))
    }

    @Test func fewerBitsGiveNearlyTheSameOrAreRefused() throws {
        let inputs = SmallModel.inputs(4)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        let expected = try SmallModel.scores(inputs)
        let largest = expected.map { abs($0) }.max() ?? 0
        func difference(_ folder: String) throws -> Float {
            let found = try SmallModel.read("\(place.path)/\(folder)/scores.npy").values
            return (zip(found, expected).map { abs($0 - $1) }.max() ?? .infinity) / largest
        }
        let automatic = try place.infer("data.npy", "--out", "auto", "--precision", "auto", "--report", "report.jsonl")
        #expect(automatic.status == 0, "\(automatic.errors)")
        #expect(try difference("auto") < 0.02)
        let report = try String(contentsOfFile: place.path + "/report.jsonl", encoding: .utf8)
        let narrow = try place.infer("data.npy", "--out", "narrow", "--precision", "bf16")
        if try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8).contains("avx512_bf16") {
            #expect(narrow.status == 0, "\(narrow.errors)")
            let share = try difference("narrow")
            #expect(share > 1e-6 && share < 0.02, "\(share)")
            #expect(report.contains("precision auto took bf16: bf16 differs by"), "\(report)")
        } else {
            #expect(narrow.status == 69 && narrow.errors.contains("bfloat16"), "\(narrow.errors)")
        }
    }

    @Test func anArrayOfDoublesIsTakenAsWhatTheModelTakes() throws {
        let inputs = SmallModel.inputs(2)
        try place.write(try SmallModel.array(inputs), to: "single.npy")
        var header = Data([0x93]) + Data("NUMPY".utf8) + Data([1, 0])
        var text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 32, 32), }"
        text += String(repeating: " ", count: 117 - text.utf8.count) + "\n"
        header += Data([UInt8(text.utf8.count), 0]) + Data(text.utf8)
        try place.write(inputs.map(Double.init).withUnsafeBytes { header + Data($0) }, to: "double.npy")
        #expect(try place.infer("single.npy", "--out", "single").status == 0)
        let ended = try place.infer("double.npy", "--out", "double")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try place.contents("single")["scores.npy"] == place.contents("double")["scores.npy"])
    }

    @Test func aPictureThatIsNoneCostsItsRowAlone() throws {
        try place.putPhotos(6)
        try place.write("this is no picture", to: "photos/photo-0003a.jpg")
        let ended = try place.infer("photos", "--out", "out", "--batch", "3")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0003a.jpg: unknownFormat: "), "\(ended.errors)")
        let scores = try SmallModel.read(place.path + "/out/scores.npy")
        try #require(scores.shape == [7, SmallModel.classes])
        let lines = try place.lines("out/inputs.jsonl")
        for row in 0..<7 {
            let values = scores.values[(row * SmallModel.classes)..<((row + 1) * SmallModel.classes)]
            #expect(values.allSatisfy(\.isNaN) == (row == 3), "row \(row)")
            #expect((lines[row]["error"] as? String == "unknownFormat") == (row == 3), "row \(row)")
        }
        // The same command does nothing, and does not forget it.
        let again = try place.infer("photos", "--out", "out", "--batch", "3", "--json")
        #expect(again.status == 65 && again.errors.isEmpty, "\(again.errors)")
        #expect(again.output.contains("keptDamaged") && again.output.contains("\"good\":0"))
    }

    @Test func aPictureThatNeedsMoreMemoryThanThereIsCostsItsRowAlone() throws {
        try place.putPhotos(3)
        try place.put(try #require(try Photos.large.get().first), at: "photos/large.jpg")
        let ended = try place.infer("photos", "--out", "out", "--memory", "24M", "--workers", "1")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("large.jpg: memoryShare: It needs "), "\(ended.errors)")
        let lines = try place.lines("out/inputs.jsonl")
        #expect(lines.map { $0["error"] as? String } == ["memoryShare", nil, nil, nil])
        // Whoever has too little room for it beside others gets all of it: workers change nothing.
        for workers in ["1", "3"] {
            let ended = try place.infer(
                "photos", "--out", workers, "--memory", "120M", "--workers", workers, "--batch", "2")
            #expect(ended.status == 0, "\(ended.errors)")
        }
        #expect(try place.contents("1") == place.contents("3"))
    }

    @Test func aBatchWhosePicturesTogetherNeedMoreMemoryThanThereIsGivesTheSame() throws {
        try place.putPhotos()
        try place.write(try SmallModel.unchanging(channels: 3, width: 480, height: 320), to: "model.onnx")
        for (folder, memory) in [("ample", "1G"), ("scarce", "8M")] {
            let ended = try place.infer(
                "photos", "--out", folder, "--preset", "unit", "--memory", memory, "--workers", "1", "--batch", "12")
            #expect(ended.status == 0, "\(ended.errors)")
        }
        #expect(try place.contents("ample") == place.contents("scarce"))
    }

    @Test func aDecoderThatTakesMoreMemoryThanItsPictureMayClaimFailsItsBatchAlone() throws {
        try place.putPhotos(3)
        let ended = try place.infer(
            "photos", "--out", "out", "--batch", "1", "--memory", "256M",
            environment: ["BGRUN_TEST_HOG_ON": "photo-0002"])
        #expect(ended.status == 65 && ended.errors.contains("(SIGABRT)"), "\(ended.errors)")
        #expect(try place.lines("out/inputs.jsonl").map { $0["error"] == nil } == [true, false, true])
    }

    @Test func modelAndDataBehindLinksOfAHubsCacheAreUsed() throws {
        try place.putPhotos(1)
        #expect(try place.infer("photos", "--out", "whole").status == 0)
        let model = try SmallModel.external(dataAt: "model.onnx.data")
        try place.write(model.model, to: "hub/blobs/a")
        try place.write(model.data, to: "hub/blobs/b")
        let snapshot = place.path + "/hub/snapshots/x"
        try FileManager.default.createDirectory(atPath: snapshot, withIntermediateDirectories: true)
        for (name, blob) in [("model.onnx", "a"), ("model.onnx.data", "b")] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(snapshot)/\(name)", withDestinationPath: "../../blobs/\(blob)")
        }
        let ended = try place.bgrun("infer", "hub/snapshots/x/model.onnx", "photos", "--out", "out")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try place.contents("out") == place.contents("whole"))
    }

    @Test func aPresetThatIsHardlyMeantIsNoted() throws {
        try place.putPhotos(1)
        try place.write("mean: [123.675, 116.28, 103.53]\nstd: [58.395, 57.12, 57.375]\n", to: "mine.yml")
        let ended = try place.infer("photos", "--out", "out", "--preset", "mine.yml")
        #expect(ended.status == 0)
        #expect(ended.errors.contains("the preset's mean of 123.675 lies outside 0 to 1"), "\(ended.errors)")
    }

    @Test func aPictureThatIsCutIsUsedAndNamed() throws {
        try place.putPhotos(2)
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.path + "/photos/photo-0001.jpg"))
        try place.write(whole.prefix(whole.count / 2), to: "photos/photo-0001.jpg")
        let ended = try place.infer("photos", "--out", "out", "--json")
        #expect(ended.status == 65, "\(ended.errors)")
        let counts = try ended.json()["counts"] as? [String: Int]
        #expect(counts?["good"] == 1 && counts?["damaged"] == 1)
        #expect(try SmallModel.read(place.path + "/out/scores.npy").values.allSatisfy { !$0.isNaN })
    }

    @Test func aPictureThatVanishesIsNamedWithItsReason() throws {
        try place.putPhotos(4)
        let run = try CommandRun(
            [
                "infer", "model.onnx", "photos", "--out", "out", "--batch", "2", "--workers", "1", "--progress", "json",
                "--stall-limit", "5s",
            ], in: place, environment: ["BGRUN_TEST_HANG_ON": "photo-0001"])
        try #require(run.waits(for: "\"files\":0,"))
        unlink(place.path + "/photos/photo-0004.jpg")
        let ended = run.end()
        #expect(ended.status == 65)
        #expect(ended.errors.contains("No such file or directory"), "\(ended.errors)")
        let scores = try SmallModel.read(place.path + "/out/scores.npy").values
        // The batch that hung, and the picture that had gone; their neighbour has its scores.
        #expect(scores.chunked(SmallModel.classes).map { $0.allSatisfy(\.isNaN) } == [true, true, false, true])
    }

    @Test func archivesNameTheInputsOfTheModel() throws {
        let inputs = SmallModel.inputs(3)
        try place.write(try SmallModel.array(inputs), to: "same.npy")
        try SmallModel.archive(inputs, name: "image", at: place.path + "/good.npz")
        try SmallModel.archive(inputs, name: "picture", at: place.path + "/other.npz")
        #expect(try place.infer("same.npy", "--out", "array").status == 0)
        let good = try place.infer("good.npz", "--out", "archive")
        #expect(good.status == 0, "\(good.errors)")
        #expect(try place.contents("array")["scores.npy"] == place.contents("archive")["scores.npy"])
        let other = try place.infer("other.npz", "--out", "other")
        #expect(other.status == 65)
        #expect(other.errors.contains("has no \"image\"; it has picture"), "\(other.errors)")
        // The arrays of one are kept from batch to batch, and not beyond it.
        let more = SmallModel.inputs(2, seed: 8)
        try SmallModel.archive(more, name: "image", at: place.path + "/more.npz")
        let both = try place.infer("good.npz", "more.npz", "--out", "both", "--batch", "1", "--workers", "1")
        #expect(both.status == 0, "\(both.errors)")
        let scores = try SmallModel.read(place.path + "/both/scores.npy").values
        #expect(close(scores, try SmallModel.scores(inputs + more)))
    }

    @Test("An inference that requires a GPU runs there, with the same scores but for the last digits")
    func aDeviceGivesTheSameScores() throws {
        let inputs = SmallModel.inputs(5)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        let ended = try place.infer(
            "data.npy", "--out", "out", "--gpu", "--json", environment: ["BGRUN_TEST_CPU_AS_GPU": "1"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect((try ended.json()["device"] as? String)?.contains("standing for a GPU") == true)
        #expect(close(try SmallModel.read(place.path + "/out/scores.npy").values, try SmallModel.scores(inputs)))
        // With half the bits of each value there are fewer digits alike.
        let narrow = try place.infer(
            "data.npy", "--out", "narrow", "--gpu", "--precision", "fp16",
            environment: ["BGRUN_TEST_CPU_AS_GPU": "1"])
        #expect(narrow.status == 0, "\(narrow.errors)")
        let expected = try SmallModel.scores(inputs)
        let found = try SmallModel.read(place.path + "/narrow/scores.npy").values
        let share =
            (zip(found, expected).map { abs($0 - $1) }.max() ?? .infinity) / (expected.map { abs($0) }.max() ?? 0)
        #expect(share > 1e-6 && share < 0.01, "\(share)")
        let unfit = try place.infer("data.npy", "--out", "none", "--precision", "fp16")
        #expect(unfit.status == 64 && unfit.errors.contains("add --gpu"), "\(unfit.errors)")
        let refused = try place.infer(
            "data.npy", "--out", "none", "--gpu", environment: ["OCL_ICD_VENDORS": "/nowhere"])
        #expect(refused.status == 69 && !place.exists("none"), "\(refused.errors)")
    }

    /// A model of one input `input_ids` that gives each token's number as its vector.
    private func putTextModel(tokens: Any) throws {
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("input_ids", type: 7, ["batch", tokens])], outputs: ["vectors"],
            nodes: [
                ModelParts.node("Cast", ["input_ids"], ["numbers"], [ModelParts.attribute("to", int: 1)]),
                ModelParts.node("Unsqueeze", ["numbers", "axis"], ["vectors"]),
            ], initialisers: [ModelParts.tensor("axis", [1], ints: [2])])
        try place.write(try ModelParts.model(graph).serializedData(), to: "text.onnx")
        let vocabulary = #"{"[UNK]":0,"[CLS]":1,"[SEP]":2,"[PAD]":3,"one":4,"two":5,"three":6}"#
        try place.write(
            """
            {"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":{"type":"Lowercase"},
            "pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
            "model":{"type":"WordLevel","vocab":\(vocabulary),"unk_token":"[UNK]"}}
            """, to: "tokenizer.json")
    }

    @Test(arguments: ["tokens" as any Sendable, 5 as any Sendable])
    func textsBecomeVectors(tokens: any Sendable) throws {
        try putTextModel(tokens: tokens)
        try place.write("One two\nthree\n", to: "a.txt")
        try place.write("{\"note\": \"two two three\"}\nno JSON\n", to: "b.jsonl")
        let ended = try place.bgrun(
            "infer", "text.onnx", "a.txt", "b.jsonl", "--out", "out", "--as", "embeddings", "--tokenizer",
            "tokenizer.json", "--field", "note", "--pooling", "cls", "--no-normalise")
        #expect(ended.status == 65, "\(ended.errors)")
        let lines = try place.lines("out/results.jsonl")
        #expect(
            lines.map { $0["input"] as? String }
                == ["a.txt:1", "a.txt:2", "b.jsonl:1", "b.jsonl:2"].map { "\(place.path)/\($0)" })
        #expect(lines.prefix(3).map { ($0["embedding"] as? [Double]) } == [[4], [6], [5]], "\(lines)")
        #expect(lines[3]["error"] as? String == "damaged")
        let refused = try place.bgrun("infer", "text.onnx", "a.txt", "--out", "none")
        #expect(refused.status == 64 && refused.errors.contains("--tokenizer"), "\(refused.errors)")
    }

    @Test func textsThatBecomeArraysNeedOneLength() throws {
        try putTextModel(tokens: "tokens")
        try place.write("One two\nthree\n", to: "a.txt")
        func run(_ options: String...) throws -> CommandRun.Ended {
            let words = [
                "infer", "text.onnx", "a.txt", "--tokenizer", "tokenizer.json", "--batch", "1", "--out", "out",
            ]
            return try CommandRun(words + options, in: place).end()
        }
        let refused = try run()
        #expect(refused.status == 64 && refused.errors.contains("--length"), "\(refused.errors)")
        #expect(!place.exists("out"))
        let ended = try run("--length", "4")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try SmallModel.read(place.path + "/out/vectors.npy").shape == [2, 4, 1])
    }

    @Test func arraysThatDoNotGoTogetherLeaveNone() throws {
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("image", ["batch", 3, "height", "width"])], outputs: ["mean", "lit"],
            nodes: [
                ModelParts.node("GlobalAveragePool", ["image"], ["mean"]),
                ModelParts.node("Relu", ["image"], ["lit"]),
            ])
        try place.write(try ModelParts.model(graph).serializedData(), to: "model.onnx")
        for side in [4, 8] {
            let tensor = try Tensor(.float32, shape: [1, 3, side, side])
            try place.write(Data(try NPYAssembly.bytes(of: tensor)), to: "side-\(side).npy")
        }
        let ended = try place.infer("side-4.npy", "side-8.npy", "--out", "out")
        #expect(ended.status != 0 && ended.errors.contains("do not go together"), "\(ended.errors)")
        #expect(!place.exists("out/mean.npy") && !place.exists("out/lit.npy"))
    }

    @Test func theBestClassesHaveTheirLabels() throws {
        let inputs = SmallModel.inputs(3)
        try place.write(try SmallModel.array(inputs), to: "data.npy")
        try place.write((0..<SmallModel.classes).map { "class \($0)\n" }.joined(), to: "labels.txt")
        let ended = try place.infer(
            "data.npy", "--out", "out", "--as", "classes", "--labels", "labels.txt", "--top", "2")
        #expect(ended.status == 0, "\(ended.errors)")
        let scores = try SmallModel.scores(inputs).chunked(SmallModel.classes).map { Array($0) }
        for (line, scores) in zip(try place.lines("out/results.jsonl"), scores) {
            let classes = try #require(line["classes"] as? [[String: Any]])
            let best = scores.indices.max { scores[$0] < scores[$1] }
            #expect(classes.count == 2 && classes[0]["class"] as? Int == best)
            #expect(classes[0]["label"] as? String == best.map { "class \($0)" })
        }
        #expect(try place.contents("out").count == 1)
    }

    @Test func whatSomebodyElsePutThereStays() throws {
        try place.write(try SmallModel.array(SmallModel.inputs(1)), to: "data.npy")
        try place.write("mine", to: "out/inputs.jsonl")
        let kept = try place.infer("data.npy", "--out", "out")
        #expect(kept.status == 64 || kept.status == 73)
        #expect(kept.errors.contains("--existing overwrite"), "\(kept.errors)")
        #expect(try place.contents("out") == ["inputs.jsonl": Data("mine".utf8)])
        #expect(try place.infer("data.npy", "--out", "out", "--existing", "overwrite").status == 0)
        #expect(try place.lines("out/inputs.jsonl").count == 1)
    }

    @Test func aDryRunChangesNothing() throws {
        try place.putPhotos(5)
        let ended = try place.infer("photos", "--out", "out", "--batch", "2", "--dry-run", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let plan = try ended.json()
        #expect(plan["inputs"] as? Int == 5 && plan["batches"] as? Int == 3 && plan["done"] as? Int == 0)
        #expect(!place.exists("out"))
    }

    @Test func aWorkerThatCrashesCostsItsBatch() throws {
        try place.putPhotos(6)
        let ended = try place.infer(
            "photos", "--out", "out", "--batch", "2", environment: ["BGRUN_TEST_CRASH_ON": "photo-0003"])
        #expect(ended.status == 65)
        #expect(ended.errors.contains("photo-0003.jpg: decoderCrashed"), "\(ended.errors)")
        let scores = try SmallModel.read(place.path + "/out/scores.npy").values
        #expect(
            scores.chunked(SmallModel.classes).map { $0.allSatisfy(\.isNaN) } == [
                false, false, true, true, false, false,
            ])
        #expect(try place.lines("out/inputs.jsonl").filter { $0["error"] as? String == "noResult" }.count == 2)
    }

    @Test("rule 95: a worker of an inference reads its inputs and its model, and nothing else")
    func aWorkerReadsNothingElse() throws {
        try place.putPhotos(2)
        try place.write("a secret", to: "secret.txt")
        let ended = try place.infer(
            "photos", "--out", "out", "--batch", "1",
            environment: [
                "BGRUN_TEST_ESCAPE_ON": "photo-0001",
                "BGRUN_TEST_ESCAPES":
                    "read:\(place.path)/secret.txt read:\(place.path)/model.onnx write:\(place.path)/x",
            ])
        #expect(ended.errors.contains("secret.txt=Permission denied"), "\(ended.errors)")
        #expect(ended.errors.contains("model.onnx=done"), "\(ended.errors)")
        #expect(ended.errors.contains("/x=Permission denied"), "\(ended.errors)")
    }
}

extension Array {
    fileprivate func chunked(_ count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
