/// Looks around in a graph for nodes that belong together.
struct GraphPatterns {
    let graph: Graph
    let uses: ValueUses
    private let makers: [String: Int]

    init(_ graph: Graph) {
        self.graph = graph
        uses = ValueUses(graph)
        makers = Dictionary(
            graph.nodes.enumerated().flatMap { place, node in node.outputs.map { ($0, place) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The place of the standard's node of that name that makes the value, without followers.
    func maker(of value: String, _ name: String) -> Int? {
        guard let place = makers[value], graph.nodes[place].isStandard(name), graph.nodes[place].followers.isEmpty
        else { return nil }
        return place
    }

    /// The place of the only node that takes the value, where it is the standard's of that name without followers.
    func taker(of value: String, _ names: String...) -> Int? {
        guard let place = uses.onlyTaker(of: value), graph.nodes[place].followers.isEmpty,
            names.contains(where: graph.nodes[place].isStandard)
        else { return nil }
        return place
    }

    /// The other input of a node of two.
    func other(_ place: Int, than value: String) -> String? {
        let inputs = graph.nodes[place].inputs
        guard inputs.count == 2, let index = inputs.firstIndex(of: value) else { return nil }
        return inputs[1 - index]
    }

    /// The constant of one element and at most one axis.
    func number(_ value: String) -> Double? {
        guard let tensor = graph.initialisers[value], tensor.count == 1, tensor.shape.count <= 1 else { return nil }
        return tensor.doubles().first
    }

    /// The number that a node of two takes beside the value.
    func number(_ place: Int, besides value: String) -> Double? { other(place, than: value).flatMap(number) }

    /// The value that is multiplied by about that factor to make this one: by Mul, or by Div.
    func unscaled(_ value: String, by factor: Double) -> (place: Int, source: String)? {
        if let place = maker(of: value, "Mul") {
            for source in graph.nodes[place].inputs {
                if let number = number(place, besides: source), isClose(number, factor) { return (place, source) }
            }
        }
        if let place = maker(of: value, "Div"), graph.nodes[place].inputs.count == 2 {
            let inputs = graph.nodes[place].inputs
            if let number = number(inputs[1]), isClose(number * factor, 1) { return (place, inputs[0]) }
        }
        return nil
    }

    /// Equal as far as float32 and rounded constants go.
    func isClose(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= 1e-4 * abs(other) }

    /// Puts one node in place of those that it is the same as; those whose results others take stay.
    ///
    /// - Parameters:
    ///   - nodes: By the place of the last node that it replaces.
    ///   - removed: Places of the others.
    /// - Returns: The changed graph.
    func replacing(_ nodes: [Int: Node], removed: Set<Int>) -> Graph {
        var result = graph
        result.nodes = graph.nodes.indices.compactMap { place in
            nodes[place] ?? (removed.contains(place) ? nil : graph.nodes[place])
        }
        return result
    }
}
