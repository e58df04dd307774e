import Foundation
package import Inference
package import ONNXFormat
import SwiftProtobuf

/// Builds model files in code.
package enum ModelParts {
    package static func model(_ graph: ONNXGraph, opset: Int64 = 21, functions: [ONNXFunction] = []) -> ONNXModel {
        var model = ONNXModel()
        model.irVersion = 10
        model.graph = graph
        model.opsetImport = [set("", opset)] + (functions.isEmpty ? [] : [set("local", 1)])
        model.functions = functions
        return model
    }

    package static func set(_ domain: String, _ version: Int64) -> ONNXOperatorSet {
        var set = ONNXOperatorSet()
        set.domain = domain
        set.version = version
        return set
    }

    package static func graph(
        inputs: [ONNXValueInfo], outputs: [String], nodes: [ONNXNode], initialisers: [ONNXTensor] = []
    ) -> ONNXGraph {
        var graph = ONNXGraph()
        graph.name = "main"
        graph.input = inputs
        graph.output = outputs.map { untyped($0) }
        graph.node = nodes
        graph.initializer = initialisers
        return graph
    }

    package static func untyped(_ name: String) -> ONNXValueInfo {
        var port = ONNXValueInfo()
        port.name = name
        return port
    }

    /// A declared value: the type is a number of the standard, 1 for float32; the shape has extents, or names of them.
    package static func port(_ name: String, type: Int32 = 1, _ shape: [Any]) -> ONNXValueInfo {
        var port = untyped(name)
        port.type.tensorType.elemType = type
        port.type.tensorType.shape.dim = shape.map { part in
            var dimension = ONNXShape.Dimension()
            if let extent = part as? Int { dimension.dimValue = Int64(extent) }
            if let symbol = part as? String { dimension.dimParam = symbol }
            return dimension
        }
        return port
    }

    package static func node(
        _ type: String, _ inputs: [String], _ outputs: [String], domain: String = "", name: String = "",
        _ attributes: [ONNXAttribute] = []
    ) -> ONNXNode {
        var node = ONNXNode()
        node.opType = type
        node.name = name.isEmpty ? "\(type)-\(outputs.first ?? "")" : name
        node.domain = domain
        node.input = inputs
        node.output = outputs
        node.attribute = attributes
        return node
    }

    package static func attribute(_ name: String, int: Int64) -> ONNXAttribute {
        var attribute = ONNXAttribute()
        attribute.name = name
        attribute.type = .int
        attribute.i = int
        return attribute
    }

    package static func attribute(_ name: String, float: Float) -> ONNXAttribute {
        var attribute = ONNXAttribute()
        attribute.name = name
        attribute.type = .float
        attribute.f = float
        return attribute
    }

    package static func attribute(_ name: String, ints: [Int64]) -> ONNXAttribute {
        var attribute = ONNXAttribute()
        attribute.name = name
        attribute.type = .ints
        attribute.ints = ints
        return attribute
    }

    package static func attribute(_ name: String, reference: String) -> ONNXAttribute {
        var attribute = ONNXAttribute()
        attribute.name = name
        attribute.type = .float
        attribute.refAttrName = reference
        return attribute
    }

    package static func tensor(_ name: String, _ shape: [Int64], floats: [Float]) -> ONNXTensor {
        var tensor = ONNXTensor()
        tensor.name = name
        tensor.dims = shape
        tensor.dataType = 1
        tensor.floatData = floats
        return tensor
    }

    package static func tensor(_ name: String, _ shape: [Int64], ints: [Int64]) -> ONNXTensor {
        var tensor = ONNXTensor()
        tensor.name = name
        tensor.dims = shape
        tensor.dataType = 7
        tensor.int64Data = ints
        return tensor
    }

    /// A tensor whose data lies in a file.
    package static func external(
        _ name: String, _ shape: [Int64], location: String, offset: String? = nil, length: String? = nil
    ) -> ONNXTensor {
        var tensor = ONNXTensor()
        tensor.name = name
        tensor.dims = shape
        tensor.dataType = 1
        tensor.dataLocation = .external
        for (key, value) in [("location", location), ("offset", offset), ("length", length)] {
            guard let value else { continue }
            var pair = ONNXStringPair()
            pair.key = key
            pair.value = value
            tensor.externalData.append(pair)
        }
        return tensor
    }

    package static func load(_ model: ONNXModel, folder: String? = nil) throws -> Model {
        try ModelImporter().load(bytes: model.serializedData(), folder: folder)
    }

    /// The error that loading ends with, nil where there is none.
    package static func error(_ model: ONNXModel, folder: String? = nil) throws -> ModelError? {
        let bytes: Data = try model.serializedData()
        do throws(ModelError) {
            _ = try ModelImporter().load(bytes: bytes, folder: folder)
            return nil
        } catch {
            return error
        }
    }
}
