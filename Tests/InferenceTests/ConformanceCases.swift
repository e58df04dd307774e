import Foundation
import Inference

/// A case of the ONNX project's own tests: a model, inputs, and what must come out.
struct ConformanceCase {
    var kind: String
    var name: String
    var relativeTolerance: Double
    var absoluteTolerance: Double

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: ".build-onnx-cases")

    /// Of operator sets that the first package does not know.
    var isLater = false

    var path: URL { Self.folder.appending(path: "\(isLater ? "later/" : "")\(kind)/\(name)") }
    var model: String { path.appending(path: "model.onnx").path }

    /// Empty where the cases have not been fetched.
    static func all(later: Bool = false) -> [ConformanceCase] {
        let place = folder.appending(path: later ? "later/index.tsv" : "index.tsv")
        guard let index = try? String(contentsOf: place, encoding: .utf8) else { return [] }
        return index.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 4, let relative = Double(parts[2]), let absolute = Double(parts[3]) else { return nil }
            return ConformanceCase(
                kind: parts[0], name: parts[1], relativeTolerance: relative, absoluteTolerance: absolute,
                isLater: later)
        }
    }

    /// `input` or `output` tensors in their order.
    func tensors(_ role: String) throws -> [Tensor] {
        var tensors: [Tensor] = []
        while true {
            let file = path.appending(path: "test_data_set_0/\(role)_\(tensors.count).pb")
            guard FileManager.default.fileExists(atPath: file.path) else { return tensors }
            tensors.append(try ModelImporter().tensor(bytes: Data(contentsOf: file)))
        }
    }

    /// What computes.
    enum Lane: CaseIterable, Sendable {
        case plain, compiled
        /// Compiled for OpenCL, with the kernels in their form for CPUs or for GPUs.
        case vectors, groups

        func opened() throws -> OpenLane {
            switch self {
            case .plain, .compiled: OpenLane(lane: self, device: nil)
            case .vectors: OpenLane(lane: self, device: try OpenCLFixture.device(.vectors))
            case .groups: OpenLane(lane: self, device: try OpenCLFixture.device(.groups))
            }
        }
    }

    /// A lane with what it computes on, for one thread.
    struct OpenLane {
        let lane: Lane
        let device: InferenceDevice?

        func run(
            _ model: Model, _ inputs: [String: Tensor], runner: ReferenceRunner = ReferenceRunner()
        ) throws(ModelError) -> [Tensor] {
            let types = inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
            let outputs: [String: Tensor]
            if lane == .plain { return try runner.run(model, inputs: inputs) }
            if let device {
                outputs = try OpenCLModel(model, on: device, inputs: types, runner: runner).execute(inputs)
            } else {
                outputs = try CompiledModel(model, inputs: types, runner: runner).execute(inputs)
            }
            return model.graph.outputs.compactMap { outputs[$0.name] }
        }
    }

    enum Outcome: Equatable {
        case passed
        case failed(String)
        case unsupported(String)
    }

    /// Loads the model and runs it on the lane, and compares type, shape and values of every output; what was inferred before the run
    /// must hold too.
    func outcome(on lane: OpenLane) -> Outcome {
        do {
            let model = try ModelImporter().load(path: model)
            let inputs = try tensors("input")
            var given: [String: Tensor] = [:]
            for (port, tensor) in zip(model.graph.inputs, inputs) {
                given[port.name] = try Self.reread(tensor, as: port.type?.elementType)
            }
            let inferred = try ShapeInference().infer(model.graph)
            if !inferred.unsupported.isEmpty { return .unsupported(inferred.unsupported.joined(separator: "; ")) }
            let found = try lane.run(model, given)
            let expected = try tensors("output")
            guard found.count == expected.count else { return .failed("\(found.count) outputs, not \(expected.count)") }
            for ((port, tensor), wanted) in zip(zip(model.graph.outputs, found), expected) {
                let wanted = try Self.reread(wanted, as: port.type?.elementType)
                if let difference = difference(tensor, wanted) { return .failed("\(port.name): \(difference)") }
                if let type = inferred.facts[port.name]?.type, !type.permits(tensor.elementType, tensor.shape) {
                    return .failed("\(port.name): \(type) was inferred, and \(tensor.shape) came out")
                }
            }
            return .passed
        } catch let error as ModelError where error.code == .unsupported {
            return .unsupported(error.unsupported.joined(separator: "; "))
        } catch {
            return .failed("\(error)")
        }
    }

    /// Whether every operator of the case has a kernel on the device.
    func isByKernels(on device: InferenceDevice) -> Bool {
        guard let model = try? ModelImporter().load(path: model), let inputs = try? tensors("input") else {
            return false
        }
        var types: [String: TensorType] = [:]
        for (port, tensor) in zip(model.graph.inputs, inputs) where port.type?.elementType == tensor.elementType {
            types[port.name] = TensorType(tensor.elementType, extents: tensor.shape)
        }
        return (try? OpenCLModel(model, on: device, inputs: types))?.plainNodes.isEmpty ?? false
    }

    /// The files hold the bits of bfloat16 as uint16, since numpy has no such type.
    private static func reread(_ tensor: Tensor, as type: ElementType?) throws -> Tensor {
        guard tensor.elementType == .uint16, type == .bfloat16 else { return tensor }
        return try Tensor(.bfloat16, shape: tensor.shape, elements: tensor.elements(as: UInt16.self))
    }

    func difference(_ found: Tensor, _ wanted: Tensor) -> String? {
        guard found.elementType == wanted.elementType, found.shape == wanted.shape else {
            return "\(found.elementType.rawValue)\(found.shape), not \(wanted.elementType.rawValue)\(wanted.shape)"
        }
        if found.elementType == .string { return found.strings == wanted.strings ? nil : "other strings" }
        if !found.elementType.isFloat { return found.integers() == wanted.integers() ? nil : "other integers" }
        for (index, (own, expected)) in zip(found.doubles(), wanted.doubles()).enumerated() {
            if own == expected || own.isNaN && expected.isNaN { continue }
            if !(abs(own - expected) <= absoluteTolerance + relativeTolerance * abs(expected)) {
                return "element \(index) is \(own), not \(expected)"
            }
        }
        return nil
    }
}
