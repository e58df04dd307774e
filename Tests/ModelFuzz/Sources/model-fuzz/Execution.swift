import Foundation
import Inference

/// What happens to one model: all that comes before and with a plain run, with small limits. Any ``ModelError`` is fine.
enum Execution {
    /// The most elements of an input that is made here.
    private static let largestInput = 1 << 10

    /// A folder with one small file beside the models.
    static let folder: String = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "model-fuzz-\(getpid())")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(repeating: 1, count: 64).write(to: folder.appending(path: "data"))
        } catch {
            fatalError("\(folder.path): \(error)")
        }
        return folder.path
    }()

    static func run(_ bytes: Data) {
        var limits = ModelImporter.Limits()
        limits.modelBytes = 1 << 16
        limits.externalBytes = 1 << 16
        limits.nodes = 1000
        limits.largeWeightBytes = 1
        let whole = Result { () throws(ModelError) in
            try ModelImporter(limits: limits).load(bytes: bytes, folder: folder)
        }
        compareFile(bytes, limits, whole)
        attempt { () throws(ModelError) in
            let model = try whole.get()
            precondition(model.dataFiles.allSatisfy { $0.hasSuffix("data") }, "a file outside the folder was read")
            attempt { () throws(ModelError) in _ = try ModelSummary(model) }
            // Extents up to the largest that a person may ask for.
            let symbols = Set(model.graph.inputs.flatMap { ($0.type?.shape ?? []).compactMap(\.name) })
            attempt { () throws(ModelError) in
                _ = try ModelSummary(model, extents: Dictionary(uniqueKeysWithValues: symbols.map { ($0, 1 << 40) }))
            }
            try evaluate(model)
        }
    }

    /// From a file, where weights are read past the parser, a model is what it is from memory.
    private static func compareFile(
        _ bytes: Data, _ limits: ModelImporter.Limits, _ whole: Result<Model, ModelError>
    ) {
        let path = folder + "/model"
        guard FileManager.default.createFile(atPath: path, contents: bytes) else { fatalError("\(path): no room") }
        // Both ways to read weights are used; which one, follows from the input.
        let weights: ModelImporter.Weights = bytes.count % 2 == 0 ? .read : .deferred
        let found = Result { () throws(ModelError) in
            try ModelImporter(limits: limits, weights: weights).load(path: path)
        }
        switch (whole, found) {
        case (.success(let whole), .success(let found)):
            precondition(contents(whole) == contents(found), "weights differ")
        case (.failure(let whole), .failure(let found)):
            precondition(whole.code == found.code, "\(whole) in memory, \(found) from a file")
        default: preconditionFailure("\(whole) in memory, \(found) from a file")
        }
        let outlined = Result { () throws(ModelError) in
            try ModelImporter(limits: limits, weights: .leftOut).load(path: path)
        }
        if case (.success(let found), .success(let outlined)) = (found, outlined) {
            precondition(
                found.graph.initialisers.mapValues(\.shape) == outlined.graph.initialisers.mapValues(\.shape),
                "shapes differ")
        }
    }

    private static func contents(_ model: Model) -> [String: [UInt8]] {
        model.graph.initialisers.mapValues { tensor in
            (try? tensor.withBytes { bytes throws(ModelError) in Array(bytes) }) ?? []
        }
    }

    private static func evaluate(_ model: Model) throws(ModelError) {
        var inputs: [String: Tensor] = [:]
        for port in model.graph.inputs { inputs[port.name] = try tensor(port.type) }
        var runner = ReferenceRunner()
        runner.largestTensorBytes = 1 << 16
        runner.largestIterations = 20
        attempt { () throws(ModelError) in _ = try runner.run(model, inputs: inputs) }

        let inferred = try ShapeInference().infer(model.graph, inputs: inputs.mapValues { Fact($0) })
        guard inferred.unsupported.isEmpty else { return }
        let passes: [any GraphPass] = [
            FoldConstants(), RemovePassThrough(), FoldBatchNormalization(), RecogniseActivations(), RecogniseGelu(),
            RecogniseLayerNormalization(), FuseAttention(), FuseFollowers(),
        ]
        for pass in passes { _ = try pass.apply(model.graph, inferred.facts) }
        let types = try ShapeInference().infer(model.graph)
        var changed = model
        for pass in passes { changed.graph = try pass.apply(changed.graph, types.facts) }
        _ = try runner.run(changed, inputs: inputs)
    }

    /// A value that an input takes: small, with different elements.
    private static func tensor(_ type: TensorType?) throws(ModelError) -> Tensor {
        guard let type else { return try Tensor(.float32, shape: []) }
        let shape = (type.shape ?? []).map { $0.extent ?? 2 }
        let count = try Extents.count(shape)
        guard count <= largestInput else { throw .wrongInput("an input has \(count) elements") }
        if type.elementType == .string { return try Tensor(strings: (0..<count).map { "\($0 % 3)" }, shape: shape) }
        if type.elementType.isFloat {
            return try Tensor(type.elementType, shape: shape, doubles: (0..<count).map { Double($0 % 7) / 2 - 1 })
        }
        return try Tensor(type.elementType, shape: shape, integers: (0..<count).map { Int64($0 % 2) })
    }

    private static func attempt(_ body: () throws(ModelError) -> Void) {
        do throws(ModelError) {
            try body()
        } catch {
            precondition(!error.sentence.isEmpty, "an error without a sentence")
        }
    }
}

extension Inference.Dimension {
    fileprivate var name: String? {
        if case .symbol(let name) = self { name } else { nil }
    }
}
