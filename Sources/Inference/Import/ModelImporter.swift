package import Foundation
import ONNXFormat
import SwiftProtobuf
import SystemText

/// Reads ONNX models. Memory is taken for what the files hold, up to ``Limits``.
package struct ModelImporter {
    package struct Limits: Sendable {
        /// The largest model file, without the data beside it: the most that one protobuf message may have.
        package var modelBytes = 1 << 31
        /// All data that lies in files beside the model.
        package var externalBytes = 1 << 35
        /// Nodes after the model's own functions were put in place of their calls, those of subgraphs included.
        package var nodes = 200_000
        /// From so many bytes on an initialiser is a large one, which is read to where it is needed.
        package var largeWeightBytes = 1 << 16

        package init() {}
    }

    package var limits: Limits
    /// What becomes of large weights.
    package enum Weights: Sendable {
        case read
        /// Each is read when somebody looks at it. A read that fails is told by what prepares the model.
        case deferred
        /// They are zeros: only what can be said of the model without them is wanted.
        case leftOut
    }
    package var weights: Weights

    package init(limits: Limits = Limits(), weights: Weights = .read) {
        self.limits = limits
        self.weights = weights
    }

    /// - Throws: `notReadable`, `damaged`, `unsupported` with everything that is not implemented, `tooLarge`.
    package func load(path: String) throws(ModelError) -> Model {
        let file = try RegularFile(path: path)
        guard file.byteCount <= limits.modelBytes else {
            throw .tooLarge("\(path) has \(file.byteCount) bytes, and a model may have \(limits.modelBytes)")
        }
        let folder = SystemFile.parent(path)
        if file.byteCount >= limits.largeWeightBytes,
            let outline = try ModelOutline(file, fewestBytes: limits.largeWeightBytes), !outline.weights.isEmpty
        {
            return try load(outline.message, folder: folder, weights: (file, outline.weights))
        }
        return try load(bytes: try file.bytes(0..<file.byteCount), folder: folder)
    }

    /// A model from memory. Data beside it lies in `folder`; nil refuses models that have some.
    ///
    /// - Throws: as ``load(path:)``.
    package func load(bytes: Data, folder: String? = nil) throws(ModelError) -> Model {
        try load(bytes, folder: folder, weights: nil)
    }

    /// `weights` are bytes of initialisers that the message lacks.
    private func load(
        _ bytes: Data, folder: String?, weights: (file: RegularFile, places: [Int: Range<Int>])?
    ) throws(ModelError) -> Model {
        let file: ONNXModel
        do {
            file = try ONNXModel(serializedBytes: bytes)
        } catch {
            throw .damaged("this is no ONNX model: \(error)")
        }
        guard file.hasGraph, !file.opsetImport.isEmpty else {
            throw .damaged("this is no ONNX model: it has no \(file.hasGraph ? "operator set" : "graph")")
        }
        let opsets = try Self.opsets(file.opsetImport, of: "the model")
        var inliner = try FunctionInliner(file.functions, limit: limits.nodes)
        let nodes = try inliner.expanded(file.graph.node, opsets: opsets)
        var check = SupportCheck(inliner: inliner)
        let unsupported = try check.unsupported(file.graph, nodes: nodes)
        if !unsupported.isEmpty { throw .unsupported(unsupported) }

        var tensors = TensorReader(
            folder: folder, limitBytes: limits.externalBytes, weights: self.weights,
            largeWeightBytes: limits.largeWeightBytes)
        tensors.model = weights?.file
        var reader = GraphReader(inliner: inliner)
        let graph = try reader.graph(
            file.graph, nodes: nodes, around: [], weights: weights?.places ?? [:], tensors: &tensors)
        return Model(
            graph: graph, opsets: opsets, producer: file.producerName, dataFiles: tensors.locations,
            deferredReads: tensors.deferredReads)
    }

    /// A tensor in a message of its own, as the standard's test data has them.
    package func tensor(bytes: Data) throws(ModelError) -> Tensor {
        let message: ONNXTensor
        do {
            message = try ONNXTensor(serializedBytes: bytes)
        } catch {
            throw .damaged("this is no ONNX tensor: \(error)")
        }
        if let name = ElementType.foreignName(onnxNumber: message.dataType) {
            throw .unsupported(["element type \(name)"])
        }
        var tensors = TensorReader(folder: nil, limitBytes: 0)
        return try tensors.tensor(message)
    }

    /// The version of each domain; `ai.onnx` is another name of the standard's own.
    static func opsets(_ sets: [ONNXOperatorSet], of place: String) throws(ModelError) -> [String: Int] {
        var opsets: [String: Int] = [:]
        for set in sets {
            let domain = standardised(set.domain)
            guard let version = Int(exactly: set.version), version > 0 else {
                throw .damaged("\(place) names version \(set.version) of the operators of \"\(domain)\"")
            }
            // skl2onnx and `onnx.compose` name the same version again.
            guard let known = opsets.updateValue(version, forKey: domain), known != version else { continue }
            throw .damaged(
                "\(place) names the versions \(known) and \(version) of the operators of \"\(domain)\"")
        }
        return opsets
    }

    static func standardised(_ domain: String) -> String { domain == "ai.onnx" ? "" : domain }
}
