import Foundation

extension Operators {
    static let recurrence: [OperatorDefinition] = [
        recurrent("LSTM", gates: 4, activations: ["Sigmoid", "Tanh", "Tanh"], inputs: 3...8),
        recurrent("GRU", gates: 3, activations: ["Sigmoid", "Tanh"], inputs: 3...6),
        recurrent("RNN", gates: 1, activations: ["Tanh"], inputs: 3...6),
    ]

    /// X (sequence × batch × input), W (directions × gates · hidden × input), R (directions × gates · hidden × hidden),
    /// B (directions × 2 · gates · hidden), sequence lengths (batch), initial h and c (directions × batch × hidden), P
    /// (directions × 3 · hidden). Layout 1 has the batch in front.
    private static func recurrent(
        _ name: String, gates: Int, activations: [String], inputs: ClosedRange<Int>
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [7, 14], inputs: inputs, outputs: 0...(name == "LSTM" ? 3 : 2),
            types: [.floats, .first, .first, .first, .only(.int32), .first, .first, .first],
            attributes: [
                "activation_alpha": .floats, "activation_beta": .floats, "activations": .strings, "clip": .float,
                "direction": .string, "hidden_size": .int, "input_forget": .int, "layout": .int,
                "linear_before_reset": .int,
            ],
            infer: { call throws(ModelError) in try recurrentShape(call, gates: gates, standard: activations) }
        ) { call throws(ModelError) in
            try RecurrentRun(call, name: name, gates: gates, standard: activations).outputs()
        }
    }

    private static func recurrentShape(
        _ call: ShapeCall, gates: Int, standard: [String]
    ) throws(ModelError) -> [TensorType] {
        let type = call.elementType()
        _ = try RecurrentFunctions(call.node, standard: standard)
        for input in 0...2 { try Shapes.expect(call, input, rank: 3...3) }
        guard let x = call.shape(0), let w = call.shape(1), let r = call.shape(2) else {
            return [TensorType(type, nil), TensorType(type, nil), TensorType(type, nil)]
        }
        let directions = call.node.string("direction") == "bidirectional" ? 2 : 1
        let hidden = try Shapes.same(
            r[2], call.node.int("hidden_size").map { .known($0) } ?? .unknown, "hidden_size and R")
        let rows = try Shapes.product([hidden, .known(gates)])
        for weights in [w, r] {
            try Shapes.same(weights[0], .known(directions), "directions")
            try Shapes.same(weights[1], rows, "rows of the weights")
        }
        try Shapes.same(w[2], x[2], "columns of W and inputs")
        let isBatchFirst = call.node.int("layout") == 1
        let (length, batch) = isBatchFirst ? (x[1], x[0]) : (x[0], x[1])
        let state: [Dimension] =
            isBatchFirst ? [batch, .known(directions), hidden] : [.known(directions), batch, hidden]
        var expected: [(Int, [Dimension])] = [
            (3, [.known(directions), try Shapes.product([rows, .known(2)])]), (4, [batch]),
        ]
        expected += [(5, state), (6, state), (7, [.known(directions), try Shapes.product([hidden, .known(3)])])]
        for (input, wanted) in expected where call.has(input) {
            guard let shape = call.shape(input) else { continue }
            guard shape.count == wanted.count else { throw .damaged("input \(input) has \(shape.count) axes") }
            for (one, other) in zip(shape, wanted) { try Shapes.same(one, other, "extents of input \(input)") }
        }
        let all: [Dimension] =
            isBatchFirst ? [batch, length, .known(directions), hidden] : [length, .known(directions), batch, hidden]
        return [TensorType(type, all), TensorType(type, state), TensorType(type, state)]
    }
}

/// The functions of the gates, by direction.
struct RecurrentFunctions {
    private var functions: [@Sendable (Double) -> Double] = []
    private let count: Int

    init(_ node: Node, standard: [String]) throws(ModelError) {
        let directions = node.string("direction") == "bidirectional" ? 2 : 1
        guard ["forward", "reverse", "bidirectional"].contains(node.string("direction") ?? "forward") else {
            throw .damaged("there is no direction \"\(node.string("direction") ?? "")\"")
        }
        count = standard.count
        let names = node.strings("activations") ?? Array(repeating: standard, count: directions).flatMap { $0 }
        guard names.count == count * directions else { throw .damaged("it has \(names.count) activations") }
        let (alphas, betas) = (node.floats("activation_alpha") ?? [], node.floats("activation_beta") ?? [])
        for (index, name) in names.enumerated() {
            functions.append(try Self.function(name, alphas[safe: index], betas[safe: index]))
        }
    }

