extension Model {
    /// Rows that a model may take at once.
    private static var possibleRows: ClosedRange<Int> { 1...65_536 }

    /// The model with extents that its inputs and outputs leave open, by their names. An extent of 0 is open too: old
    /// exporters write it for one that they do not know.
    package func withExtents(_ extents: [String: Int]) -> Model {
        func resolved(_ ports: [Graph.Port]) -> [Graph.Port] {
            ports.map { port in
                guard var type = port.type else { return port }
                type.shape = type.shape?.enumerated().map { axis, dimension -> Dimension in
                    switch dimension {
                    case .symbol(let name): extents[name].map { .known($0) } ?? dimension
                    case .known(0): extents[Dimension.name(of: axis, of: port.name)].map { .known($0) } ?? .unknown
                    case .known, .unknown: dimension
                    }
                }
                return Graph.Port(port.name, type)
            }
        }
        var model = self
        model.graph.inputs = resolved(graph.inputs)
        model.graph.outputs = resolved(graph.outputs)
        return model
    }

    /// Names of extents that the inputs leave open.
    package var openExtents: Set<String> {
        var names: Set<String> = []
        for port in graph.inputs {
            for (axis, dimension) in (port.type?.shape ?? []).enumerated() {
                switch dimension {
                case .symbol(let name): names.insert(name)
                case .known(0): names.insert(Dimension.name(of: axis, of: port.name))
                case .known, .unknown: continue
                }
            }
        }
        return names
    }

    /// Rows that always go through at once, as the first extents of the inputs have it; nil where those are open.
    ///
    /// - Throws: `wrongInput` for a number of rows that is not possible.
    package func fixedRows() throws(ModelError) -> Int? {
        for port in graph.inputs {
            guard let rows = port.type?.shape?.first?.extent, !Self.possibleRows.contains(rows) else { continue }
            let possible = "1 to \(Self.possibleRows.upperBound)"
            throw .wrongInput("the input \"\(port.name)\" takes \(rows) rows at once; \(possible) are possible")
        }
        return graph.inputs.compactMap { $0.type?.shape?.first?.extent }.first
    }

    /// Whether several rows may go through at once: each output is known to have a row for each, however many they are.
    ///
    /// - Parameters:
    ///   - single: Types of the inputs with a leading extent of 1.
    ///   - rows: How many are to go through.
    /// - Returns: False where shapes do not tell, as behind nodes that find out how much there is.
    package func givesRows(for single: [String: TensorType], atOnce rows: Int) -> Bool {
        givesRows(for: single, of: [1, rows])
    }

    /// The same for some numbers of rows.
    package func givesRows(for single: [String: TensorType], of counts: [Int]) -> Bool {
        counts.allSatisfy { count in
            outputShapes(single.mapValues { $0.withRows(count) }).allSatisfy { $0?.first?.extent == count }
        }
    }

    /// Outputs that have a row for each of the inputs; others are one result of all of them together.
    ///
    /// It does not depend on what is in the inputs: an output of as many boxes as were found is none of these when as many were
    /// found as there are inputs.
    ///
    /// - Parameter types: Of the inputs, all with the same first extent.
    /// - Returns: Names; where shapes do not tell, what the file says is believed.
    package func rowOutputs(_ types: [String: TensorType]) -> Set<String> {
        let rows = types.values.first?.shape?.first
        let leading = graph.inputs.map { $0.type?.shape?.first }
        var names: Set<String> = []
        for (output, shape) in zip(graph.outputs, outputShapes(types)) {
            var first = shape?.first
            if shape?.isEmpty != true, first?.extent == nil { first = output.type?.shape?.first }
            // The name of the inputs' first extent, which is open.
            let isNamed = if case .symbol? = first { leading.contains(first) } else { false }
            if isNamed || first?.extent != nil && first == rows { names.insert(output.name) }
        }
        return names
    }

    /// Whether the rows of outputs have other shapes for texts of another length: for another second extent of the inputs.
    package func rowsFollowLength(_ length: Int, _ other: Int) -> Bool {
        let shapes = [length, other].map { length -> [[Dimension]?] in
            var types: [String: TensorType] = [:]
            for port in graph.inputs {
                guard var type = port.type else { continue }
                type.shape = type.shape?.enumerated().map { axis, dimension -> Dimension in
                    axis < 2 && dimension.extent == nil ? .known(axis == 0 ? 1 : length) : dimension
                }
                types[port.name] = type
            }
            return outputShapes(types)
        }
        return shapes[0] != shapes[1]
    }

    /// What follows for the first output from the inputs, with one row where it is open how many there are; nil where nothing
    /// does.
    package var firstOutput: TensorType? {
        var types: [String: TensorType] = [:]
        for port in graph.inputs {
            guard let type = port.type else { continue }
            types[port.name] = type.shape?.first?.extent == nil ? type.withRows(1) : type
        }
        let facts = (try? ShapeInference().infer(graph, inputs: types.mapValues { Fact($0) }))?.facts
        return graph.outputs.first.flatMap { facts?[$0.name]?.type }
    }

    /// What follows from the types of the inputs, in the order of the outputs; nil where nothing does.
    private func outputShapes(_ types: [String: TensorType]) -> [[Dimension]?] {
        let facts = (try? ShapeInference().infer(graph, inputs: types.mapValues { Fact($0) }))?.facts
        return graph.outputs.map { facts?[$0.name]?.type.shape }
    }
}
