import Foundation

extension Operators {
    static let softmaxes: [OperatorDefinition] = [
        softmax("Softmax") { row in
            let peak = row.max() ?? 0
            let powers = row.map { exp($0 - peak) }
            let sum = powers.reduce(0, +)
            return powers.map { $0 / sum }
        },
        softmax("LogSoftmax") { logSoftmax($0) },
        softmax("Hardmax") { row in
            var best = 0
            for index in row.indices where row[index] > row[best] { best = index }
            return row.indices.map { $0 == best ? 1 : 0 }
        },
    ]

    static func logSoftmax(_ row: [Double]) -> [Double] {
        let peak = row.max() ?? 0
        let sum = log(row.reduce(0) { $0 + exp($1 - peak) })
        return row.map { $0 - peak - sum }
    }

    /// Before version 13 all axes from the given one on are one row.
    private static func softmax(
        _ name: String, _ function: @escaping @Sendable ([Double]) -> [Double]
    ) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: [1, 11, 13], types: [.floats], attributes: ["axis": .int],
            infer: { call throws(ModelError) in
                if let rank = call.shape()?.count {
                    let axis = call.node.int("axis") ?? (call.version < 13 ? 1 : -1)
                    if !(call.version < 13 && axis == rank) && rank > 0 { _ = try call.axis(axis, rank: rank) }
                }
                return try Shapes.likeFirst(call)
            }
        ) { call throws(ModelError) in
            let input = call.tensor()
            let isRow = call.version < 13
            let axis = call.axis(default: isRow ? 1 : -1)
            let axes = input.shape.indices.filter { isRow ? $0 >= axis : $0 == axis }
            let (outer, inner) = reducedOffsets(input.shape, axes)
            var values = input.doubles()
            for start in outer where !inner.isEmpty {
                let row = function(inner.map { values[start + $0] })
                for (place, offset) in inner.enumerated() { values[start + offset] = row[place] }
            }
            return [try Tensor(input.elementType, shape: input.shape, doubles: values)]
        }
    }
}
