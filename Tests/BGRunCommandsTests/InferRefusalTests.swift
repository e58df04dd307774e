import Foundation
import Inference
import InferenceData
import ModelParts
import Testing

/// What `bgrun infer` refuses before any work, and how it says so.
@Suite struct InferRefusalTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.write(try SmallModel.file(), to: "model.onnx")
    }

    @Test func everythingThatIsMissingIsListedBeforeAnyWork() throws {
        try place.putPhotos(1)
        let nodes = ["Unheard", "Unseen"].map { ModelParts.node($0, ["scores"], [$0]) }
        try place.write(try SmallModel.file(nodes: nodes), to: "model.onnx")
        let ended = try place.infer("photos", "--out", "out")
        #expect(ended.status == 69)
        #expect(ended.errors.contains("Unheard") && ended.errors.contains("Unseen"))
        #expect(!place.exists("out") && ended.output.isEmpty)
    }

    @Test func modelsThatCannotBeReadAreNamed() throws {
        try place.putPhotos(1)
        try place.write("text", to: "model.onnx")
        let damaged = try place.infer("photos", "--out", "out")
        #expect(damaged.status == 65 && damaged.errors.contains("\(place.path)/model.onnx: "))
        unlink(place.path + "/model.onnx")
        let missing = try place.infer("photos", "--out", "out")
        #expect(missing.status == 66 && missing.errors.contains("\(place.path)/model.onnx"))
        #expect(!place.exists("out"))
    }

    @Test func inputsThatDoNotFitAreToldWithTheShapes() throws {
        try place.write(try SmallModel.array(SmallModel.inputs(1)), to: "data.npy")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: place.path + "/data.npy"))
        let shape = try #require(bytes.range(of: Data("(1, 3, 32, 32)".utf8)))
        bytes.replaceSubrange(shape, with: Data("(1, 3, 16, 64)".utf8))
        try place.write(bytes, to: "wide.npy")
        let ended = try place.infer("wide.npy", "data.npy", "--out", "out")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("wide.npy[0]: "), "\(ended.errors)")
        #expect(
            try SmallModel.read(place.path + "/out/scores.npy").values.map(\.isNaN).filter { $0 }.count
                == SmallModel.classes)
        #expect(try place.infer("data.npy", "--out", "none", "--extent", "depth=3").status == 64)
        #expect(try place.infer("none.npy", "--out", "none").status == 66)
        #expect(!place.exists("none"))
    }

    @Test func rowsThatNoFileHoldsAreRefused() throws {
        let none = try NPYAssembly(elementType: .float32, rowShape: [0]).header(rowCount: 1_000_000_000_000)
        try place.write(Data(none), to: "none.npy")
        let refused = try place.infer("none.npy", "--out", "out")
        #expect(refused.status == 65 && refused.errors.contains("rows have no bytes"), "\(refused.errors)")
        let many = try NPYAssembly(elementType: .uint8, rowShape: []).header(rowCount: 1 << 27)
        try place.write(Data(many), to: "many.npy")
        try #require(truncate(place.path + "/many.npy", off_t(many.count + (1 << 27))) == 0)
        let tooMany = try place.infer("many.npy", "--out", "none", "--batch", "64")
        #expect(tooMany.status == 64 && tooMany.errors.contains("too many for a job"), "\(tooMany.errors)")
        #expect(!place.exists("none"))
    }

    @Test func rowsThatNoModelTakesAtOnceAreRefused() throws {
        try place.write(try SmallModel.array(SmallModel.inputs(1)), to: "data.npy")
        let given = try place.infer("data.npy", "--out", "out", "--extent", "batch=\(Int.max)")
        #expect(given.status == 64 && given.errors.contains("rows at once"), "\(given.errors)")
        try place.write(try SmallModel.file(batch: 1 << 40), to: "model.onnx")
        let declared = try place.infer("data.npy", "--out", "out")
        #expect(declared.status == 64 && declared.errors.contains("rows at once"), "\(declared.errors)")
        #expect(!place.exists("out"))
        // What is possible may be too much for the memory that was given.
        try place.write(try SmallModel.file(batch: 65_536), to: "model.onnx")
        let large = try place.infer("data.npy", "--out", "out", "--memory", "256M")
        #expect(large.status == 65 && large.errors.contains("MiB of memory"), "\(large.errors)")
    }

    @Test(arguments: [
        (["--top", "3"], "--top goes with --as classes"), (["--softmax"], "--softmax goes with --as classes"),
        (["--labels", "labels.txt"], "--labels goes with --as classes or boxes"),
        (["--as", "classes", "--confidence", "0.5"], "--confidence goes with --as boxes"),
        (["--as", "embeddings", "--overlap", "0.5"], "--overlap goes with --as boxes"),
        (["--as", "boxes", "--pooling", "cls"], "--pooling goes with --as embeddings"),
        (["--no-normalise"], "--no-normalise goes with --as embeddings"),
        (["--length", "8"], "--length goes with --tokenizer"), (["--field", "text"], "--field goes with --tokenizer"),
        (["--precision", "bf16", "--gpu"], "--precision bf16 is how the CPU computes"),
    ])
    func optionsThatWouldSayNothingAreRefused(options: [String], reason: String) throws {
        let ended = try CommandRun(["infer", "model.onnx", "data.npy", "--out", "out"] + options, in: place).end()
        #expect(ended.status == 64 && ended.errors.contains(reason), "\(ended.errors)")
    }
}
