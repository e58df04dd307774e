import Kernels

extension DeviceBuilder {
    /// Values that broadcast against each other.
    mutating func addArithmetic(_ node: Node, _ followers: [Node]) -> Bool {
        guard let shape = self.shape(of: node.chain.last?.result ?? ""), !node.inputs.isEmpty,
            let kind = bg_link_kind(node)
                ?? (node.operatorName == "Pow" ? BG_LINK_RAISE : nil)
        else { return false }
        if node.operatorName == "Pow", ElementLinks(node, initialisers) != nil { return addElementLinks(node) }
        return addElements(node.inputs[0], node, followers, shape: shape) { builder, groups in
            var links: [DeviceLink] = []
            for name in node.inputs.dropFirst() {
                guard let operand = builder.operand(name, shape: shape, groups: groups) else { return nil }
                links.append(DeviceLink(kind: kind, operand: operand))
            }
            return links
        }
    }

    /// Functions of each element.
    mutating func addElementLinks(_ node: Node) -> Bool {
        guard let links = ElementLinks(node, initialisers), let shape = self.shape(of: node.result) else {
            return false
        }
        return addElements(node.inputs[0], node, [], shape: shape) { _, _ in links.list }
    }

    /// With constant parameters: a product and a sum by channel.
    mutating func addBatchNormalization(_ node: Node, _ followers: [Node]) -> Bool {
        guard let shape = self.shape(of: node.result), shape.count >= 2,
            let factors = ChannelFactors(node, of: node.inputs[0], uses, initialisers), factors.scales.count == shape[1]
        else { return false }
        let scales = constant(.floats(factors.scales.map { Float($0) }))
        let shifts = constant(.floats(factors.shifts.map { Float($0) }))
        return addElements(node.inputs[0], node, followers, shape: shape) { _, groups in
            [(BG_LINK_MULTIPLY, scales), (BG_LINK_ADD, shifts)].compactMap { kind, place in
                var value = DeviceValue(place, shape: shape)
                value.strides = shape.indices.map { $0 == 1 ? 1 : 0 }
                return value.strides(over: groups).map { DeviceLink(kind: kind, operand: (value, $0)) }
            }
        }
    }

    // MARK: Choices

    /// One number where a condition holds, or where it does not, and a value elsewhere.
    mutating func addWhere(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result) else { return false }
        if let input = nanTests[node.inputs[0]], let number = number(node.inputs[1]) {
            return addElements(input, node, [], shape: shape, beside: []) { _, _ in
                [DeviceLink(kind: BG_LINK_FILL_NAN, a: number)]
            }
        }
        let (kind, value, filler) =
            number(node.inputs[1]) != nil
            ? (BG_LINK_FILL, node.inputs[2], number(node.inputs[1]))
            : (BG_LINK_KEEP, node.inputs[1], number(node.inputs[2]))
        guard let filler, let flags = flags(node.inputs[0])?.broadcast(to: shape) else { return false }
        return addElements(value, node, [], shape: shape, beside: [flags.strides]) { _, groups in
            flags.strides(over: groups).map { [DeviceLink(kind: kind, a: filler, operand: (flags, $0))] }
        }
    }

    /// A test whose only use is to put a number in the place of NaN is made together with that.
    mutating func defersToWhere(_ node: Node) -> Bool {
        guard let taker = uses.onlyTaker(of: node.result).map({ nodes[$0] }), taker.isStandard("Where"),
            taker.inputs[0] == node.result, taker.inputs[2] == node.inputs[0], number(taker.inputs[1]) != nil,
            let shape = self.shape(of: taker.result), shape == self.shape(of: node.inputs[0]),
            value(node.inputs[0]) != nil
        else { return false }
        nanTests[node.result] = node.inputs[0]
        return true
    }

    /// The only element of a constant.
    private func number(_ name: String) -> Float? {
        guard let tensor = initialisers[name], tensor.elementType == .float32, tensor.count == 1 else { return nil }
        return tensor.elements(as: Float.self).first
    }

    /// A launch that computes each element of `shape` from that of the input and what `links` name, then the followers;
    /// `others` are the strides of what is read beside the input, where that is not the other inputs of the nodes.
    private mutating func addElements(
        _ input: String, _ node: Node, _ followers: [Node], shape: [Int], beside others: [[Int]]? = nil,
        links make: (inout DeviceBuilder, [Range<Int>]) -> [DeviceLink]?
    ) -> Bool {
        guard let source = value(input)?.broadcast(to: shape) else { return false }
        // As few positions as all readings allow.
        var readings = [source.strides, Extents.strides(shape)]
        readings += others ?? []
        for name in others == nil ? node.inputs.dropFirst() + followers.flatMap(\.inputs) : [] {
            if let other = value(name)?.broadcast(to: shape) { readings.append(other.strides) }
        }
        if node.operatorName == "BatchNormalization" { readings.append(shape.indices.map { $0 == 1 ? 1 : 0 }) }
        guard let groups = Self.groups(shape, readings), let strides = source.strides(over: groups),
            let own = make(&self, groups),
            let (behind, name) = links(followers, behind: node.outputs[0], shape: shape, groups: groups)
        else { return false }
        let target = newValue(name, shape: shape)
        let all = own + behind
        let place = constant(.links(all))
        let extents = groups.map { shape[$0].reduce(1, *) }
        let blocks = (extents[3] + device.run - 1) / device.run
        launch(
            "elementwise", items: extents[0] * extents[1] * extents[2] * blocks, local: device.smallGroup,
            reads: [source.place, place] + all.compactMap { $0.operand?.value.place }, writes: target.place
        ) { at in
            bg_elementwise_params(
                source: at(source), target: at(target), extents: quadruple(extents), strides: quadruple(strides),
                links: at(place), link_count: Int32(all.count), blocks: Int32(blocks))
        }
        return true
    }

    /// Four groups of neighbouring axes that every reading counts with one stride each; nil where more are needed.
    private static func groups(_ shape: [Int], _ readings: [[Int]]) -> [Range<Int>]? {
        var groups: [Range<Int>] = []
        var extent = 1
        for axis in shape.indices {
            let isJoined =
                shape[axis] == 1
                || extent == 1
                || readings.allSatisfy { reading in
                    guard let last = groups.last, let before = last.last(where: { shape[$0] != 1 }) else { return true }
                    return reading[before] == reading[axis] * shape[axis]
                }
            if isJoined, let last = groups.popLast() {
                groups.append(last.lowerBound..<(axis + 1))
                extent *= shape[axis]
            } else {
                groups.append(axis..<(axis + 1))
                extent = shape[axis]
            }
        }
        guard groups.count <= 4 else { return nil }
        return Array(repeating: 0..<0, count: 4 - groups.count) + groups
    }
}
