/// Float16 and bfloat16 within a graph become float32, which lanes have fast forms for, where convolutions or products take
/// them. Graphs without such nodes keep their types, and are evaluated plainly.
///
/// Callers see the types that the file declares: a Cast stands behind each such input, and one in front of each such output.
/// Results are those of float32 arithmetic, rounded once, at the outputs: at least as exact as arithmetic of fewer bits,
/// which rounds behind each node. Where the graph itself casts to fewer bits on the way, nothing is rounded either, and what
/// would be infinite as a float16 is not.
///
/// Types of values change, so this comes before shapes are inferred, and is no ``GraphPass``. Initialisers follow from those
/// of the file alone, whatever is known of inputs; they are converted when somebody looks at them.
struct WidenNarrowFloats {
    /// Where the time goes, and what has fast forms.
    private static let heavy: Set<String> = ["Conv", "ConvTranspose", "Gemm", "MatMul"]
    /// Attributes that name the element type of a result.
    private static let typeAttributes: Set<String> = [
        "dtype", "output_datatype", "output_dtype", "precision", "stash_type", "to",
    ]
    /// Numbers of `TensorProto.DataType` in the ONNX standard.
    private static let (float32, float16, bfloat16) = (1, 10, 16)

    /// What is known of the graph as it was.
    private let facts: [String: Fact]
    /// All names of values, those of subgraphs included.
    private var taken: Set<String>
    /// Of inputs and outputs, which keep name and type: the names of the values of float32 that stand for them within.
    private var names: [String: String] = [:]

    /// The graph with float32 in place of fewer bits; nil where it stays as it is.
    ///
    /// - Throws: As ``ShapeInference/infer(_:inputs:)``.
    static func widened(_ graph: Graph) throws(ModelError) -> Graph? {
        guard hasNarrowFloats(graph) else { return nil }
        let inferred = try ShapeInference().infer(graph)
        let facts = inferred.facts
        // What is not known to be of another type may be such a float.
        guard inferred.unsupported.isEmpty, (graph.inputs + graph.outputs).allSatisfy({ facts[$0.name] != nil }),
            graph.nodes.contains(where: { isHeavy($0, facts) })
        else { return nil }
        var pass = WidenNarrowFloats(facts: facts, taken: allNames(in: graph))
        return try pass.apply(to: graph)
    }

    // MARK: Looking

    private static func hasNarrowFloats(_ graph: Graph) -> Bool {
        graph.inputs.contains(where: { $0.type?.elementType.isNarrowFloat == true })
            || graph.initialisers.values.contains(where: \.elementType.isNarrowFloat)
            || graph.nodes.contains { node in
                node.attributes.contains { hasNarrowFloats($0.value, named: $0.key) }
            }
    }

    private static func hasNarrowFloats(_ attribute: Attribute, named name: String) -> Bool {
        switch attribute {
        case .tensor(let tensor): tensor.elementType.isNarrowFloat
        case .graph(let graph): hasNarrowFloats(graph)
        case .int(let number): typeAttributes.contains(name) && [float16, bfloat16].contains(number)
        default: false
        }
    }

    private static func isHeavy(_ node: Node, _ facts: [String: Fact]) -> Bool {
        guard node.domain.isEmpty, heavy.contains(node.operatorName), let input = node.inputs.first else {
            return false
        }
        return facts[input]?.type.elementType.isNarrowFloat == true
    }

    private static func allNames(in graph: Graph) -> Set<String> {
        var names = Set((graph.inputs + graph.outputs).map(\.name)).union(graph.initialisers.keys)
        for node in graph.nodes {
            names.formUnion(node.inputs)
            names.formUnion(node.outputs)
            for inner in node.subgraphs { names.formUnion(allNames(in: inner)) }
        }
        return names
    }

    private func isNarrow(_ name: String) -> Bool { facts[name]?.type.elementType.isNarrowFloat == true }

    /// Whether a node makes of one float another, both of which are float32 now.
    private func castsFloats(_ node: Node) -> Bool {
        guard node.isStandard("Cast") || node.isStandard("CastLike") else { return false }
        return [node.inputs.first, node.outputs.first].allSatisfy { name in
            guard let name, let type = facts[name]?.type.elementType else { return false }
            return type == .float32 || type.isNarrowFloat
        }
    }

    // MARK: Changing