    func apply(_ index: Int, direction: Int, _ value: Double) -> Double { functions[direction * count + index](value) }

    private static func function(
        _ name: String, _ alpha: Double?, _ beta: Double?
    ) throws(ModelError) -> @Sendable (Double) -> Double {
        switch name.lowercased() {
        case "sigmoid": return { 1 / (1 + exp(-$0)) }
        case "tanh": return { tanh($0) }
        case "relu": return { max($0, 0) }
        case "affine": return { (alpha ?? 1) * $0 + (beta ?? 0) }
        case "leakyrelu": return { $0 < 0 ? (alpha ?? 0.01) * $0 : $0 }
        case "thresholdedrelu": return { $0 > (alpha ?? 1) ? $0 : 0 }
        case "scaledtanh": return { (alpha ?? 1) * tanh((beta ?? 1) * $0) }
        case "hardsigmoid": return { min(max((alpha ?? 0.2) * $0 + (beta ?? 0.5), 0), 1) }
        case "elu": return { $0 < 0 ? (alpha ?? 1) * expm1($0) : $0 }
        case "softsign": return { $0 / (1 + abs($0)) }
        case "softplus": return { max($0, 0) + log1p(exp(-abs($0))) }
        default: throw .unsupported(["activation \"\(name)\" of recurrent operators"])
        }
    }
}

/// One evaluation of LSTM, GRU or RNN. Gates in the standard's order: i o f c, z r h, and i.
private struct RecurrentRun {
    let call: OperatorCall
    let name: String
    let gates: Int
    let functions: RecurrentFunctions
    let length: Int
    let batch: Int
    let width: Int
    let hidden: Int
    let directions: Int
    let isBatchFirst: Bool

    init(_ call: OperatorCall, name: String, gates: Int, standard: [String]) throws(ModelError) {
        self.call = call
        self.name = name
        self.gates = gates
        functions = try RecurrentFunctions(call.node, standard: standard)
        let shape = call.tensor(0).shape
        isBatchFirst = call.node.int("layout") == 1
        (length, batch, width) = (shape[isBatchFirst ? 1 : 0], shape[isBatchFirst ? 0 : 1], shape[2])
        hidden = call.tensor(2).shape[2]
        directions = call.tensor(1).shape[0]
    }

    func outputs() throws(ModelError) -> [Tensor] {
        // Inside, the order is always that of layout 0.
        let x = try isBatchFirst ? call.tensor(0).transposed([1, 0, 2]) : call.tensor(0)
        let data = x.doubles()
        let (w, r) = (call.tensor(1).doubles(), call.tensor(2).doubles())
        let bias = call.optional(3)?.doubles()
        let lengths = call.optional(4)?.indices() ?? Array(repeating: length, count: batch)
        guard lengths.allSatisfy({ $0 >= 0 && $0 <= length }) else {
            throw .wrongValue("a length is not between 0 and \(length)")
        }
        var h = try state(5)
        var c = try state(6)
        let peepholes = call.optional(7)?.doubles()
        var all = [Double](repeating: 0, count: length * directions * batch * hidden)
        for direction in 0..<directions {
            let isReverse = direction == 1 || call.node.string("direction") == "reverse"
            for row in 0..<batch {
                let start = (direction * batch + row) * hidden
                var own = Array(h[start..<(start + hidden)])
                var cell = Array(c[start..<(start + hidden)])
                for step in 0..<lengths[row] {
                    let time = isReverse ? lengths[row] - 1 - step : step
                    let input = data[((time * batch + row) * width)..<((time * batch + row + 1) * width)]
                    let fromInput = products(w, direction, columns: width, input)
                    let cellBias = bias.map {
                        Array($0[(direction * 2 * gates * hidden)..<((direction + 1) * 2 * gates * hidden)])
                    }
                    let gate = Step(
                        direction: direction, fromInput: fromInput,
                        inputBias: cellBias.map { Array($0[..<(gates * hidden)]) },
                        stateBias: cellBias.map { Array($0[(gates * hidden)...]) })
                    switch name {
                    case "LSTM":
                        let peephole = peepholes.map {
                            Array($0[(direction * 3 * hidden)..<((direction + 1) * 3 * hidden)])
                        }
                        (own, cell) = lstm(gate, r, own, cell, peephole)
                    case "GRU": own = gru(gate, r, own)
                    default: own = rnn(gate, r, own)
                    }
                    for index in 0..<hidden {
                        all[((time * directions + direction) * batch + row) * hidden + index] = own[index]
                    }
                }
                h.replaceSubrange(start..<(start + hidden), with: own)
                c.replaceSubrange(start..<(start + hidden), with: cell)
            }
        }
        let type = call.elementType
        let everything = try Tensor(type, shape: [length, directions, batch, hidden], doubles: all)
        let states = try [h, c].map { values throws(ModelError) in
            try Tensor(type, shape: [directions, batch, hidden], doubles: values)
        }
        guard isBatchFirst else { return [everything] + states }
        return [try everything.transposed([2, 0, 1, 3])]
            + (try states.map { state throws(ModelError) in try state.transposed([1, 0, 2]) })
    }

