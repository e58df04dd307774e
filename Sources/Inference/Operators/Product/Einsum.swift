extension Operators {
    /// Sums of products over named axes, e.g. `bij,bjk->bik`; `...` stands for axes that broadcast.
    static let einsum = OperatorDefinition(
        "Einsum", versions: [12], inputs: 1...Int.max, types: [.numeric, .first], attributes: ["equation": .string],
        infer: { call throws(ModelError) in
            var shapes: [[Dimension]] = []
            for input in call.facts.indices {
                guard let shape = call.shape(input) else { return [TensorType(call.elementType(), nil)] }
                shapes.append(shape)
            }
            let equation = try EinsumEquation(call.node.string("equation") ?? "", ranks: shapes.map(\.count))
            var extents: [String: Dimension] = [:]
            for (labels, shape) in zip(equation.inputs, shapes) {
                for (label, dimension) in zip(labels, shape) {
                    let before = extents[label] ?? .known(1)
                    extents[label] = try Shapes.broadcast([before], [dimension])[0]
                }
            }
            return [TensorType(call.elementType(), equation.output.map { extents[$0] ?? .unknown })]
        }
    ) { call throws(ModelError) in
        let shapes = call.given.map(\.shape)
        let equation = try EinsumEquation(call.node.string("equation") ?? "", ranks: shapes.map(\.count))
        var extents: [String: Int] = [:]
        for (labels, shape) in zip(equation.inputs, shapes) {
            for (label, extent) in zip(labels, shape) where extents[label] ?? 1 == 1 { extents[label] = extent }
        }
        let summed = Set(equation.inputs.joined()).subtracting(equation.output).sorted()
        let labels = equation.output + summed
        let space = labels.map { extents[$0] ?? 1 }
        let strides = zip(equation.inputs, shapes).map { inputLabels, shape in
            let own = Extents.strides(shape)
            // A label that is there twice walks along the diagonal.
            return labels.map { label in
                inputLabels.indices.reduce(0) { $0 + (inputLabels[$1] == label && shape[$1] != 1 ? own[$1] : 0) }
            }
        }
        let count = try Extents.count(call.shape())
        let run = try Extents.count(Array(space[equation.output.count...]))
        _ = try Extents.count(space)
        // Where each result begins, and how far its terms lie from there.
        let (shape, summedShape) = (Array(space.prefix(equation.output.count)), Array(space[equation.output.count...]))
        let starts = strides.map { Extents.offsets(shape, strides: Array($0.prefix(shape.count))) }
        let steps = strides.map { Extents.offsets(summedShape, strides: Array($0[shape.count...])) }
        if call.elementType.isFloat {
            let factors = call.given.map { $0.doubles() }
            let sums = (0..<count).map { place in
                (0..<run).reduce(0.0) { sum, step in
                    sum + factors.indices.reduce(1.0) { $0 * factors[$1][starts[$1][place] + steps[$1][step]] }
                }
            }
            return [try Tensor(call.elementType, shape: call.shape(), doubles: sums)]
        }
        let factors = call.given.map { $0.integers() }
        let sums = (0..<count).map { place in
            (0..<run).reduce(Int64(0)) { sum, step in
                sum &+ factors.indices.reduce(1) { $0 &* factors[$1][starts[$1][place] + steps[$1][step]] }
            }
        }
        return [try Tensor(call.elementType, shape: call.shape(), integers: sums)]
    }
}

/// Labels by axis: letters, and numbers for the axes of an ellipsis, counted from the last.
private struct EinsumEquation {
    var inputs: [[String]] = []
    var output: [String]

    init(_ text: String, ranks: [Int]) throws(ModelError) {
        let sides = text.filter { $0 != " " }.replacing("->", with: ">").split(
            separator: ">", omittingEmptySubsequences: false)
        guard sides.count <= 2, let left = sides.first else { throw .damaged("\"\(text)\" has two arrows") }
        let terms = left.split(separator: ",", omittingEmptySubsequences: false)
        guard terms.count == ranks.count else { throw .damaged("\"\(text)\" is not for \(ranks.count) inputs") }
        var longest = 0
        for (term, rank) in zip(terms, ranks) {
            let letters = term.filter(\.isLetter).count
            let hasEllipsis = term.contains("...")
            guard term.count == letters + (hasEllipsis ? 3 : 0), hasEllipsis ? rank >= letters : rank == letters else {
                throw .damaged("\"\(term)\" does not name \(rank) axes")
            }
            longest = max(longest, rank - letters)
            inputs.append(Self.labels(term, ellipsis: rank - letters))
        }
        if sides.count == 2 {
            output = Self.labels(sides[1], ellipsis: longest)
            guard Set(output).isSubset(of: inputs.joined()), Set(output).count == output.count else {
                throw .damaged("\"\(sides[1])\" names axes that no input has, or one twice")
            }
        } else {
            // Without an arrow: the letters that are there once, in their order, behind the axes of the ellipsis.
            let all = inputs.joined().filter { Int($0) == nil }
            let once = Set(all).filter { letter in all.filter { $0 == letter }.count == 1 }.sorted()
            output = (0..<longest).map { String(longest - 1 - $0) } + once
        }
    }

    private static func labels(_ term: Substring, ellipsis: Int) -> [String] {
        guard let range = term.firstRange(of: "...") else { return term.map(String.init) }
        return term[..<range.lowerBound].map(String.init) + (0..<ellipsis).map { String(ellipsis - 1 - $0) }
            + term[range.upperBound...].map(String.init)
    }
}
