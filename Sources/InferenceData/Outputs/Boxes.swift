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
        /// Of the upright original picture.
        package var width: Int
        package var height: Int

        package func jsonLine(for input: String) -> String {
            let boxes = boxes.map { box in
                let corners = [box.x1, box.y1, box.x2, box.y2].map { JSONText.number(Float($0)) }
                let label = box.label.map { "\"label\":\(JSONText.string($0))," } ?? ""
                return "{\"class\":\(box.classIndex),\(label)\"score\":\(JSONText.number(Float(box.score))),"
                    + "\"box\":[\(corners.joined(separator: ","))]}"
            }
            return "{\"input\":\(JSONText.string(input)),\"width\":\(width),\"height\":\(height),"
                + "\"boxes\":[\(boxes.joined(separator: ","))]}"
        }
    }

    /// Boxes below this score are left out.
    package var confidence: Double
    /// Of two boxes of a class that overlap more than this (intersection over union), the one with the lower score is left out.
    package var overlap: Double
    /// The most boxes of a picture.
    package var largestCount: Int
    package var labels: Labels?

    /// The most candidates that are compared with each other: the best ones, where there are more.
    private static let largestCandidateCount = 30_000

    package init(confidence: Double = 0.25, overlap: Double = 0.45, largestCount: Int = 300, labels: Labels? = nil) {
        self.confidence = confidence
        self.overlap = overlap
        self.largestCount = largestCount
        self.labels = labels
    }

    /// One result for each picture of the batch.
    ///
    /// - Parameters:
    ///   - output: `[pictures, 4 + classes, boxes]`, or `[pictures, boxes, 5 + classes]` with a score of the box itself, which
    ///     the scores of its classes are multiplied with. Middle, width and height come first. Which of the two it is follows
    ///     from there being more boxes than numbers a box. `[pictures, boxes, 6]` of at most 1000 boxes is of a model that has chosen among boxes
    ///     that overlap (YOLOv10): two corners, the score and the class; every box with enough confidence stays.
    ///   - placements: Of the batch's pictures.
    /// - Returns: A result for each picture; boxes with a number that is not finite are left out.
    /// - Throws: `mismatch` for other shapes, fewer labels than classes, and numbers that are no boxes in pixels of the model's
    ///   input with scores from 0 to 1.
    package func results(_ output: Tensor, placements: [ImagePlacement]) throws(DataError) -> [Result] {
        let head = try DetectionHead(output)
        guard placements.count == head.pictureCount else {
            throw .mismatch("\(placements.count) pictures were given, and the output is of \(head.pictureCount).")
        }
        try labels?.check(classCount: head.classCount ?? 0)
        for (picture, placement) in placements.enumerated() {
            guard let reason = head.rawness(picture: picture, width: placement.width, height: placement.height) else {
                continue
            }
            throw .mismatch(
                "The output \(output.shape) holds no boxes: \(reason). A model for boxes gives middles and sizes in pixels of "
                    + "its input, and scores from 0 to 1; one whose last step was left out is to be exported with it.")
        }
        return placements.enumerated().map { picture, placement in
            let candidates = head.candidates(picture: picture, confidence: confidence)
                .sorted { $0.score == $1.score ? $0.number < $1.number : $0.score > $1.score }
            let kept =
                head.form == .chosen
                ? Array(candidates.prefix(largestCount))
                : suppressed(candidates.prefix(Self.largestCandidateCount))
            return Result(
                boxes: kept.map { box($0, placement) }, width: placement.originalWidth, height: placement.originalHeight
            )
        }
    }

    /// Why no boxes can be taken from outputs of a type; nil where they can, as far as that is known.
    package static func misfit(_ type: TensorType) -> String? { DetectionHead.misfit(type) }

    /// Greedy suppression, class by class.
    private func suppressed(_ candidates: ArraySlice<DetectionHead.Candidate>) -> [DetectionHead.Candidate] {
        var kept: [DetectionHead.Candidate] = []
        var byClass: [Int: [DetectionHead.Candidate]] = [:]
        for candidate in candidates {
            guard kept.count < largestCount else { break }
            let rivals = byClass[candidate.classIndex, default: []]
            if rivals.contains(where: { $0.overlap(with: candidate) > overlap }) { continue }
            kept.append(candidate)
            byClass[candidate.classIndex, default: []].append(candidate)
        }
        return kept
    }

    private func box(_ candidate: DetectionHead.Candidate, _ placement: ImagePlacement) -> Box {
        let first = placement.original(x: candidate.x1, y: candidate.y1)
        let last = placement.original(x: candidate.x2, y: candidate.y2)
        func within(_ value: Double, _ length: Int) -> Double { min(max(value, 0), Double(length)) }
        return Box(
            x1: within(first.x, placement.originalWidth), y1: within(first.y, placement.originalHeight),
            x2: within(last.x, placement.originalWidth), y2: within(last.y, placement.originalHeight),
            classIndex: candidate.classIndex, label: labels?[candidate.classIndex], score: candidate.score)
    }
}
