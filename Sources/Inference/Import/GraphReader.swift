import ONNXFormat

/// Makes graphs of their messages: every name is there once and made before it is used.
struct GraphReader {
    var inliner: FunctionInliner

    /// The graph of a message with its nodes, functions expanded; `around` are names that the graphs around it offer,
    /// `weights` the places of bytes of initialisers that were left in the file.
    ///
    /// - Throws: `damaged`, and what reading tensors throws.
    mutating func graph(
        _ message: ONNXGraph, nodes: [PlacedNode], around: Set<String>, weights: [Int: Range<Int>] = [:],
        tensors: inout TensorReader
    ) throws(ModelError) -> Graph {
        var initialisers: [String: Tensor] = [:]
        for (place, tensor) in message.initializer.enumerated() {
            guard !tensor.name.isEmpty else { throw .damaged("an initialiser has no name") }
            guard try initialisers.updateValue(tensors.tensor(tensor, weights[place]), forKey: tensor.name) == nil
            else {
                throw .damaged("the initialiser \"\(tensor.name)\" is there twice")
            }
        }
        var inputs: [Graph.Port] = []
        var names = Set(initialisers.keys)
        var seen: Set<String> = []
        for input in message.input {
            let port = try Self.port(input)
            guard seen.insert(port.name).inserted else { throw .damaged("the input \"\(port.name)\" is there twice") }
            if let constant = initialisers[port.name] {
                // Files before IR version 4 list every initialiser as an input too.
                guard port.type?.permits(constant.elementType, constant.shape) ?? true else {
                    throw .damaged("the initialiser \"\(port.name)\" is not what the input of its name declares")
                }
                continue
            }
            inputs.append(around.isEmpty ? port.withNamedExtents : port)
            names.insert(port.name)
        }
        var makers: [String: Int] = [:]
        for (index, node) in nodes.enumerated() {
            for output in node.message.output where !output.isEmpty {
                guard !names.contains(output), makers.updateValue(index, forKey: output) == nil else {
                    throw .damaged("\(Self.place(node, index)): the value \"\(output)\" is made twice")
                }
            }
        }
        let visible = around.union(names).union(makers.keys)
        var read: [Node] = []
        for (index, node) in nodes.enumerated() {
            read.append(try self.node(node, index, visible: visible, tensors: &tensors))
        }
        let outputs = try message.output.map { output throws(ModelError) in try Self.port(output) }
        for output in outputs where !visible.contains(output.name) {
            throw .damaged("the output \"\(output.name)\" of the graph \"\(message.name)\" is made by no node")
        }
        return Graph(
            name: message.name, inputs: inputs, outputs: outputs, initialisers: initialisers,
            nodes: try Self.sorted(read, makers: makers))
    }

    // MARK: Nodes

    private mutating func node(
        _ placed: PlacedNode, _ index: Int, visible: Set<String>, tensors: inout TensorReader
    ) throws(ModelError) -> Node {
        let message = placed.message
        let place = Self.place(placed, index)
        let domain = ModelImporter.standardised(message.domain)
        guard let opset = placed.opsets[domain] else {
            throw .damaged("\(place): the model names no version of the operators of \"\(domain)\"")
        }
        guard let definition = Operators.definition(message.opType, domain: domain) else {
            preconditionFailure("an operator that the check of support let pass")
        }
        var attributes: [String: Attribute] = [:]
        for attribute in message.attribute {
            do throws(ModelError) {
                let value = try self.attribute(attribute, of: placed, visible: visible, tensors: &tensors)
                guard attributes.updateValue(value, forKey: attribute.name) == nil else {
                    throw .damaged("the attribute \"\(attribute.name)\" is there twice")
                }
            } catch {
                throw error.at(place)
            }
        }
        let node = Node(
            message.opType, name: message.name.isEmpty ? "\(message.opType)_\(index)" : message.name, domain: domain,
            opset: opset, inputs: message.input, outputs: message.output, attributes: attributes)
        if let name = node.inputs.first(where: { !$0.isEmpty && !visible.contains($0) }) {
            throw .damaged("\(place): the input \"\(name)\" is made by no node")
        }
        do throws(ModelError) {
            try definition.check(node)
        } catch {
            throw error.at(place)
        }
        return node
    }

