import Kernels

/// What becomes of a product before it is written, and where: a bias, a residual and bounds at once, then links.
///
/// Positions of the result are counted along four groups of its axes: (i, j, row, column), as values.cl has them.
struct ResultPlan: Sendable {
    /// The value that comes out.
    var name: String
    var target: DeviceValue
    /// Of i, j and row.
    var strides: [Int]
    var bias: (value: DeviceValue, strides: [Int])?
    var residual: (value: DeviceValue, strides: [Int])?
    var low = -Float.infinity
    var high = Float.infinity
    var links: (place: DevicePlace, count: Int)?
    private var operands: [DevicePlace] = []

    init(name: String, target: DeviceValue, strides: [Int]) {
        self.name = name
        self.target = target
        self.strides = strides
    }

    var reads: [DevicePlace] {
        [bias?.value.place, residual?.value.place, links?.place].compactMap { $0 } + operands
    }

    /// Takes the first links into what is done at once, and leaves the others in a constant.
    mutating func append(_ links: [DeviceLink], _ builder: inout DeviceBuilder) {
        var rest = links[...]
        if let first = rest.first, first.kind == BG_LINK_ADD, let operand = first.operand {
            residual = operand
            rest.removeFirst()
        }
        if let first = rest.first, first.kind == BG_LINK_CLIP || first.kind == BG_LINK_RELU && first.a == 0 {
            low = first.kind == BG_LINK_CLIP ? first.a : 0
            high = first.kind == BG_LINK_CLIP ? first.b : .infinity
            rest.removeFirst()
        }
        guard !rest.isEmpty else { return }
        self.links = (builder.constant(.links(Array(rest))), rest.count)
        operands = rest.compactMap { $0.operand?.value.place }
    }

    func encoded(_ at: Locations) -> bg_result {
        var result = bg_result()
        result.target = at(target)
        result.strides = triple(strides)
        result.bias = bias.map { at($0.value) } ?? Int32.min
        result.bias_strides = triple(bias?.strides ?? [0, 0, 0])
        result.residual = residual.map { at($0.value) } ?? Int32.min
        result.residual_strides = quadruple(residual?.strides ?? [0, 0, 0, 0])
        (result.low, result.high) = (low, high)
        result.links = links.map { at($0.place) } ?? 0
        result.link_count = Int32(links?.count ?? 0)
        return result
    }
}

extension DeviceBuilder {
    /// The links of nodes, each of which takes the result of the one before, the first `value`.
    ///
    /// - Parameters:
    ///   - nodes: Functions of each element, and arithmetic with another value.
    ///   - value: The result of what is in front of them.
    ///   - shape: Of the result, and of everything between.
    ///   - split: Cuts the axis into two, the inner of that extent, before axes are grouped.
    ///   - groups: Axes that one position is counted along.
    /// - Returns: Nil where a node has no link, or its operand cannot be read so.
    mutating func links(
        _ nodes: [Node], behind value: String, shape: [Int], split: (axis: Int, inner: Int)? = nil, groups: [Range<Int>]
    ) -> (links: [DeviceLink], result: String)? {
        var links: [DeviceLink] = []
        var result = value
        for node in nodes {
            if let functions = ElementLinks(node, initialisers) {
                links += functions.list
            } else {
                guard node.inputs.count == 2, let index = node.inputs.firstIndex(of: result),
                    let kind = bg_link_kind(node, isSecond: index == 1),
                    let operand = operand(node.inputs[1 - index], shape: shape, split: split, groups: groups)
                else { return nil }
                links.append(DeviceLink(kind: kind, operand: operand))
            }
            result = node.result
        }
        return (links, result)
    }

    /// A value as an operand of elements of `shape`; copied where no four strides reach its elements.
    mutating func operand(
        _ name: String, shape: [Int], split: (axis: Int, inner: Int)? = nil, groups: [Range<Int>]
    ) -> (value: DeviceValue, strides: [Int])? {
        guard let source = value(name)?.broadcast(to: shape) else { return nil }
        for isPlain in [false, true] {
            var operand = isPlain ? plain(source) : source
            if let split { operand = operand.split(split.axis, inner: split.inner) }
            if let strides = operand.strides(over: groups) { return (operand, strides) }
        }
        return nil
    }

    /// Where and how the result of a product with followers is written; `bias` is a value with strides of j, row and column,
    /// the rest as for ``links(_:behind:shape:split:groups:)``.
    mutating func resultPlan(
        _ node: Node, _ followers: [Node], shape: [Int], split: (axis: Int, inner: Int)? = nil, groups: [Range<Int>],
        bias: (value: DeviceValue, strides: [Int])? = nil
    ) -> ResultPlan? {
        guard
            let (links, name) = self.links(
                followers, behind: node.outputs[0], shape: shape, split: split, groups: groups)
        else { return nil }
        let target = newValue(name, shape: shape)
        let parts = split.map { target.split($0.axis, inner: $0.inner) } ?? target
        guard let strides = parts.strides(over: groups) else { return nil }
        var plan = ResultPlan(name: name, target: target, strides: Array(strides.prefix(3)))
        plan.bias = bias
        plan.append(links, &self)
        return plan
    }
}

extension DeviceValue {
    /// One axis read as two, the inner of the given extent.
    func split(_ axis: Int, inner: Int) -> DeviceValue {
        var value = self
        value.shape.replaceSubrange(axis...axis, with: [shape[axis] / inner, inner])
        value.strides.replaceSubrange(axis...axis, with: [strides[axis] * inner, strides[axis]])
        return value
    }
}