    private func state(_ input: Int) throws(ModelError) -> [Double] {
        guard let given = call.optional(input) else {
            return [Double](repeating: 0, count: directions * batch * hidden)
        }
        return try (isBatchFirst ? given.transposed([1, 0, 2]) : given).doubles()
    }

    // MARK: One step

    private struct Step {
        var direction: Int
        var fromInput: [Double]
        var inputBias: [Double]?
        var stateBias: [Double]?

        func bias(_ place: Int) -> Double { (inputBias?[place] ?? 0) + (stateBias?[place] ?? 0) }
    }

    private func products(
        _ weights: [Double], _ direction: Int, columns: Int, _ vector: some RandomAccessCollection<Double>,
        gate: Range<Int>? = nil
    ) -> [Double] {
        (gate ?? 0..<(gates * hidden)).map { row in
            var place = (direction * gates * hidden + row) * columns
            var sum = 0.0
            for value in vector {
                sum += weights[place] * value
                place += 1
            }
            return sum
        }
    }

    private func clipped(_ value: Double) -> Double {
        guard let limit = call.node.float("clip"), limit > 0 else { return value }
        return min(max(value, -limit), limit)
    }

    private func rnn(_ step: Step, _ r: [Double], _ h: [Double]) -> [Double] {
        let fromState = products(r, step.direction, columns: hidden, h)
        return (0..<hidden).map {
            functions.apply(0, direction: step.direction, clipped(step.fromInput[$0] + fromState[$0] + step.bias($0)))
        }
    }

    private func gru(_ step: Step, _ r: [Double], _ h: [Double]) -> [Double] {
        let fromState = products(r, step.direction, columns: hidden, h)
        func gate(_ place: Int) -> Double {
            functions.apply(
                0, direction: step.direction,
                clipped(step.fromInput[place] + fromState[place] + step.bias(place)))
        }
        let update = (0..<hidden).map { gate($0) }
        let reset = (0..<hidden).map { gate(hidden + $0) }
        let isLinearFirst = call.node.int("linear_before_reset") ?? 0 != 0
        let last = (2 * hidden)..<(3 * hidden)
        let weakened = products(
            r, step.direction, columns: hidden, zip(reset, h).map { $0 * $1 }, gate: last)
        return (0..<hidden).map { index in
            let place = 2 * hidden + index
            let (inputBias, stateBias) = (step.inputBias?[place] ?? 0, step.stateBias?[place] ?? 0)
            let recurrent =
                isLinearFirst ? reset[index] * (fromState[place] + stateBias) : weakened[index] + stateBias
            let candidate = functions.apply(
                1, direction: step.direction, clipped(step.fromInput[place] + recurrent + inputBias))
            return (1 - update[index]) * candidate + update[index] * h[index]
        }
    }

    private func lstm(
        _ step: Step, _ r: [Double], _ h: [Double], _ c: [Double], _ peephole: [Double]?
    ) -> (h: [Double], c: [Double]) {
        let fromState = products(r, step.direction, columns: hidden, h)
        var (nextH, nextC) = (h, c)
        let isCoupled = call.node.int("input_forget") ?? 0 != 0
        for index in 0..<hidden {
            func sum(_ gate: Int, _ peepholeGate: Int?, _ cell: Double) -> Double {
                let place = gate * hidden + index
                let peep = peepholeGate.flatMap { peephole?[$0 * hidden + index] } ?? 0
                return clipped(step.fromInput[place] + fromState[place] + step.bias(place) + peep * cell)
            }
            let input = functions.apply(0, direction: step.direction, sum(0, 0, c[index]))
            let forget = isCoupled ? 1 - input : functions.apply(0, direction: step.direction, sum(2, 2, c[index]))
            let candidate = functions.apply(1, direction: step.direction, sum(3, nil, 0))
            nextC[index] = forget * c[index] + input * candidate
            let output = functions.apply(0, direction: step.direction, sum(1, 1, nextC[index]))
            nextH[index] = output * functions.apply(2, direction: step.direction, nextC[index])
        }
        return (nextH, nextC)
    }
}
