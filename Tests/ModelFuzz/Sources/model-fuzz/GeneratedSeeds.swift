import Foundation
import Inference
import ONNXFormat
import SeededNumbers
import SwiftProtobuf

/// Models to begin with that need nothing from elsewhere: each operator a few times, with values, attributes and types at
/// random.
enum GeneratedSeeds {
    /// Models of each operator.
    private static let variants = 6

    static func write(into folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (place, definition) in Operators.all.enumerated() {
            for variant in 0..<variants {
                var random = SeededGenerator(seed: UInt64(place * variants + variant))
                let model = ONNXModel(calling: definition, &random)
                let bytes: Data = try model.serializedData()
                try bytes.write(to: folder.appending(path: "\(place)-\(variant)"))
            }
        }
        print("\(Operators.all.count * variants) seeds")
    }
}

extension ONNXModel {
    fileprivate init(calling definition: OperatorDefinition, _ random: inout SeededGenerator) {
        self.init()
        irVersion = 8
        var set = ONNXOperatorSet()
        set.domain = definition.domain
        set.version = Int64(definition.versions[random.below(definition.versions.count)])
        opsetImport = [set]
        var node = ONNXNode()
        node.opType = definition.name
        node.domain = definition.domain
        let most = min(definition.inputs.upperBound, definition.inputs.lowerBound + 2)
        let count = definition.inputs.lowerBound + random.below(most - definition.inputs.lowerBound + 1)
        let like = ONNXTensor(named: "0", &random)
        for place in 0..<count {
            // Many operators take values of one type and shape, others small lists of numbers beside the first.
            var tensor = random.below(2) == 0 || place == 0 ? like : ONNXTensor(named: "", &random)
            tensor.name = "\(place)"
            graph.initializer.append(tensor)
            node.input.append(tensor.name)
        }
        node.output = (0..<max(definition.outputs.lowerBound, 1)).map { "out\($0)" }
        for (name, kind) in definition.attributes.sorted(by: { $0.key < $1.key }) where random.below(2) == 0 {
            if let attribute = ONNXAttribute(name, kind, &random) { node.attribute.append(attribute) }
        }
        graph.node = [node]
        var port = ONNXValueInfo()
        port.name = "out0"
        graph.output = [port]
    }
}

extension ONNXTensor {
    /// The standard's numbers of the types that operators take most: float32, uint8, int32, int64, bool.
    private static let types: [(number: Int32, bytes: Int)] = [
        (1, 4), (1, 4), (1, 4), (2, 1), (6, 4), (7, 8), (7, 8), (9, 1),
    ]

    fileprivate init(named name: String, _ random: inout SeededGenerator) {
        self.init()
        self.name = name
        let type = Self.types[random.below(Self.types.count)]
        dataType = type.number
        dims = (0..<random.below(5)).map { _ in Int64(1 + random.below(4)) }
        for _ in 0..<dims.reduce(1, *) {
            let value = random.below(4)
            let bits =
                type.number == 1 ? UInt64((Float(value) - 1).bitPattern) : UInt64(type.number == 9 ? value % 2 : value)
            withUnsafeBytes(of: bits.littleEndian) { rawData.append(contentsOf: $0.prefix(type.bytes)) }
        }
    }
}

extension ONNXAttribute {
    /// Nil for kinds that are not made.
    fileprivate init?(_ name: String, _ kind: Attribute.Kind, _ random: inout SeededGenerator) {
        self.init()
        self.name = name
        switch kind {
        case .int:
            type = .int
            i = Int64(random.below(3))
        case .ints:
            type = .ints
            ints = (0..<(1 + random.below(4))).map { _ in Int64(random.below(3)) }
        case .float:
            type = .float
            f = Float(random.below(3))
        case .floats:
            type = .floats
            floats = (0..<(1 + random.below(3))).map { _ in Float(random.below(3)) }
        case .tensor:
            type = .tensor
            t = ONNXTensor(named: name, &random)
        case .graph:
            // A body that gives a constant, and no more.
            type = .graph
            g.initializer = [ONNXTensor(named: "made", &random)]
            var port = ONNXValueInfo()
            port.name = "made"
            g.output = [port]
        default: return nil
        }
    }
}
