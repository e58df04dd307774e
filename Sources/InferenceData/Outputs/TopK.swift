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
        package func jsonLine(for input: String) -> String { "" }
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
    package func results(_ scores: Tensor) throws(DataError) -> [Result] { throw .unsupported(["top"]) }
}
