import ONNXFormat

/// A node of a file with the operator versions that hold where it was written.
struct PlacedNode {
    var message: ONNXNode
    var opsets: [String: Int]
}

/// Puts the bodies of the model's own functions in place of their calls.
struct FunctionInliner {
    private struct Key: Hashable {
        var domain: String
        var name: String
        var overload: String
    }

    private var functions: [Key: (message: ONNXFunction, opsets: [String: Int])] = [:]
    private let limit: Int

    /// `limit` is for nodes after expansion and calls before it, those of subgraphs not counted.
    init(_ messages: [ONNXFunction], limit: Int) throws(ModelError) {
        self.limit = limit
        for message in messages {
            let domain = ModelImporter.standardised(message.domain)
            let opsets = try ModelImporter.opsets(message.opsetImport, of: "the function \"\(message.name)\"")
            let key = Key(domain: domain, name: message.name, overload: message.overload)
            guard functions.updateValue((message, opsets), forKey: key) == nil else {
                throw .damaged("the function \"\(message.name)\" is there twice")
            }
        }
    }

    func expanded(_ nodes: [ONNXNode], opsets: [String: Int]) throws(ModelError) -> [PlacedNode] {
        var result: [PlacedNode] = []
        var visits = 0
        try expand(nodes, opsets, calls: [], prefix: "", visits: &visits, into: &result)
        return result
    }

    private func expand(
        _ nodes: [ONNXNode], _ opsets: [String: Int], calls: [Key], prefix: String, visits: inout Int,
        into result: inout [PlacedNode]
    ) throws(ModelError) {
        for (index, node) in nodes.enumerated() {
            // Calls count too: bodies may be empty.
            visits += 1
            guard visits <= limit else { throw .tooLarge("the model has more than \(limit) nodes and calls") }
            let key = Key(
                domain: ModelImporter.standardised(node.domain), name: node.opType, overload: node.overload)
            guard let function = functions[key] else {
                result.append(PlacedNode(message: node, opsets: opsets))
                continue
            }
            guard !calls.contains(key), calls.count < 64 else {
                throw .damaged("the function \"\(key.name)\" calls itself")
            }
            let inner = "\(prefix)\(node.name.isEmpty ? node.opType : node.name)#\(index)/"
            let body = try instantiated(function.message, for: node, prefix: inner)
            try expand(body, function.opsets, calls: calls + [key], prefix: inner, visits: &visits, into: &result)
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
