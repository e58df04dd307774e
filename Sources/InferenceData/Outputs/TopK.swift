import Glibc
package import Inference

/// The classes with the highest scores.
package struct TopK: Sendable {
    package struct Class: Hashable, Sendable {
        package var index: Int
        package var label: String?
        package var score: Double
    }

    package struct Result: Hashable, Sendable, JSONLineResult {
        /// Highest first; of equal ones the lower index. Scores that are not a number come last.
        package var classes: [Class]

        package func jsonLine(for input: String) -> String {
            let classes = classes.map { found in
                let label = found.label.map { "\"label\":\(JSONText.string($0))," } ?? ""
                return "{\"class\":\(found.index),\(label)\"score\":\(JSONText.number(found.score))}"
            }
            return "{\"input\":\(JSONText.string(input)),\"classes\":[\(classes.joined(separator: ","))]}"
        }
    }

    package var count: Int
    /// Scores are exp(x) by their sum.
    package var softmax: Bool
    package var labels: Labels?

    package init(count: Int = 5, softmax: Bool = false, labels: Labels? = nil) {
        self.count = count
        self.softmax = softmax
        self.labels = labels
    }

    /// One result for each row of a tensor `[rows, classes]`; further axes of extent 1 are passed over.
    ///
    /// - Throws: `mismatch` for another shape, strings, or fewer labels than classes.
    package func results(_ scores: Tensor) throws(DataError) -> [Result] {
        guard scores.elementType != .string, scores.shape.count >= 2, scores.shape[1] > 0,
            scores.shape.dropFirst(2).allSatisfy({ $0 == 1 })
        else { throw .mismatch("Scores of classes have the shape [rows, classes], and not \(scores.shape).") }
        let classCount = scores.shape[1]
        try labels?.check(classCount: classCount)
        let all = scores.doubles()
        // Values of float32 are told as such: as float64 they would have digits that mean nothing.
        let isNarrow =
            scores.elementType == .float32 || scores.elementType == .float16 || scores.elementType == .bfloat16
        return (0..<scores.shape[0]).map { row in
            let values = Array(all[(row * classCount)..<((row + 1) * classCount)])
            return Result(classes: best(softmax ? Self.softmax(values) : values, isNarrow: isNarrow))
        }
    }

    /// Why no classes can be taken from outputs of a type; nil where they can, as far as that is known.
    package static func misfit(_ type: TensorType) -> String? {
        guard let shape = type.shape else { return nil }
        if type.elementType != .string, shape.count >= 2, shape[1] != .known(0),
            shape.dropFirst(2).allSatisfy({ $0.extent ?? 1 == 1 })
        {
            return nil
        }
        return "Scores of classes have the shape [rows, classes], and not \(type)."
    }

    private func best(_ values: [Double], isNarrow: Bool) -> [Class] {
        let order = values.indices.sorted { first, second in
            let (a, b) = (values[first], values[second])
            if a.isNaN || b.isNaN { return a.isNaN == b.isNaN ? first < second : b.isNaN }
            return a == b ? first < second : a > b
        }
        return order.prefix(max(0, count)).map { index in
            Class(index: index, label: labels?[index], score: isNarrow ? Self.shortened(values[index]) : values[index])
        }
    }

    /// The float64 whose shortest decimal form is that of the nearest float32.
    private static func shortened(_ value: Double) -> Double { Double("\(Float(value))") ?? value }

    /// exp(x - max) by the sum of all; a score that is not a number stays one, and takes no share.
    private static func softmax(_ values: [Double]) -> [Double] {
        let top = values.reduce(-Double.infinity) { $1.isNaN ? $0 : max($0, $1) }
        let powers = values.map { value in
            // Infinity less infinity is the top itself.
            value.isNaN ? Double.nan : value == top ? 1 : exp(value - top)
        }
        let sum = powers.reduce(0) { $1.isNaN ? $0 : $0 + $1 }
        return powers.map { $0 / sum }
    }
}
