import Foundation
import Inference
import InferenceData
import ModelParts
import ONNXFormat
import SwiftProtobuf
import Testing

/// What `bgrun infer` does with models that are unlike others: open extents without names, outputs without rows, outputs that
/// are not what was asked for, loops without an end, crashes.
@Suite struct InferModelTests {
    private let place: TestPlace

    init() throws { place = try TestPlace() }

    private func writeModel(
        inputs: [ONNXValueInfo], outputs: [String], nodes: [ONNXNode], initialisers: [ONNXTensor] = []
    ) throws {
        let graph = ModelParts.graph(inputs: inputs, outputs: outputs, nodes: nodes, initialisers: initialisers)
        try place.write(try ModelParts.model(graph, opset: 17).serializedData(), to: "model.onnx")
    }

    private func writeArray(_ values: [Float], _ shape: [Int]) throws {
        let tensor = try Tensor(.float32, shape: shape, elements: values)
        try place.write(Data(try NPYAssembly.bytes(of: tensor)), to: "data.npy")
    }

    // MARK: Crashes and loops

    @Test func aCrashInAModelIsSaidOfTheModel() throws {
        try place.write(try SmallModel.file(), to: "model.onnx")
        try place.putPhotos(6)
        let ended = try place.infer(
            "photos", "--out", "out", "--batch", "2", environment: ["BGRUN_TEST_CRASH_IN_MODEL_ON": "photo-0003"])
        #expect(ended.status == 65)
        #expect(
            ended.errors.contains("photo-0003.jpg: modelCrashed: the model crashed (SIGSEGV)"), "\(ended.errors)")
        #expect(!ended.errors.contains("decoder"))
        // The batch of the one that crashes, and no other.
        #expect(try place.lines("out/inputs.jsonl").filter { $0["error"] as? String == "noResult" }.count == 2)
    }

    @Test func aLoopWithoutEndIsGivenUp() throws {
        let body = ModelParts.graph(
            inputs: [ModelParts.port("i", type: 7, []), ModelParts.port("c", type: 9, []), ModelParts.untyped("v")],
            outputs: ["d", "w"],
            nodes: [ModelParts.node("Identity", ["c"], ["d"]), ModelParts.node("Identity", ["v"], ["w"])])
        var attribute = ONNXAttribute()
        attribute.name = "body"
        attribute.type = .graph
        attribute.g = body
        try writeModel(
            inputs: [ModelParts.port("x", ["n", 2])], outputs: ["y"],
            nodes: [
                ModelParts.node("Cast", ["one"], ["go"], [ModelParts.attribute("to", int: 9)]),
                ModelParts.node("Loop", ["all", "go", "x"], ["y"], [attribute]),
            ],
            initialisers: [ModelParts.tensor("one", [], ints: [1]), ModelParts.tensor("all", [], ints: [.max])])
        try writeArray([1, 2], [1, 2])
        let ended = try place.infer("data.npy", "--out", "out", "--stall-limit", "1s")
        #expect(ended.status == 65)
        #expect(ended.errors.contains("modelHung: the model made no progress for"), "\(ended.errors)")
    }

    // MARK: Shapes

    @Test func anOpenExtentWithoutANameIsSetByInputAndAxis() throws {
        try writeModel(
            inputs: [ModelParts.port("x", [-1, -1])], outputs: ["y"], nodes: [ModelParts.node("Relu", ["x"], ["y"])])
        let shown = try place.bgrun("model", "model.onnx")
        #expect(shown.status == 0 && shown.output.contains("x  float32[x:0, x:1]"), "\(shown.output)")
        let sized = try place.bgrun("model", "model.onnx", "--extent", "x:0=2", "--extent", "x:1=3")
        #expect(sized.status == 0 && sized.output.contains("x  float32[2, 3]"), "\(sized.output)\(sized.errors)")
        try writeArray([1, -2, 3, -4, 5, -6, 7, -8, 9], [3, 3])
        let ended = try place.infer("data.npy", "--out", "out", "--extent", "x:0=2", "--extent", "x:1=3")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try SmallModel.read(place.path + "/out/y.npy").values == [1, 0, 3, 0, 5, 0, 7, 0, 9])
        let unknown = try place.infer("data.npy", "--out", "none", "--extent", "x:2=2")
        #expect(unknown.status == 64 && unknown.errors.contains("it leaves open: x:0, x:1"), "\(unknown.errors)")
    }

    /// What onnxruntime gives of the same input: no axis of rows is put in front.
    @Test func theResultOfOneInputHasTheShapeThatTheModelGives() throws {
        try writeModel(
            inputs: [ModelParts.port("x", ["n", 2, 3])], outputs: ["row", "sum", "turned"],
            nodes: [
                ModelParts.node("Neg", ["x"], ["row"]),
                ModelParts.node("ReduceSum", ["x"], ["sum"], [ModelParts.attribute("keepdims", int: 0)]),
                ModelParts.node("Transpose", ["x"], ["turned"], [ModelParts.attribute("perm", ints: [2, 1, 0])]),
            ])
        try writeArray([1, 2, 3, 4, 5, 6], [1, 2, 3])
        let one = try place.infer("data.npy", "--out", "one")
        #expect(one.status == 0, "\(one.errors)")
        #expect(try SmallModel.read(place.path + "/one/row.npy").shape == [1, 2, 3])
        let sum = try SmallModel.read(place.path + "/one/sum.npy")
        #expect(sum.shape == [] && sum.values == [21])
        let turned = try SmallModel.read(place.path + "/one/turned.npy")
        #expect(turned.shape == [3, 2, 1] && turned.values == [1, 4, 2, 5, 3, 6])
        // Known as it is, and not made again.
        let again = try place.infer("data.npy", "--out", "one", "--json")
        #expect((try again.json()["counts"] as? [String: Int])?["current"] == 1, "\(again.output)")
        try writeArray((0..<12).map { Float($0) }, [2, 2, 3])
        let two = try place.infer("data.npy", "--out", "two")
        #expect(two.status == 0, "\(two.errors)")
        #expect(try SmallModel.read(place.path + "/two/sum.npy").shape == [2])
        #expect(try SmallModel.read(place.path + "/two/turned.npy").shape == [2, 3, 2, 1])
    }

    @Test func aGraphThatWasTracedForTwoRowsIsRunForTwo() throws {
        try writeModel(
            inputs: [ModelParts.port("x", ["n", 4])], outputs: ["y"],
            nodes: [ModelParts.node("Reshape", ["x", "traced"], ["r"]), ModelParts.node("Neg", ["r"], ["y"])],
            initialisers: [ModelParts.tensor("traced", [3], ints: [2, 2, 2])])
        let values = (0..<16).map { Float($0) }
        try writeArray(values, [4, 4])
        for options in [[], ["--batch", "3"], ["--extent", "n=2"]] {
            let ended = try CommandRun(
                ["infer", "model.onnx", "data.npy", "--existing", "overwrite", "--out", "out"] + options, in: place
            ).end()
            #expect(ended.status == 0, "\(ended.errors)")
            let found = try SmallModel.read(place.path + "/out/y.npy")
            #expect(found.shape == [4, 2, 2] && found.values == values.map { -$0 })
        }
    }

    // MARK: Forms

    /// A picture of 32 pixels has 21 places in grids of 8, 16 and 32.
    private func writeDetector(_ output: [Int64]) throws {
        let (places, numbers) = (output[2], output[1])
        try writeModel(
            inputs: [ModelParts.port("image", [1, 3, 32, 32])], outputs: ["found"],
            nodes: [
                ModelParts.node("GlobalAveragePool", ["image"], ["mean"]),
                ModelParts.node("Reshape", ["mean", "flat"], ["f"]), ModelParts.node("MatMul", ["f", "w"], ["m"]),
                ModelParts.node("Reshape", ["m", "shape"], ["found"]),
            ],
            initialisers: [
                ModelParts.tensor("flat", [2], ints: [1, 3]), ModelParts.tensor("shape", [3], ints: output),
                ModelParts.tensor(
                    "w", [3, numbers * places], floats: [Float](repeating: 0.5, count: Int(3 * numbers * places))),
            ])
    }

    private static let misfits: [(form: String, output: [Int64], reason: String)] = [
        ("embeddings", [1, 12, 21], "is a detector's"), ("embeddings", [1, 40, 6], "is a detector's"),
        ("boxes", [1, 20, 20], "Boxes are taken from"), ("classes", [1, 12, 21], "Scores of classes"),
    ]

    @Test(arguments: misfits)
    func aFormThatTheModelCannotGiveIsRefusedBeforeAnyWork(
        form: String, output: [Int64], reason: String
    ) throws {
        try place.putPhotos(1)
        try writeDetector(output)
        let ended = try place.infer("photos", "--out", "out", "--as", form)
        #expect(ended.status == 64 && ended.errors.contains(reason), "\(ended.errors)")
        #expect(ended.errors.contains("nothing was started") && !place.exists("out"))
    }

    @Test func boxesOfARawGridAreRefused() throws {
        try place.putPhotos(1)
        try writeDetector([1, 8, 105])
        let ended = try place.infer("photos", "--out", "out", "--as", "boxes", "--preset", "unit")
        #expect(ended.status == 65 && ended.errors.contains("holds no boxes"), "\(ended.errors)")
    }

    @Test func whatNoOperatorDoesIsRefusedBeforeAnyWork() throws {
        try writeModel(
            inputs: [ModelParts.port("x", ["n", 5, 2])], outputs: ["y"],
            nodes: [
                ModelParts.node(
                    "DFT", ["x"], ["y"],
                    ["inverse", "onesided"].map { ModelParts.attribute($0, int: 1) })
            ])
        try writeArray([Float](repeating: 1, count: 10), [1, 5, 2])
        let ended = try place.infer("data.npy", "--out", "out")
        #expect(ended.status == 69 && ended.errors.contains("DFT that is inverse and one-sided"), "\(ended.errors)")
        #expect(try place.bgrun("model", "model.onnx").status == 69)
        #expect(!place.exists("out"))
    }
}
