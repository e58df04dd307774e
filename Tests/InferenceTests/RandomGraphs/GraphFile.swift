import Foundation
import Inference
import ModelParts
import ONNXFormat
import SwiftProtobuf

/// A model with inputs and outputs in a folder, as the ONNX project lays out its test cases.
enum GraphFile {
    static func write(
        _ model: Model, _ inputs: [String: Tensor], _ outputs: [String: Tensor], to folder: String
    ) throws {
        let data = folder + "/test_data_set_0"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        func write(_ message: some SwiftProtobuf.Message, _ path: String) throws {
            let bytes: Data = try message.serializedData()
            try bytes.write(to: URL(filePath: path))
        }
        let graph = model.graph
        let message = ModelParts.graph(
            inputs: graph.inputs.map { port in
                ModelParts.port(port.name, type: number(port.type?.elementType ?? .float32), port.type?.extents ?? [])
            },
            outputs: graph.outputs.map(\.name), nodes: try graph.nodes.map(node),
            initialisers: try graph.initialisers.sorted { $0.key < $1.key }.map { try tensor($0.key, $0.value) })
        try write(ModelParts.model(message, opset: Int64(graph.nodes.map(\.opset).max() ?? 18)), folder + "/model.onnx")
        for (place, port) in graph.inputs.enumerated() {
            guard let value = inputs[port.name] else { continue }
            try write(tensor(port.name, value), "\(data)/input_\(place).pb")
        }
        for (place, port) in graph.outputs.enumerated() {
            guard let value = outputs[port.name] else { continue }
            try write(tensor(port.name, value), "\(data)/output_\(place).pb")
        }
    }

    private static func number(_ type: ElementType) -> Int32 {
        (1...16).first { ElementType(onnxNumber: $0) == type } ?? 0
    }

    private static func tensor(_ name: String, _ value: Tensor) throws -> ONNXTensor {
        var tensor = ONNXTensor()
        tensor.name = name
        tensor.dims = value.shape.map { Int64($0) }
        tensor.dataType = number(value.elementType)
        try value.withBytes { tensor.rawData = Data($0) }
        return tensor
    }

    private static func node(_ node: Node) throws -> ONNXNode {
        let attributes = try node.attributes.sorted { $0.key < $1.key }.map { name, value in
            var attribute = ONNXAttribute()
            attribute.name = name
            switch value {
            case .int(let number): (attribute.type, attribute.i) = (.int, Int64(number))
            case .float(let number): (attribute.type, attribute.f) = (.float, number)
            case .string(let text): (attribute.type, attribute.s) = (.string, Data(text.utf8))
            case .ints(let list): (attribute.type, attribute.ints) = (.ints, list.map { Int64($0) })
            case .floats(let list): (attribute.type, attribute.floats) = (.floats, list)
            case .tensor, .graph, .strings: throw ModelError.unsupported(["attribute \"\(name)\""])
            }
            return attribute
        }
        return ModelParts.node(node.operatorName, node.inputs, node.outputs, name: node.name, attributes)
    }
}
