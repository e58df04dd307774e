/// Values by name, and the nodes that make them, each behind those it takes values from.
package struct Graph: Sendable {
    /// A value that is given to the graph, or taken from it.
    package struct Port: Sendable {
        package var name: String
        /// As the file declares it; nil where it does not.
        package var type: TensorType?

        package init(_ name: String, _ type: TensorType?) {
            self.name = name
            self.type = type
        }

        /// The same with a name for each open extent that has none, so that it can be told and set.
        package var withNamedExtents: Port {
            guard var type else { return self }
            type.shape = type.shape?.enumerated().map { axis, dimension in
                dimension == .unknown ? .symbol(Dimension.name(of: axis, of: name)) : dimension
            }
            return Port(name, type)
        }
    }

    package var name: String
    /// What a run must be given: declared inputs that are no initialisers.
    package var inputs: [Port]
    package var outputs: [Port]
    package var initialisers: [String: Tensor]
    package var nodes: [Node]

    package init(
        name: String = "", inputs: [Port], outputs: [Port], initialisers: [String: Tensor] = [:], nodes: [Node]
    ) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.initialisers = initialisers
        self.nodes = nodes
    }

    /// Names that the graph takes from the graphs around it.
    package var captures: Set<String> {
        var own = Set(inputs.map(\.name)).union(initialisers.keys)
        var captures: Set<String> = []
        for node in nodes.flatMap(\.chain) {
            for input in node.requiredNames where !own.contains(input) { captures.insert(input) }
            own.formUnion(node.outputs)
        }
        for output in outputs where !own.contains(output.name) { captures.insert(output.name) }
        return captures
    }
}

extension Node {
    /// Values that must be there before it runs: its inputs, and what its subgraphs take from around them.
    package var requiredNames: Set<String> {
        var names = subgraphs.reduce(into: Set(inputs.filter { !$0.isEmpty })) { $0.formUnion($1.captures) }
        var own = Set(outputs)
        for follower in followers {
            names.formUnion(follower.requiredNames.subtracting(own))
            own.formUnion(follower.outputs)
        }
        return names
    }
}
