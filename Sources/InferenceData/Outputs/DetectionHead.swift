import Inference

/// The numbers of a detector's output, whichever way they lie.
struct DetectionHead {
    struct Candidate: Hashable {
        /// Corners in pixels of the model's input.
        var x1: Double
        var y1: Double
        var x2: Double
        var y2: Double
        var classIndex: Int
        var score: Double
        /// Place among the boxes of the output.
        var number: Int

        /// Intersection over union.
        func overlap(with other: Candidate) -> Double {
            let width = min(x2, other.x2) - max(x1, other.x1)
            let height = min(y2, other.y2) - max(y1, other.y1)
            guard width > 0, height > 0 else { return 0 }
            let both = width * height
            return both / ((x2 - x1) * (y2 - y1) + (other.x2 - other.x1) * (other.y2 - other.y1) - both)
        }
    }

    let pictureCount: Int
    let boxCount: Int
    let classCount: Int
    /// The box has a score of its own before those of its classes.
    private let hasOwnScore: Bool
    private let values: [Double]
    /// Elements from one number of a box to the next, and from one box to the next.
    private let numberStride: Int
    private let boxStride: Int

    /// - Throws: `mismatch` for another shape.
    init(_ output: Tensor) throws(DataError) {
        guard output.elementType.isFloat, output.shape.count == 3, output.shape[1] != output.shape[2] else {
            throw .mismatch(
                "Boxes are taken from [pictures, 4 + classes, boxes] or [pictures, boxes, 5 + classes], and not from "
                    + "\(output.shape) of \(output.elementType.rawValue).")
        }
        let (rows, columns) = (output.shape[1], output.shape[2])
        hasOwnScore = rows > columns
        let numbers = min(rows, columns)
        classCount = numbers - (hasOwnScore ? 5 : 4)
        guard classCount > 0 else { throw .mismatch("Boxes of \(numbers) numbers have no scores of classes.") }
        pictureCount = output.shape[0]
        boxCount = max(rows, columns)
        (numberStride, boxStride) = hasOwnScore ? (1, columns) : (columns, 1)
        values = output.doubles()
    }

    /// Boxes of one picture whose best class has at least that score.
    func candidates(picture: Int, confidence: Double) -> [Candidate] {
        let start = picture * boxCount * (classCount + (hasOwnScore ? 5 : 4))
        var found: [Candidate] = []
        for box in 0..<boxCount {
            let place = start + box * boxStride
            func number(_ index: Int) -> Double { values[place + index * numberStride] }
            let own = hasOwnScore ? number(4) : 1
            guard own >= confidence else { continue }
            let first = hasOwnScore ? 5 : 4
            var best = (index: 0, score: -Double.infinity)
            for index in 0..<classCount where number(first + index) > best.score {
                best = (index, number(first + index))
            }
            let score = best.score * own
            let (x, y, width, height) = (number(0), number(1), number(2), number(3))
            guard score >= confidence, score.isFinite, [x, y, width, height].allSatisfy(\.isFinite), width > 0,
                height > 0
            else { continue }
            found.append(
                Candidate(
                    x1: x - width / 2, y1: y - height / 2, x2: x + width / 2, y2: y + height / 2,
                    classIndex: best.index,
                    score: score, number: box))
        }
        return found
    }
}
