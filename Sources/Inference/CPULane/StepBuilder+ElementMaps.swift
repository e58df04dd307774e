import OneDNNKit

extension StepBuilder {
    /// The error function of float32.
    mutating func addErf(_ node: Node) throws(OneDNNError) -> Bool {
        guard node.isStandard("Erf"), let shape = self.shape(of: node.result), self.shape(of: node.inputs[0]) == shape,
            let source = try form(node.inputs[0]), source.isWithoutPadding
        else { return false }
        let place = append(.erf, source, byteCount: source.descriptor.byteCount)
        bind(node.result, to: Form(place: place, descriptor: source.descriptor))
        return true
    }

    /// A function of a value that lies as 8-bit integers, perhaps with others behind it up to the quantisation of the result:
    /// the 256 results are computed plainly beforehand.
    mutating func addByteTable(_ node: Node, _ followers: [Node]) throws(OneDNNError) -> Bool {
        guard let place = tabulatedInput(node), let shape = self.shape(of: node.inputs[place]),
            let source = quantisedView(node.inputs[place]), !source.hasGaps, source.isWithoutPadding
        else { return false }
        if let last = followers.last {
            guard last.isStandard("QuantizeLinear"), AffineQuantisation(last, initialisers) != nil,
                followers.dropLast().allSatisfy({ tabulatedInput($0) != nil }),
                stepType(of: last.result)?.extents == shape
            else { return false }
        } else if !node.isStandard("Erf") || self.shape(of: node.result) != shape {
            return false
        }
        guard let results = results([node] + followers, of: node.inputs[place], source),
            let type = DataType(results.elementType)
        else { return false }
        let target = try source.dense(type)
        guard target.byteCount == target.elementCount * type.byteCount else { return false }
        let map = ElementMap.table(ByteTable(results))
        let result = Form(place: append(map, source, byteCount: target.byteCount), descriptor: target)
        bind((followers.last ?? node).result, to: result)
        return true
    }

    /// Which of the node's inputs a table could be made for.
    private func tabulatedInput(_ node: Node) -> Int? {
        node.isStandard("Erf") ? 0 : ElementFunctions(node, initialisers)?.input
    }

    /// What a chain of nodes makes of each 8-bit integer; nil where it cannot be computed.
    private func results(_ chain: [Node], of name: String, _ form: Form) -> Tensor? {
        let isSigned = form.descriptor.type == .int8
        let values = (0..<256).map { bits in
            let integer = isSigned ? Int32(Int8(truncatingIfNeeded: bits)) : Int32(bits)
            return form.scale * Float(integer - form.zeroPoint)
        }
        var tensors: [String: Tensor] = [:]
        for input in chain.flatMap(\.inputs) { tensors[input] = initialisers[input] }
        do throws(ModelError) {
            tensors[name] = try Tensor(.float32, shape: [256], elements: values)
            for node in chain { try ReferenceRunner().evaluate(node, &tensors) }
        } catch {
            return nil
        }
        guard let last = chain.last, let results = tensors[last.result], results.count == 256 else { return nil }
        return results
    }
}

extension Form {
    /// Whether its bytes are those of its elements and no others: padding has to stay zero.
    fileprivate var isWithoutPadding: Bool {
        !hasGaps && descriptor.byteCount == descriptor.elementCount * descriptor.type.byteCount
    }
}
