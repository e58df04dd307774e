import Inference
import SeededNumbers
import Testing

/// Every element within `tolerance` of the largest one's magnitude, or of 1 where that is more.
func expectClose(
    _ found: Tensor, _ wanted: Tensor, tolerance: Double, _ note: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(found.elementType == wanted.elementType, "\(note)", sourceLocation: sourceLocation)
    #expect(found.shape == wanted.shape, "\(note)", sourceLocation: sourceLocation)
    let (own, expected) = (found.doubles(), wanted.doubles())
    let scale = max(expected.reduce(0) { max($0, abs($1)) }, 1)
    let wrong = zip(own, expected).enumerated().first { _, pair in !(abs(pair.0 - pair.1) <= tolerance * scale) }
    #expect(wrong == nil, "\(note): of \(scale)", sourceLocation: sourceLocation)
}

/// Random numbers, and graphs made of a few nodes.
struct GraphFixture {
    let seed: UInt64
    var random: SeededGenerator
    var inputs: [String: Tensor] = [:]
    var initialisers: [String: Tensor] = [:]
    /// The value that quantised graphs quantise at last, and the name of what comes out.
    var ending = (name: "", value: "")

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[pick(0...(choices.count - 1))] }

    mutating func tensor(_ shape: [Int], in range: ClosedRange<Double> = -1...1) throws -> Tensor {
        let count = shape.reduce(1, *)
        return try Tensor(
            .float32, shape: shape, doubles: (0..<count).map { _ in Double.random(in: range, using: &random) })
    }

    mutating func input(_ name: String, _ shape: [Int], in range: ClosedRange<Double> = -1...1) throws {
        inputs[name] = try tensor(shape, in: range)
    }

    mutating func constant(_ name: String, _ shape: [Int], in range: ClosedRange<Double> = -1...1) throws {
        initialisers[name] = try tensor(shape, in: range)
    }

    /// Gives the first output of the last node.
    func model(_ nodes: [Node], outputs: [String]? = nil) -> Model {
        let ports = inputs.sorted { $0.key < $1.key }.map {
            Graph.Port($0.key, TensorType($0.value.elementType, extents: $0.value.shape))
        }
        let outputs = outputs ?? [nodes[nodes.count - 1].outputs[0]]
        return Model(
            graph: Graph(
                inputs: ports, outputs: outputs.map { Graph.Port($0, nil) }, initialisers: initialisers, nodes: nodes),
            opsets: ["": 17])
    }

    /// The compiled model has a fast form for every node, and gives what the plain operators give.
    func expectAgreement(
        _ nodes: [Node], tolerance: Double = 1e-5, _ note: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let model = model(nodes)
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.map(\.place) == [], "\(note)", sourceLocation: sourceLocation)
        let found = try #require(try compiled.execute(inputs)[model.graph.outputs[0].name])
        let wanted = try ReferenceRunner().run(model, inputs: inputs)[0]
        expectClose(found, wanted, tolerance: tolerance, note, sourceLocation: sourceLocation)
    }
}

/// A node of operator set 17.
func node(
    _ name: String, _ inputs: [String], _ output: String, _ attributes: [String: Attribute] = [:], opset: Int = 17
) -> Node {
    Node(name, name: output, opset: opset, inputs: inputs, outputs: [output], attributes: attributes)
}

extension Graph {
    /// A line for each node, with followers behind it.
    var lines: [String] {
        nodes.map { node in
            node.chain.map { "\($0.outputs[0]) = \($0.operatorName)(\($0.inputs.joined(separator: ", ")))" }
                .joined(separator: "; ")
        }
    }
}
