import ONNXFormat

/// Finds what a file asks for and nobody here can do: operators, versions, attributes, element types, kinds of values.
struct SupportCheck {
    var inliner: FunctionInliner

    /// Each phrase once, in the order of the file.
    mutating func unsupported(_ graph: ONNXGraph, nodes: [PlacedNode]) throws(ModelError) -> [String] {
        var list = PhraseList()
        values(of: graph, &list)
        for node in nodes { try check(node, &list) }
        return list.phrases
    }

    private func values(of graph: ONNXGraph, _ list: inout PhraseList) {
        for tensor in graph.initializer { check(tensor, &list) }
        if !graph.sparseInitializer.isEmpty { list.add("sparse initialisers") }
        for port in graph.input + graph.output {
            switch port.type.value {
            case .tensorType(let type)?: check(type.elemType, &list)
            case .sequenceType?: list.add("values that are sequences")
            case .mapType?: list.add("values that are maps")
            case .optionalType?: list.add("values that are optionals")
            case .sparseTensorType?: list.add("values that are sparse tensors")
            case nil: continue
            }
        }
    }

    private func check(_ elementType: Int32, _ list: inout PhraseList) {
        if let name = ElementType.foreignName(onnxNumber: elementType) { list.add("element type \(name)") }
    }

    /// Attributes that name an element type.
    private static let typeAttributes: Set<String> = [
        "dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type", "to",
    ]

    private func check(_ tensor: ONNXTensor, _ list: inout PhraseList) {
        check(tensor.dataType, &list)
    }

    private mutating func check(_ node: PlacedNode, _ list: inout PhraseList) throws(ModelError) {
        let message = node.message
        let domain = ModelImporter.standardised(message.domain)
        let name = domain.isEmpty ? message.opType : "\(domain).\(message.opType)"
        for attribute in message.attribute {
            if attribute.hasT { check(attribute.t, &list) }
            if Self.typeAttributes.contains(attribute.name), let type = Int32(exactly: attribute.i) {
                check(type, &list)
            }
            if attribute.hasG {
                values(of: attribute.g, &list)
                for inner in try inliner.expanded(attribute.g, of: node) { try check(inner, &list) }
            }
        }
        // A domain without a version is damage, which the reader of the graph tells.
        guard let opset = node.opsets[domain] else { return }
        if domain.isEmpty && opset > Operators.newestOpset {
            return list.add("operators of version \(opset) (known: up to \(Operators.newestOpset))")
        }
        guard let definition = Operators.definition(message.opType, domain: domain) else {
            let version = domain.isEmpty ? Operators.newVersion(of: message.opType, in: opset) : nil
            return list.add("operator \(name)" + (version.map { " of version \($0)" } ?? ""))
        }
        guard definition.version(in: opset) != nil else {
            return list.add("operator \(name) of version \(opset)")
        }
        for attribute in message.attribute where definition.attributes[attribute.name] == nil {
            list.add("attribute \"\(attribute.name)\" of \(name)")
        }
    }
}

private struct PhraseList {
    private(set) var phrases: [String] = []
    private var seen: Set<String> = []

    mutating func add(_ phrase: String) {
        if seen.insert(phrase).inserted { phrases.append(phrase) }
    }
}
