/// What a person wants to know of a model before it is run.
package struct ModelSummary: Codable, Hashable, Sendable {
    package struct Port: Codable, Hashable, Sendable {
        package var name: String
        package var elementType: String?
        /// Extents as numbers, names such as `batch`, or `pixels:0` for an open one of an input that has none, or `?`; nil where
        /// not even their number is known.
        package var shape: [String]?

        init(_ name: String, _ type: TensorType?) {
            self.name = name
            elementType = type?.elementType.rawValue
            shape = type?.shape?.map(\.description)
        }
    }

    package struct OperatorUse: Codable, Hashable, Sendable {
        package var name: String
        package var nodes: Int
        /// Nil where an extent is not known.
        package var multiplyAdds: Int?
    }

    package var producer: String
    /// Versions of the operators by domain; the standard's own is `ai.onnx`.
    package var opsets: [String: Int]
    package var inputs: [Port]
    package var outputs: [Port]
    package var parameters: Int
    package var parameterBytes: Int
    /// By their multiply-adds, then by their number. Nodes inside of subgraphs are not counted.
    package var operators: [OperatorUse]
    package var nodes: Int
    package var multiplyAdds: Int?
    /// Bytes of the values that are alive at once when nodes run in order and each value is given up after its last use;
    /// nil where an extent is not known, or they cannot be counted.
    package var liveBytes: Int?

    /// - Parameters:
    ///   - model: As it was loaded.
    ///   - extents: For names of extents, e.g. `batch`.
    /// - Throws: `damaged` where shapes do not fit together, `unsupported` for element types and values of attributes,
    ///   `wrongInput` for a name that no input has.
    package init(_ model: Model, extents: [String: Int] = [:]) throws(ModelError) {
        let graph = model.graph
        var given: [String: Fact] = [:]
        var unused = Set(extents.keys)
        for port in graph.inputs {
            guard var type = port.type else { continue }
            type.shape = type.shape?.map { dimension in
                guard case .symbol(let name) = dimension, let extent = extents[name] else { return dimension }
                unused.remove(name)
                return .known(extent)
            }
            given[port.name] = Fact(type)
        }
        if let name = unused.min() { throw .wrongInput("no input has an extent called \"\(name)\"") }
        let inferred = try ShapeInference().infer(graph, inputs: given)
        if !inferred.unsupported.isEmpty { throw .unsupported(inferred.unsupported) }
        let facts = inferred.facts

        producer = model.producer
        opsets = Dictionary(uniqueKeysWithValues: model.opsets.map { ($0.key.isEmpty ? "ai.onnx" : $0.key, $0.value) })
        inputs = graph.inputs.map { Port($0.name, given[$0.name]?.type) }
        outputs = graph.outputs.map { Port($0.name, facts[$0.name]?.type ?? $0.type) }
        let constants = Self.constants(graph)
        parameters = constants.reduce(0) { $0 + $1.count }
        parameterBytes = constants.reduce(0) { $0 + $1.count * $1.elementType.byteCount }
        nodes = graph.nodes.count
        let uses = Dictionary(grouping: graph.nodes, by: \.operatorName).map { name, nodes in
            OperatorUse(
                name: name, nodes: nodes.count, multiplyAdds: Self.sum(nodes.map { MultiplyAdds.count($0, facts) }))
        }
        operators = uses.sorted {
            ($1.multiplyAdds ?? .max, $1.nodes, $0.name) < ($0.multiplyAdds ?? .max, $0.nodes, $1.name)
        }
        multiplyAdds = Self.sum(uses.map(\.multiplyAdds))
        liveBytes = Self.liveBytes(graph, facts)
    }

    /// Initialisers, and what Constant nodes give, which some exporters keep weights in; those of subgraphs included.
    private static func constants(_ graph: Graph) -> [(count: Int, elementType: ElementType)] {
        var constants = graph.initialisers.values.map { ($0.count, $0.elementType) }
        for node in graph.nodes {
            for inner in node.subgraphs { constants += self.constants(inner) }
            guard node.isStandard("Constant") else { continue }
            for attribute in node.attributes.values {
                switch attribute {
                case .tensor(let tensor): constants.append((tensor.count, tensor.elementType))
                case .float: constants.append((1, .float32))
                case .floats(let values): constants.append((values.count, .float32))
                case .int: constants.append((1, .int64))
                case .ints(let values): constants.append((values.count, .int64))
                case .string: constants.append((1, .string))
                case .strings(let values): constants.append((values.count, .string))
                case .graph: continue
                }
            }
        }
        return constants
    }

    private static func sum(_ counts: [Int?]) -> Int? {
        var sum = 0
        for count in counts {
            guard let count else { return nil }
            let (next, isTooLarge) = sum.addingReportingOverflow(count)
            if isTooLarge { return nil }
            sum = next
        }
        return sum
    }

    private static func liveBytes(_ graph: Graph, _ facts: [String: Fact]) -> Int? {
        var lastUse: [String: Int] = [:]
        for (place, node) in graph.nodes.enumerated() {
            for name in node.requiredNames.union(node.outputs) { lastUse[name] = place }
        }
        for output in graph.outputs { lastUse[output.name] = graph.nodes.count }
        var ends = Dictionary(grouping: lastUse.keys) { lastUse[$0] ?? 0 }
        var sizes: [String: Int] = [:]
        var (alive, most) = (0, 0)
        func begin(_ name: String) -> Bool {
            guard !name.isEmpty, graph.initialisers[name] == nil else { return true }
            guard let type = facts[name]?.type, let extents = type.extents, let count = try? Extents.count(extents)
            else {
                return false
            }
            let (size, isTooLarge) = count.multipliedReportingOverflow(by: type.elementType.byteCount)
            let (sum, isSumTooLarge) = alive.addingReportingOverflow(size)
            guard !isTooLarge, !isSumTooLarge else { return false }
            sizes[name] = size
            alive = sum
            return true
        }
        guard graph.inputs.allSatisfy({ begin($0.name) }) else { return nil }
        for (place, node) in graph.nodes.enumerated() {
            guard node.outputs.allSatisfy(begin) else { return nil }
            most = max(most, alive)
            for name in ends.removeValue(forKey: place) ?? [] { alive -= sizes.removeValue(forKey: name) ?? 0 }
        }
        return max(most, alive)
    }
}
