package import Inference

/// Boxes around what a detector of the YOLO kind found.
package struct Boxes: Sendable {
    package struct Box: Hashable, Sendable {
        /// Corners in pixels of the upright original picture, within it.
        package var x1: Double
        package var y1: Double
        package var x2: Double
        package var y2: Double
        package var classIndex: Int
        package var label: String?
        package var score: Double
    }

    package struct Result: Hashable, Sendable, JSONLineResult {
        /// Highest score first.
        package var boxes: [Box]
        package var width: Int
        package var height: Int
        package func jsonLine(for input: String) -> String { "" }
    }

    /// Boxes below this score are left out.
    package var confidence: Double
    /// Of two boxes of a class that overlap more than this (intersection over union), the one with the lower score is left out.
    package var overlap: Double
    /// The most boxes of a picture.
    package var largestCount: Int
    package var labels: Labels?

    package init(confidence: Double = 0.25, overlap: Double = 0.45, largestCount: Int = 300, labels: Labels? = nil) {
        self.confidence = confidence
        self.overlap = overlap
        self.largestCount = largestCount
        self.labels = labels
    }

    /// One result for each picture of the batch.
    ///
    /// - Parameters:
    ///   - output: `[pictures, 4 + classes, boxes]`, or `[pictures, boxes, 5 + classes]` with a score of the box itself.
    ///   - placements: Of the batch's pictures.
    /// - Throws: `mismatch` for other shapes, or fewer labels than classes.
    package func results(_ output: Tensor, placements: [ImagePlacement]) throws(DataError) -> [Result] {
        throw .unsupported(["boxes"])
    }
}
