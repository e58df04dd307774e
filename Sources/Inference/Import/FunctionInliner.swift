import ONNXFormat

/// A node of a file with the operator versions that hold where it was written.
struct PlacedNode {
    var message: ONNXNode
    var opsets: [String: Int]
    /// Calls and subgraphs that it lies within.
    var depth: Int
}

/// Puts the bodies of the model's own functions in place of their calls.
struct FunctionInliner {
    private struct Key: Hashable {
        var domain: String
        var name: String
        var overload: String
    }

    private struct Function {
        var message: ONNXFunction
        var opsets: [String: Int]
        /// Nodes in subgraphs of its nodes, which each call copies.
        var innerNodes: Int
    }

    private static let deepest = 64

    private var functions: [Key: Function] = [:]
    private let limit: Int
    /// Nodes and calls so far. A copy of the inliner goes on from here.
    private var visits = 0

    /// `limit` is for all nodes after expansion and calls before it, subgraphs included.
    init(_ messages: [ONNXFunction], limit: Int) throws(ModelError) {
        self.limit = limit
        for message in messages {
            let domain = ModelImporter.standardised(message.domain)
            let opsets = try ModelImporter.opsets(message.opsetImport, of: "the function \"\(message.name)\"")
            let key = Key(domain: domain, name: message.name, overload: message.overload)
            let function = Function(message: message, opsets: opsets, innerNodes: Self.innerNodes(message.node))
            guard functions.updateValue(function, forKey: key) == nil else {
                throw .damaged("the function \"\(message.name)\" is there twice")
            }
        }
    }

    /// The nodes of the model's graph.
    mutating func expanded(_ nodes: [ONNXNode], opsets: [String: Int]) throws(ModelError) -> [PlacedNode] {
        var result: [PlacedNode] = []
        try expand(nodes, opsets, depth: 0, into: &result)
        return result
    }

    /// The nodes of a subgraph of `node`.
    mutating func expanded(_ subgraph: ONNXGraph, of node: PlacedNode) throws(ModelError) -> [PlacedNode] {
        var result: [PlacedNode] = []
        try expand(subgraph.node, node.opsets, depth: node.depth + 1, into: &result)
        return result
    }

    private static func innerNodes(_ nodes: [ONNXNode]) -> Int {
        nodes.reduce(0) { sum, node in
            node.attribute.reduce(sum) { $1.hasG ? $0 + $1.g.node.count + innerNodes($1.g.node) : $0 }
        }
    }

    private mutating func visit(_ count: Int) throws(ModelError) {
        visits += count
        guard visits <= limit else { throw .tooLarge("the model has more than \(limit) nodes and calls") }
    }

    private mutating func expand(
        _ nodes: [ONNXNode], _ opsets: [String: Int], depth: Int, into result: inout [PlacedNode]
    ) throws(ModelError) {
        for node in nodes {
            // Calls count too: bodies may be empty.
            try visit(1)
            let key = Key(
                domain: ModelImporter.standardised(node.domain), name: node.opType, overload: node.overload)
            guard let function = functions[key] else {
                if key.domain.isEmpty,
                    let body = StandardFunctions.body(
                        of: node, opset: opsets[""] ?? 0,
                        prefix: "\(node.name.isEmpty ? node.opType : node.name)#\(visits)/")
                {
                    try visit(body.count)
                    result += body.map { PlacedNode(message: $0, opsets: opsets, depth: depth) }
                    continue
                }
                result.append(PlacedNode(message: node, opsets: opsets, depth: depth))
                continue
            }
            // Whatever calls itself comes to this depth, through a subgraph too.
            guard depth < Self.deepest else {
                throw .damaged("the function \"\(key.name)\" calls itself, or lies in \(depth) calls and subgraphs")
            }
            try visit(function.innerNodes)
            // A call within a body has the prefix of that body in its name.
            let prefix = "\(node.name.isEmpty ? node.opType : node.name)#\(visits)/"
            let body = try instantiated(function.message, for: node, prefix: prefix)
            try expand(body, function.opsets, depth: depth + 1, into: &result)
        }
    }

    /// The nodes of the body with the caller's names and attributes; names of the body get `prefix`.
    private func instantiated(
        _ function: ONNXFunction, for call: ONNXNode, prefix: String
    ) throws(ModelError) -> [ONNXNode] {
        guard call.input.count <= function.input.count, call.output.count <= function.output.count else {
            throw .damaged("a call of \"\(function.name)\" has more inputs or outputs than the function")
        }
        var names: [String: String] = ["": ""]
        for (index, input) in function.input.enumerated() {
            names[input] = index < call.input.count ? call.input[index] : ""
        }
        for (index, output) in function.output.enumerated() where index < call.output.count {
            if !call.output[index].isEmpty { names[output] = call.output[index] }
        }
        var attributes: [String: ONNXAttribute] = [:]
        for attribute in function.attributeProto + call.attribute { attributes[attribute.name] = attribute }
        return function.node.map {
            Renaming(names: names, prefix: prefix, attributes: attributes).node($0)
        }
    }
}

/// Names and attributes of a function's body, as one call has them.
private struct Renaming {
    var names: [String: String]
    var prefix: String
    var attributes: [String: ONNXAttribute]

    func name(_ name: String) -> String { names[name] ?? prefix + name }

    func node(_ node: ONNXNode) -> ONNXNode {
        var copy = node
        copy.name = prefix + (node.name.isEmpty ? node.opType : node.name)
        copy.input = node.input.map(name)
        copy.output = node.output.map(name)
        copy.attribute = node.attribute.compactMap(attribute)
        return copy
    }

    /// Nil where it refers to an attribute that the call does not have: then the operator's default holds.
    private func attribute(_ attribute: ONNXAttribute) -> ONNXAttribute? {
        if !attribute.refAttrName.isEmpty {
            var value = attributes[attribute.refAttrName]
            value?.name = attribute.name
            return value
        }
        guard attribute.hasG else { return attribute }
        var copy = attribute
        copy.g = graph(attribute.g)
        return copy
    }

    private func graph(_ graph: ONNXGraph) -> ONNXGraph {
        var copy = graph
        copy.node = graph.node.map(node)
        for index in copy.input.indices { copy.input[index].name = name(copy.input[index].name) }
        for index in copy.output.indices { copy.output[index].name = name(copy.output[index].name) }
        for index in copy.valueInfo.indices { copy.valueInfo[index].name = name(copy.valueInfo[index].name) }
        for index in copy.initializer.indices { copy.initializer[index].name = name(copy.initializer[index].name) }
        return copy
    }
}
