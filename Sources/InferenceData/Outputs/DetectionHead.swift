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

    /// What the numbers of a box are.
    enum Form {
        /// Middle, size, and a score of each class.
        case scores
        /// Middle, size, a score of the box itself, and one of each class.
        case ownScore
        /// Corners, score and class: the model has chosen among boxes that overlap.
        case chosen
    }

    /// More boxes of a picture than these nobody has chosen from: they are candidates, of one class where they have 6 numbers.
    private static let mostChosen = 1000

    let form: Form
    let pictureCount: Int
    let boxCount: Int
    /// Nil where the output does not say it.
    let classCount: Int?
    private let numberCount: Int
    private let values: [Double]
    /// Elements from one number of a box to the next, and from one box to the next.
    private let numberStride: Int
    private let boxStride: Int

    /// - Throws: `mismatch` for another shape.
    init(_ output: Tensor) throws(DataError) {
        guard output.elementType.isFloat, output.shape.count == 3, output.shape[1] != output.shape[2] else {
            throw .mismatch(
                "Boxes are taken from [pictures, 4 + classes, boxes], [pictures, boxes, 5 + classes] or "
                    + "[pictures, boxes, 6], and not from \(output.shape) of \(output.elementType.rawValue).")
        }
        let (rows, columns) = (output.shape[1], output.shape[2])
        numberCount = min(rows, columns)
        form = rows < columns ? .scores : columns == 6 && rows <= Self.mostChosen ? .chosen : .ownScore
        classCount =
            switch form {
            case .scores: numberCount - 4
            case .ownScore: numberCount - 5
            case .chosen: nil
            }
        guard classCount ?? 1 > 0 else { throw .mismatch("Boxes of \(numberCount) numbers have no scores of classes.") }
        pictureCount = output.shape[0]
        boxCount = max(rows, columns)
        (numberStride, boxStride) = rows < columns ? (columns, 1) : (1, columns)
        values = output.doubles()
    }

    /// Fewer boxes than these no grid has, and they may all lie in a corner.
    private static let fewestOfGrid = 64
    /// What scores that are computed with few digits may be beyond 0 and 1.
    private static let scoreTolerance = 0.05

    /// Whether the numbers are a raw grid: of a model whose last step was left out, which gives for each place of its grid where
    /// the box lies within it, logarithms of sizes, and scores before they were made probabilities.
    ///
    /// - Parameters:
    ///   - picture: The number of a picture in the batch.
    ///   - width: The width of the model's input, in pixels.
    ///   - height: The height of the model's input, in pixels.
    /// - Returns: What shows that they are no boxes of the picture; nil where they may be.
    func rawness(picture: Int, width: Int, height: Int) -> String? {
        guard form != .chosen, boxCount >= Self.fewestOfGrid else { return nil }
        let start = picture * boxCount * numberCount
        func range(of number: Int) -> (low: Double, high: Double, negative: Int) {
            var (low, high, negative) = (Double.infinity, -Double.infinity, 0)
            for box in 0..<boxCount {
                let value = values[start + box * boxStride + number * numberStride]
                guard value.isFinite else { continue }
                low = min(low, value)
                high = max(high, value)
                if value < 0 { negative += 1 }
            }
            return (low, high, negative)
        }
        let scores = (4..<numberCount).map(range)
        let (lowest, highest) = (scores.map(\.low).min() ?? 0, scores.map(\.high).max() ?? 0)
        if lowest < -Self.scoreTolerance || highest > 1 + Self.scoreTolerance, lowest <= highest {
            return "its scores go from \(Float(lowest)) to \(Float(highest)), and not from 0 to 1"
        }
        let (x, y) = (range(of: 0), range(of: 1))
        // Boxes of all places of a grid lie all over the picture.
        if x.high < Double(width) / 8, y.high < Double(height) / 8 {
            return
                "the middles of all its boxes lie within \(Float(x.high)) x \(Float(y.high)) pixels of \(width) x \(height)"
        }
        if 2 * range(of: 2).negative > boxCount || 2 * range(of: 3).negative > boxCount {
            return "most of its boxes have sizes below 0"
        }
        return nil
    }

    /// Why no boxes can be taken from values of a type; nil where they can.
    static func misfit(_ type: TensorType) -> String? {
        guard let shape = type.shape else { return nil }
        let isSquare = shape.count == 3 && shape[1].extent != nil && shape[1].extent == shape[2].extent
        if type.elementType.isFloat, shape.count == 3, !isSquare { return nil }
        return
            "Boxes are taken from [pictures, 4 + classes, boxes], [pictures, boxes, 5 + classes] or [pictures, boxes, 6], "
            + "and not from \(type)."
    }

    /// Steps in pixels of the grids that detectors of the YOLO kind look at pictures with.
    private static let grids = [[16, 32], [8, 16, 32], [8, 16, 32, 64], [4, 8, 16, 32]]

    /// Looks whether an output is of a detector.
    ///
    /// - Parameters:
    ///   - shape: The output's.
    ///   - width: The width of the model's input, in pixels.
    ///   - height: The height of the model's input, in pixels.
    /// - Returns: Whether it has as many boxes as such grids have places, once or three times, or lists of corners, score and
    ///   class.
    static func isDetector(_ shape: [Int], width: Int, height: Int) -> Bool {
        guard shape.count == 3, min(shape[1], shape[2]) > 4 else { return false }
        if shape[2] == 6 || shape[2] == 7 { return true }
        let most = max(shape[1], shape[2])
        return grids.contains { steps in
            let places = steps.reduce(0) { $0 + ((width + $1 - 1) / $1) * ((height + $1 - 1) / $1) }
            return most == places || most == 3 * places
        }
    }

    /// Boxes of one picture whose best class has at least that score.
    func candidates(picture: Int, confidence: Double) -> [Candidate] {
        let start = picture * boxCount * numberCount
        var found: [Candidate] = []
        for box in 0..<boxCount {
            let place = start + box * boxStride
            func number(_ index: Int) -> Double { values[place + index * numberStride] }
            let own = form == .scores ? 1 : number(4)
            guard own >= confidence else { continue }
            var best = (index: 0, score: -Double.infinity)
            if let classCount {
                let first = numberCount - classCount
                for index in 0..<classCount where number(first + index) > best.score {
                    best = (index, number(first + index))
                }
            } else if let index = Int(exactly: number(5).rounded()), index >= 0 {
                best = (index, 1)
            }
            let score = best.score * own
            var (x, y, width, height) = (number(0), number(1), number(2), number(3))
            if form == .chosen {
                (width, height) = (width - x, height - y)
                (x, y) = (x + width / 2, y + height / 2)
            }
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
