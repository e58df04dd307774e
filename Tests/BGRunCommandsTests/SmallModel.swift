import Foundation
import Glibc
import Inference
import InferenceData
import ModelParts
import ONNXFormat
import SeededNumbers
import SwiftProtobuf

/// A classifier of pictures of 32 x 32 pixels with weights of its own: small enough to be made by a test, and no two
/// inputs give the same scores.
enum SmallModel {
    static let side = 32
    static let classes = 10

    /// The model's file. Another `seed` is another model; `batch` is the name or number of the first extent, and `nodes` are
    /// added to its own.
    static func file(
        seed: UInt64 = 1, batch: Any = "batch", nodes: [ONNXNode] = [], outputs: [String] = ["scores"]
    ) throws -> Data {
        var random = Dice(seed: seed)
        func weights(_ name: String, _ shape: [Int64]) -> ONNXTensor {
            ModelParts.tensor(name, shape, floats: (0..<shape.reduce(1, *)).map { _ in random.next() })
        }
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("image", [batch, 3, side, side])], outputs: outputs,
            nodes: [
                ModelParts.node(
                    "Conv", ["image", "kernel", "bias"], ["seen"],
                    [
                        ModelParts.attribute("kernel_shape", ints: [3, 3]),
                        ModelParts.attribute("pads", ints: [1, 1, 1, 1]),
                        ModelParts.attribute("strides", ints: [2, 2]),
                    ]),
                ModelParts.node("Relu", ["seen"], ["lit"]),
                ModelParts.node("GlobalAveragePool", ["lit"], ["mean"]),
                ModelParts.node("Flatten", ["mean"], ["flat"]),
                ModelParts.node(
                    "Gemm", ["flat", "matrix", "offset"], ["scores"], [ModelParts.attribute("transB", int: 1)]),
            ] + nodes,
            initialisers: [
                weights("kernel", [16, 3, 3, 3]), weights("bias", [16]),
                weights("matrix", [Int64(classes), 16]), weights("offset", [Int64(classes)]),
            ])
        return try ModelParts.model(graph).serializedData()
    }

    /// The same model with its weights in a file of that name beside it.
    static func external(dataAt location: String) throws -> (model: Data, data: Data) {
        var model = try ONNXModel(serializedBytes: try file())
        var data = Data()
        for place in model.graph.initializer.indices {
            let tensor = model.graph.initializer[place]
            let bytes = tensor.rawData.isEmpty ? tensor.floatData.withUnsafeBytes { Data($0) } : tensor.rawData
            model.graph.initializer[place] = ModelParts.external(
                tensor.name, tensor.dims, location: location, offset: "\(data.count)", length: "\(bytes.count)")
            data += bytes
        }
        return (try model.serializedData(), data)
    }

    /// A model that makes pictures twice as large: two convolutions, the last of four channels for each of the picture, which
    /// become 2 x 2 pixels.
    static func doubling(seed: UInt64 = 1, side: Int? = nil, channels: Int = 3) throws -> Data {
        var random = Dice(seed: seed)
        func weights(_ name: String, _ shape: [Int64], scale: Float) -> ONNXTensor {
            ModelParts.tensor(name, shape, floats: (0..<shape.reduce(1, *)).map { _ in random.next() * scale })
        }
        let same = [
            ModelParts.attribute("kernel_shape", ints: [3, 3]), ModelParts.attribute("pads", ints: [1, 1, 1, 1]),
        ]
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("image", [1, channels, side ?? "height", side ?? "width"] as [Any])],
            outputs: ["large"],
            nodes: [
                ModelParts.node("Conv", ["image", "first"], ["seen"], same),
                ModelParts.node("Relu", ["seen"], ["lit"]),
                ModelParts.node("Conv", ["lit", "second", "level"], ["deep"], same),
                ModelParts.node("DepthToSpace", ["deep"], ["large"], [ModelParts.attribute("blocksize", int: 2)]),
            ],
            initialisers: [
                weights("first", [8, Int64(channels), 3, 3], scale: 0.5),
                weights("second", [Int64(4 * channels), 8, 3, 3], scale: 0.2),
                ModelParts.tensor(
                    "level", [Int64(4 * channels)], floats: [Float](repeating: 0.4, count: 4 * channels)),
            ])
        return try ModelParts.model(graph).serializedData()
    }

    /// A model that leaves pictures of so many channels as they are.
    static func unchanging(channels: Int, width: Any = "width", height: Any = "height") throws -> Data {
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("image", [1, channels, height, width] as [Any])], outputs: ["same"],
            nodes: [ModelParts.node("Relu", ["image"], ["same"])], initialisers: [])
        return try ModelParts.model(graph).serializedData()
    }

    /// A model that makes one channel of three.
    static func toLuma() throws -> Data {
        let graph = ModelParts.graph(
            inputs: [ModelParts.port("image", [1, 3, "height", "width"] as [Any])], outputs: ["luma"],
            nodes: [
                ModelParts.node(
                    "Conv", ["image", "weights"], ["luma"], [ModelParts.attribute("kernel_shape", ints: [1, 1])])
            ], initialisers: [ModelParts.tensor("weights", [1, 3, 1, 1], floats: [0.299, 0.587, 0.114])])
        return try ModelParts.model(graph).serializedData()
    }

    /// The scores of inputs by the plain operators, `[inputs, classes]`.
    static func scores(_ inputs: [Float], seed: UInt64 = 1) throws -> [Float] {
        let model = try ModelImporter().load(bytes: try file(seed: seed))
        let image = try Tensor(
            .float32, shape: [inputs.count / (3 * side * side), 3, side, side], elements: inputs)
        let outputs = try ReferenceRunner().run(model, inputs: ["image": image])
        return outputs.first?.elements(as: Float.self) ?? []
    }

    /// Values of inputs, which are the same for the same seed.
    static func inputs(_ count: Int, seed: UInt64 = 7) -> [Float] {
        var random = Dice(seed: seed)
        return (0..<(count * 3 * side * side)).map { _ in random.next() }
    }

    /// A NumPy file of `[count, 3, side, side]`.
    static func array(_ values: [Float]) throws -> Data {
        let tensor = try Tensor(
            .float32, shape: [values.count / (3 * side * side), 3, side, side], elements: values)
        return Data(try NPYAssembly.bytes(of: tensor))
    }

    /// The same as an archive that calls the array `name`.
    static func archive(_ values: [Float], name: String, at path: String) throws {
        let tensor = try Tensor(
            .float32, shape: [values.count / (3 * side * side), 3, side, side], elements: values)
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(file) }
        try NPZWriter.write([(name, tensor)], to: file)
    }

    /// The numbers of a NumPy file of float32, and its shape.
    static func read(_ path: String) throws -> (shape: [Int], values: [Float]) {
        try withOpenFile(path) { file throws(DataError) in
            let array = try NPYFile(file).array()
            return (array.shape, array.elements(as: Float.self))
        }
    }

    /// Numbers from -1 to 1.
    private struct Dice {
        private var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        mutating func next() -> Float { Float(Double(generator.next() >> 11) * 0x1p-52 - 1) }
    }
}

extension TestPlace {
    func write(_ data: Data, to path: String) throws {
        let target = self.path + "/" + path
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try data.write(to: URL(fileURLWithPath: target))
    }

    /// Lines of JSON of a file.
    func lines(_ path: String) throws -> [[String: Any]] {
        try String(contentsOfFile: self.path + "/" + path, encoding: .utf8).split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        }
    }
}

extension TestPlace {
    /// Runs `bgrun infer` with this folder's `model.onnx` to its end.
    func infer(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandRun.Ended {
        try CommandRun(["infer", "model.onnx"] + arguments, in: self, environment: environment).end()
    }
}
