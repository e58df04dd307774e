extension Operators {
    static let losses: [OperatorDefinition] = [
        loss("NegativeLogLikelihoodLoss", takesLogarithm: false), loss("SoftmaxCrossEntropyLoss", takesLogarithm: true),
    ]

    /// Scores N × C × d1 ..., class numbers N × d1 ..., weights C.
    private static func loss(_ name: String, takesLogarithm: Bool) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [12, 13], inputs: 2...3, outputs: 1...2, types: [.floats, .index, .first],
            attributes: ["ignore_index": .int, "reduction": .string],
            infer: { call throws(ModelError) in
                let reduction = call.node.string("reduction") ?? "mean"
                guard ["none", "mean", "sum"].contains(reduction) else {
                    throw .damaged("there is no reduction \"\(reduction)\"")
                }
                try Shapes.expect(call, 0, rank: 2...Int.max)
                if let scores = call.shape(0), let classes = call.shape(1) {
                    guard classes.count == scores.count - 1 else {
                        throw .damaged("scores and classes differ in shape")
                    }
                    for (one, other) in zip([scores[0]] + scores[2...], classes) {
                        try Shapes.same(one, other, "scores and classes")
                    }
                    if call.has(2), let weights = call.shape(2) {
                        guard weights.count == 1 else { throw .damaged("its weights have \(weights.count) axes") }
                        try Shapes.same(weights[0], scores[1], "weights and classes")
                    }
                }
                return [
                    TensorType(call.elementType(), reduction == "none" ? call.shape(1) : []),
                    TensorType(call.elementType(), call.shape(0)),
                ]
            }
        ) { call throws(ModelError) in
            let scores = call.tensor()
            let (batch, classes, inner) = Extents.split(scores.shape, at: 1)
            var values = scores.doubles()
            // Where there are no scores, the other extents may be beyond any loop.
            if takesLogarithm, !values.isEmpty {
                for block in 0..<batch {
                    for place in 0..<inner {
                        let offsets = (0..<classes).map { (block * classes + $0) * inner + place }
                        for (offset, value) in zip(offsets, logSoftmax(offsets.map { values[$0] })) {
                            values[offset] = value
                        }
                    }
                }
            }
            let weights = call.optional(2)?.doubles()
            let ignored = call.node.int("ignore_index")
            var (losses, total) = ([Double](), 0.0)
            for (number, target) in call.tensor(1).indices().enumerated() {
                if target == ignored {
                    losses.append(0)
                    continue
                }
                guard target >= 0 && target < classes else { throw .wrongValue("there is no class \(target)") }
                let weight = weights?[target] ?? 1
                losses.append(-values[(number / inner * classes + target) * inner + number % inner] * weight)
                total += weight
            }
            let logarithms = try Tensor(scores.elementType, shape: scores.shape, doubles: values)
            let sum = losses.reduce(0, +)
            let results =
                switch call.node.string("reduction") ?? "mean" {
                case "none": losses
                case "sum": [sum]
                default: [sum / total]
                }
            return [try Tensor(scores.elementType, shape: call.shape(), doubles: results), logarithms]
        }
    }
}