    private static func place(_ node: PlacedNode, _ index: Int) -> String {
        let name = node.message.name.isEmpty ? "number \(index)" : "\"\(node.message.name)\""
        return "node \(name) (\(node.message.opType))"
    }

    private mutating func attribute(
        _ message: ONNXAttribute, of node: PlacedNode, visible: Set<String>, tensors: inout TensorReader
    ) throws(ModelError) -> Attribute {
        guard message.refAttrName.isEmpty else {
            throw .damaged("the attribute \"\(message.name)\" refers to one of a function, outside any")
        }
        switch message.type {
        case .float: return .float(message.f)
        case .int: return .int(Int(message.i))
        case .string: return .string(String(decoding: message.s, as: UTF8.self))
        case .floats: return .floats(message.floats)
        case .ints: return .ints(message.ints.map { Int($0) })
        case .strings: return .strings(message.strings.map { String(decoding: $0, as: UTF8.self) })
        case .tensor where message.hasT: return .tensor(try tensors.tensor(message.t))
        case .graph where message.hasG:
            let nodes = try inliner.expanded(message.g, of: node)
            return .graph(try graph(message.g, nodes: nodes, around: visible, tensors: &tensors))
        default:
            throw .damaged("the attribute \"\(message.name)\" has no value of a known kind")
        }
    }

    // MARK: Order

    /// Each node behind those it takes values from, otherwise in the order of the file.
    private static func sorted(_ nodes: [Node], makers: [String: Int]) throws(ModelError) -> [Node] {
        var waiting = [Int](repeating: 0, count: nodes.count)
        var users = [[Int]](repeating: [], count: nodes.count)
        for (index, node) in nodes.enumerated() {
            for maker in Set(node.requiredNames.compactMap { makers[$0] }) {
                waiting[index] += 1
                users[maker].append(index)
            }
        }
        var order = nodes.indices.filter { waiting[$0] == 0 }
        var next = 0
        while next < order.count {
            for user in users[order[next]].sorted() {
                waiting[user] -= 1
                if waiting[user] == 0 { order.append(user) }
            }
            next += 1
        }
        guard order.count == nodes.count else {
            let stuck = nodes.indices.filter { waiting[$0] > 0 }
            throw .damaged(
                "the nodes \(stuck.prefix(4).map { "\"\(nodes[$0].name)\"" }.joined(separator: ", ")) wait for each other in a circle"
            )
        }
        let inFileOrder = zip(nodes.indices, nodes).allSatisfy { index, node in
            node.requiredNames.allSatisfy { (makers[$0] ?? -1) < index }
        }
        return inFileOrder ? nodes : order.map { nodes[$0] }
    }

    // MARK: Inputs and outputs

    private static func port(_ message: ONNXValueInfo) throws(ModelError) -> Graph.Port {
        guard !message.name.isEmpty else { throw .damaged("an input or output has no name") }
        guard message.hasType, case .tensorType(let tensor)? = message.type.value, tensor.elemType != 0 else {
            return Graph.Port(message.name, nil)
        }
        guard let elementType = ElementType(onnxNumber: tensor.elemType) else {
            throw .damaged(
                "the value \"\(message.name)\" has the element type \(tensor.elemType), which does not exist")
        }
        guard tensor.hasShape else { return Graph.Port(message.name, TensorType(elementType, nil)) }
        let shape = tensor.shape.dim.map { dimension -> Dimension in
            switch dimension.value {
            // Paddle2ONNX writes -1 for an extent that is open.
            case .dimValue(let extent)? where extent < 0: .unknown
            case .dimValue(let extent)?: .known(Int(extent))
            case .dimParam(let name)? where !name.isEmpty: .symbol(name)
            default: .unknown
            }
        }
        return Graph.Port(message.name, TensorType(elementType, shape))
    }
}
