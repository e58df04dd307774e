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

    /// A launch that computes each element of `shape` from that of the input and what `links` name, then the followers.
    private mutating func addElements(
        _ input: String, _ node: Node, _ followers: [Node], shape: [Int],
        links make: (inout DeviceBuilder, [Range<Int>]) -> [DeviceLink]?
    ) -> Bool {
        guard let source = value(input)?.broadcast(to: shape) else { return false }
        // As few positions as all readings allow.
        var readings = [source.strides, Extents.strides(shape)]
        let others = node.inputs.dropFirst() + followers.flatMap(\.inputs)
        for name in others {
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
