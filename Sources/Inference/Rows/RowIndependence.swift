/// Whether the rows of a batch go through a model without touching each other, so that it may be run on some of them at a
/// time and gives each the result that it has among the others.
///
/// A value is made of rows when one of its axes is that of the batch, or its first is the batch's times something: then the
/// elements of a row lie together, in the order of the rows. Each operator that gets such a value has to keep it so; one that
/// is not known to do is taken to mix rows.
package struct RowIndependence {
    private let rows: Int
    private let facts: [String: Fact]
    private let factsOfFew: [String: Fact]
    /// Values that are made of rows, with the axis of these.
    private var divided: [String: Int]
    /// Values that follow from the sizes of those, and with them perhaps from the number of rows.
    private var measured: Set<String> = []

    /// - Parameters:
    ///   - graph: As it was loaded.
    ///   - types: Of its inputs, all with the same first extent.
    ///   - few: Rows that it is to be run on instead, a divisor of that extent.
    /// - Returns: Whether that is so as far as it is known.
    /// - Throws: `damaged` where shapes do not fit together.
    package static func holds(
        for graph: Graph, inputs types: [String: TensorType], few: Int
    ) throws(ModelError) -> Bool {
        guard let rows = types.values.first?.extents?.first, rows > few, few > 0, rows % few == 0,
            types.count == graph.inputs.count, types.values.allSatisfy({ $0.extents?.first == rows })
        else { return false }
        let whole = try ShapeInference().infer(graph, inputs: types.mapValues { Fact($0) })
        // Where the file counts on a number of rows, there is nothing to be known of fewer.
        let fewTypes = types.mapValues { $0.withRows(few) }
        guard whole.unsupported.isEmpty,
            let part = try? ShapeInference().infer(graph, inputs: fewTypes.mapValues { Fact($0) })
        else { return false }
        var walk = RowIndependence(
            rows: rows, facts: whole.facts, factsOfFew: part.facts, divided: types.mapValues { _ in 0 })
        for node in graph.nodes.flatMap(\.chain) {
            guard walk.passes(node) else { return false }
        }
        // What an extent that happens to be the number of rows was taken for is found here.
        for (name, axis) in walk.divided {
            guard var many = whole.facts[name]?.type.extents, let less = part.facts[name]?.type.extents else {
                return false
            }
            many[axis] = many[axis] / rows * few
            guard many == less else { return false }
        }
        return graph.outputs.allSatisfy {
            walk.divided[$0.name] == 0 && whole.facts[$0.name]?.type.extents?.first == rows
        }
    }

    private init(rows: Int, facts: [String: Fact], factsOfFew: [String: Fact], divided: [String: Int]) {
        self.rows = rows
        self.facts = facts
        self.factsOfFew = factsOfFew
        self.divided = divided
    }

    /// - Returns: Whether the node keeps rows apart; what it makes is then known to be made of rows or not.
    private mutating func passes(_ node: Node) -> Bool {
        guard node.subgraphs.isEmpty else { return false }
        let axes = Set(node.inputs.compactMap { divided[$0] })
        guard !axes.isEmpty else {
            if repeatsForEachRow(node) {
                for name in node.outputs { divided[name] = 0 }
            } else if node.inputs.contains(where: measured.contains) {
                measured.formUnion(node.outputs)
            }
            return true
        }
        // It says of what size the values are, and nothing of what is in them.
        if ["Shape", "Size"].contains(node.operatorName) {
            measured.formUnion(node.outputs)
            return true
        }
        guard let axis = axes.first, axes.count == 1, node.domain.isEmpty, let result = node.outputs.first,
            node.outputs.dropFirst().allSatisfy(\.isEmpty) || node.operatorName == "Split",
            let out = extents(result),
            node.inputs.indices.allSatisfy({ isSame(node.inputs[$0]) || isShape($0, of: node) }),
            let next = nextAxis(node, axis, out), next == 0 ? out[0] % rows == 0 : out[next] == rows
        else { return false }
        for name in node.outputs where !name.isEmpty { divided[name] = next }
        return true
    }

    /// Along which axis the rows of the result lie; nil where they may not be kept apart.
    private func nextAxis(_ node: Node, _ axis: Int, _ out: [Int]) -> Int? {
        guard let first = extents(node.inputs[0]), !out.isEmpty else { return nil }
        switch node.operatorName {
        case "Transpose":
            return node.ints("perm")?.firstIndex(of: axis)
        case "Gather" where divided[node.inputs[0]] != nil && divided[node.inputs[1]] == nil:
            let along = self.axis(node, first.count, default: 0)
            guard along != axis, let places = extents(node.inputs[1]) else { return nil }
            return along < axis ? axis - 1 + places.count : axis
        default:
            return axis == 0 && keepsApart(node, out) ? 0 : nil
        }
    }

    /// Whether a value that is not made of rows has the same elements for fewer of them.
    private func isSame(_ name: String) -> Bool {
        guard measured.contains(name), divided[name] == nil else { return true }
        guard let value = facts[name]?.value, let other = factsOfFew[name]?.value else { return false }
        return value.shape == other.shape && value.doubles() == other.doubles()
    }

    /// Whether an input says nothing but of what shape the output is, which is compared as a whole.
    private func isShape(_ input: Int, of node: Node) -> Bool {
        input == 1 && ["Reshape", "Expand"].contains(node.operatorName)
    }

    /// What is repeated as often as there are rows is the same for each.
    private func repeatsForEachRow(_ node: Node) -> Bool {
        guard let name = node.outputs.first, let out = extents(name), out.first == rows else { return false }
        switch node.operatorName {
        case "ConstantOfShape": return true
        case "Expand":
            guard let source = extents(node.inputs.first) else { return false }
            return isSame(node.inputs[0]) && (source.count < out.count || source.first == 1)
        default: return false
        }
    }

    /// Of a node whose inputs are divided along their first axis, and so is its result.
    private func keepsApart(_ node: Node, _ out: [Int]) -> Bool {
        let isDivided = node.inputs.map { divided[$0] != nil }
        let first = extents(node.inputs.first) ?? []
        /// Only the first input has rows, and it keeps their number.
        let keepsFirst = isDivided[0] && !isDivided.dropFirst().contains(true) && first.first == out.first
        switch node.operatorName {
        case let name where Self.elementwise.contains(name):
            return node.inputs.allSatisfy { $0.isEmpty || isAlongside($0, out) }
        case "Reshape", "Squeeze", "Unsqueeze", "Flatten":
            // Elements stay in their order, so that whoever has the first axis divided has it by rows.
            return isDivided[0] && !isDivided.dropFirst().contains(true)
        case "BatchNormalization":
            return keepsFirst && (node.int("training_mode") ?? 0) == 0
        case let name where Self.rowByRow.contains(name):
            return keepsFirst
        case "Dropout":
            // Nothing is dropped at random without a third input.
            return keepsFirst && node.inputs.count < 3
        case "QuantizeLinear", "DequantizeLinear":
            guard keepsFirst, let scale = extents(node.inputs[1]) else { return false }
            return scale.isEmpty || (scale.count == 1 && axis(node, out.count, default: 1) != 0)
        case "Softmax", "LogSoftmax":
            return keepsFirst && axis(node, out.count, default: node.opset < 13 ? 1 : -1) != 0
        case "LayerNormalization":
            return keepsFirst && axis(node, out.count, default: -1) != 0
                && node.inputs.dropFirst().allSatisfy { $0.isEmpty || isAlongside($0, out) }
        case "MatMul":
            return keepsProductApart(node, out)
        case "Gemm":
            let addend = node.inputs.count > 2 ? node.inputs[2] : ""
            return isDivided[0] && !isDivided[1] && (node.int("transA") ?? 0) == 0
                && (addend.isEmpty || isAlongside(addend, out))
        case let name where name.hasPrefix("Reduce"):
            guard keepsFirst, let axes = list(node, "axes", input: 1), !axes.isEmpty else { return false }
            return !normalised(axes, first.count).contains(0)
        case "Concat":
            return axis(node, out.count, default: 0) != 0
                && node.inputs.allSatisfy { divided[$0] != nil && extents($0)?.first == out.first }
        case "Split":
            return keepsFirst && axis(node, out.count, default: 0) != 0
        case "Slice":
            guard keepsFirst, let axes = list(node, "axes", input: 3) else { return false }
            return !normalised(axes, out.count).contains(0)
        case "Gather":
            // Of a table that is the same for all.
            return !isDivided[0] && axis(node, first.count, default: 0) == 0
        case "Expand":
            return keepsFirst && first.count == out.count
        case "Pad":
            guard keepsFirst, node.inputs.count < 4, let pads = list(node, "pads", input: 1) else { return false }
            return pads.count == 2 * out.count && pads[0] == 0 && pads[out.count] == 0
        default:
            return false
        }
    }

    /// A product of matrices takes rows of the left side, or whole matrices of either.
    private func keepsProductApart(_ node: Node, _ out: [Int]) -> Bool {
        guard let left = extents(node.inputs[0]), let right = extents(node.inputs[1]) else { return false }
        let isByMatrix = out.count > 2 && node.inputs.allSatisfy { isAlongside($0, out) }
        let isByRow =
            divided[node.inputs[0]] != nil && divided[node.inputs[1]] == nil && left.count == 2 && right.count == 2
        return isByMatrix || isByRow
    }

    /// A value whose elements go with those of the result: of the same row, or the same ones for all.
    private func isAlongside(_ name: String, _ out: [Int]) -> Bool {
        guard let extents = extents(name) else { return false }
        if divided[name] != nil { return extents.count == out.count && extents.first == out.first }
        return extents.count < out.count || extents.first == 1
    }

    private func extents(_ name: String?) -> [Int]? { name.flatMap { facts[$0]?.type.extents } }

    private func axis(_ node: Node, _ rank: Int, default axis: Int) -> Int {
        let axis = node.int("axis") ?? axis
        return axis < 0 ? axis + rank : axis
    }

    private func normalised(_ axes: [Int], _ rank: Int) -> [Int] { axes.map { $0 < 0 ? $0 + rank : $0 } }

    /// As ``ShapeCall/list(_:input:)``; nil where it is not known or left out.
    private func list(_ node: Node, _ attribute: String, input: Int) -> [Int]? {
        node.ints(attribute) ?? (input < node.inputs.count ? facts[node.inputs[input]]?.value?.indices() : nil)
    }

    private static let elementwise = Set(Operators.elementwise.map(\.name))
    /// Operators that treat what lies along the first axis of their first input alike, whatever the others are.
    private static let rowByRow: Set<String> = [
        "AveragePool", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "GlobalAveragePool",
        "GlobalLpPool", "GlobalMaxPool", "GroupNormalization", "Identity", "InstanceNormalization", "LRN", "LpPool",
        "MaxPool", "QLinearConv", "Resize", "SpaceToDepth", "Upsample",
    ]
}