    private mutating func apply(to graph: Graph) throws(ModelError) -> Graph {
        let inputs = graph.inputs.map(\.name)
        // An input that is an output as well is given out as it came.
        let outputs = Set(graph.outputs.map(\.name)).subtracting(inputs).sorted()
        let given = rename(inputs.filter { isNarrow($0) })
        let made = rename(outputs.filter { isNarrow($0) })

        var result = graph
        result.initialisers = try widened(graph.initialisers, names)
        result.nodes = given.map { Self.cast($0.old, to: Self.float32, as: $0.new) }
        for node in graph.nodes {
            var wide = try widened(node, names)
            if castsFloats(node) {
                wide = Node(
                    "Identity", name: node.name, opset: node.opset, inputs: Array(wide.inputs.prefix(1)),
                    outputs: wide.outputs)
            }
            result.nodes.append(wide)
        }
        for (name, wide) in made {
            if let constant = graph.initialisers[name] {
                result.initialisers[name] = constant
            } else {
                let isBFloat16 = facts[name]?.type.elementType == .bfloat16
                result.nodes.append(Self.cast(wide, to: isBFloat16 ? Self.bfloat16 : Self.float16, as: name))
            }
        }
        return result
    }

    private mutating func rename(_ list: [String]) -> [(old: String, new: String)] {
        var renamed: [(old: String, new: String)] = []
        for name in list {
            var wide = "\(name) as float32"
            while !taken.insert(wide).inserted { wide += "'" }
            names[name] = wide
            renamed.append((old: name, new: wide))
        }
        return renamed
    }

    /// Version 13 is the first that has bfloat16.
    private static func cast(_ source: String, to number: Int, as result: String) -> Node {
        Node("Cast", name: result, opset: 13, inputs: [source], outputs: [result], attributes: ["to": .int(number)])
    }

    private func widened(
        _ tensors: [String: Tensor], _ names: [String: String]
    ) throws(ModelError) -> [String: Tensor] {
        var result: [String: Tensor] = [:]
        for (name, tensor) in tensors { result[names[name] ?? name] = try widened(tensor) }
        return result
    }

    private func widened(_ tensor: Tensor) throws(ModelError) -> Tensor {
        guard tensor.elementType.isNarrowFloat else { return tensor }
        return try tensor.widenedWhenRead()
    }

    private func widened(_ node: Node, _ names: [String: String]) throws(ModelError) -> Node {
        var result = node
        result.inputs = node.inputs.map { names[$0] ?? $0 }
        result.outputs = node.outputs.map { names[$0] ?? $0 }
        for (name, attribute) in node.attributes {
            switch attribute {
            case .tensor(let tensor): result.attributes[name] = .tensor(try widened(tensor))
            case .graph(let graph): result.attributes[name] = .graph(try widened(graph, names))
            case .int where Self.hasNarrowFloats(attribute, named: name):
                result.attributes[name] = .int(Self.float32)
            default: continue
            }
        }
        return result
    }

    /// A subgraph, whose own inputs and outputs nobody outside sees; `names` are those of the values around it.
    private func widened(_ graph: Graph, _ names: [String: String]) throws(ModelError) -> Graph {
        let own = Set(graph.inputs.map(\.name)).union(graph.initialisers.keys).union(graph.nodes.flatMap(\.outputs))
        let names = names.filter { !own.contains($0.key) }
        var result = graph
        result.inputs = graph.inputs.map { widened($0, names) }
        result.outputs = graph.outputs.map { widened($0, names) }
        result.initialisers = try widened(graph.initialisers, names)
        result.nodes = []
        for node in graph.nodes { result.nodes.append(try widened(node, names)) }
        return result
    }

    private func widened(_ port: Graph.Port, _ names: [String: String]) -> Graph.Port {
        var result = port
        result.name = names[port.name] ?? port.name
        if port.type?.elementType.isNarrowFloat == true { result.type?.elementType = .float32 }
        return result
    }
}

extension Model {
    /// Looks for what is not implemented beyond what the importer finds: element types of values, and what attributes ask for.
    ///
    /// - Throws: `unsupported` with everything that was found.
    package func checkSupport() throws(ModelError) {
        do throws(ModelError) {
            _ = try ShapeInference().inferWidened(graph)
        } catch {
            // What does not fit together may do so for the inputs of a run.
            if error.code == .unsupported { throw error }
        }
    }
}

extension ShapeInference {
    /// What is known of a graph as lanes compute it.
    ///
    /// - Parameter graph: As it was loaded, with what is known of its inputs.
    /// - Returns: The graph, widened by ``WidenNarrowFloats`` where that does so, and what is known of that one's values.
    /// - Throws: As ``infer(_:inputs:)``, and `unsupported` for element types that operators are not implemented for.
    func inferWidened(_ graph: Graph) throws(ModelError) -> (graph: Graph, facts: [String: Fact]) {
        // Should an operator take fewer bits alone, the graph stays with them.
        if let wide = try WidenNarrowFloats.widened(graph), let result = try? infer(wide),
            result.unsupported.isEmpty
        {
            return (wide, result.facts)
        }
        let result = try infer(graph)
        if !result.unsupported.isEmpty { throw .unsupported(result.unsupported) }
        return (graph, result.facts)
    }
}
