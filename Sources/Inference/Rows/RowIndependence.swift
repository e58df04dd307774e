/// Whether the rows of a batch go through a model without touching each other, so that it may be run on some of them at a
/// time and gives each the result that it has among the others.
///
/// A value is made of rows when its first axis is that of the batch, or the batch's times something: then the elements of a row
/// lie together, in the order of the rows. Each operator that gets such a value has to keep it so; one that is not known to do
/// is taken to mix rows.
package struct RowIndependence {
    private let rows: Int
    private let facts: [String: Fact]
    /// Values that are made of rows.
    private var divided: Set<String>

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
        guard whole.unsupported.isEmpty else { return false }
        var walk = RowIndependence(rows: rows, facts: whole.facts, divided: Set(types.keys))
        for node in graph.nodes.flatMap(\.chain) {
            guard walk.passes(node) else { return false }
        }
        // What an extent that happens to be the number of rows was taken for is found here.
        let fewTypes = types.mapValues { $0.withRows(few) }
        guard let part = try? ShapeInference().infer(graph, inputs: fewTypes.mapValues { Fact($0) }) else {
            return false
        }
        for name in walk.divided {
            guard let many = whole.facts[name]?.type.extents, let less = part.facts[name]?.type.extents,
                many.first.map({ $0 / rows * few }) == less.first, many.dropFirst() == less.dropFirst()
            else { return false }
        }
        return graph.outputs.allSatisfy {
            walk.divided.contains($0.name) && whole.facts[$0.name]?.type.extents?.first == rows
        }
    }

    private init(rows: Int, facts: [String: Fact], divided: Set<String>) {
        self.rows = rows
        self.facts = facts
        self.divided = divided
    }

    /// - Returns: Whether the node keeps rows apart; what it makes is then known to be made of rows or not.
    private mutating func passes(_ node: Node) -> Bool {
        guard node.inputs.contains(where: divided.contains) else {
            // The same for every row.
            if ["Expand", "ConstantOfShape"].contains(node.operatorName), let name = node.outputs.first,
                let out = extents(name), out.first == rows, repeatsAlongFirst(node, out)
            {
                divided.insert(name)
            }
            return node.subgraphs.isEmpty
        }
        // It says of what size the values are, and nothing of what is in them.
        if ["Shape", "Size"].contains(node.operatorName) { return true }
        guard node.domain.isEmpty, node.subgraphs.isEmpty, let result = node.outputs.first,
            node.outputs.dropFirst().allSatisfy(\.isEmpty) || node.operatorName == "Split",
            let out = extents(result), let first = out.first, first % rows == 0, keepsApart(node, out)
        else { return false }
        divided.formUnion(node.outputs.filter { !$0.isEmpty })
        return true
    }

    private func repeatsAlongFirst(_ node: Node, _ out: [Int]) -> Bool {
        guard node.operatorName == "Expand" else { return true }
        guard let source = extents(node.inputs.first) else { return false }
        return source.count < out.count || source.first == 1
    }

    private func keepsApart(_ node: Node, _ out: [Int]) -> Bool {
        let isDivided = node.inputs.map(divided.contains)
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
        case "QuantizeLinear", "DequantizeLinear":
            return keepsFirst && (extents(node.inputs[1]) == [] || axis(node, out.count, default: 1) != 0)
        case "Softmax", "LogSoftmax":
            return keepsFirst && axis(node, out.count, default: node.opset < 13 ? 1 : -1) != 0
        case "LayerNormalization":
            return keepsFirst && axis(node, out.count, default: -1) != 0
        case "MatMul", "MatMulInteger":
            return keepsProductApart(node, out)
        case "Gemm":
            let addend = node.inputs.count > 2 ? node.inputs[2] : ""
            return isDivided[0] && !isDivided[1] && (node.int("transA") ?? 0) == 0
                && (addend.isEmpty || isAlongside(addend, out))
        case let name where name.hasPrefix("Reduce"):
            guard keepsFirst, let axes = list(node, "axes", input: 1), !axes.isEmpty else { return false }
            return !normalised(axes, first.count).contains(0)
        case "Transpose":
            return node.ints("perm")?.first == 0
        case "Concat":
            return axis(node, out.count, default: 0) != 0
                && node.inputs.allSatisfy { divided.contains($0) && extents($0)?.first == out.first }
        case "Split":
            return keepsFirst && axis(node, out.count, default: 0) != 0
        case "Slice":
            guard keepsFirst, let axes = list(node, "axes", input: 3) else { return false }
            return !normalised(axes, out.count).contains(0)
        case "Gather":
            let isByRow = !isDivided[0] && isDivided[1] && axis(node, first.count, default: 0) == 0
            return isByRow || (keepsFirst && axis(node, first.count, default: 0) != 0)
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
        let isByMatrix = out.count > 2 && node.inputs.prefix(2).allSatisfy { isAlongside($0, out) }
        let isByRow =
            divided.contains(node.inputs[0]) && !divided.contains(node.inputs[1]) && left.count == 2 && right.count == 2
        return isByMatrix || isByRow
    }

    /// A value whose elements go with those of the result: of the same row, or the same ones for all.
    private func isAlongside(_ name: String, _ out: [Int]) -> Bool {
        guard let extents = extents(name) else { return false }
        if divided.contains(name) { return extents.count == out.count && extents.first == out.first }
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
        "AveragePool", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "Dropout", "GlobalAveragePool",
        "GlobalLpPool", "GlobalMaxPool", "GroupNormalization", "Identity", "InstanceNormalization", "LRN", "LpPool",
        "MaxPool", "QLinearConv", "Resize", "SpaceToDepth", "Upsample",
    ]
}
