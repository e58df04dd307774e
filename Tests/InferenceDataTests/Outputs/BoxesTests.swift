import Inference
import InferenceData
import Testing

@Suite struct BoxesTests {
    /// A picture of 200 × 100 in a letterbox of 64: scale 0.32, 16 rows above it.
    private static let placement = ImagePlacement(
        originalWidth: 200, originalHeight: 100, width: 64, height: 64, scaleX: 0.32, scaleY: 0.32, offsetX: 0,
        offsetY: 16)

    /// Middle, width, height, then the scores of two classes.
    private static let found: [[Double]] = [
        [32, 32, 16, 16, 0.9, 0.1], [33, 32, 16, 16, 0.8, 0.1], [33, 32, 16, 16, 0.1, 0.7], [10, 20, 8, 8, 0.2, 0.1],
        [60, 40, 20, 20, 0.3, 0.5], [.nan, 1, 1, 1, 0.9, 0.9], [5, 5, 4, 4, .nan, .infinity], [5, 5, -4, 4, 0.9, 0],
    ]

    /// `[1, 6, 8]`: a column for each box.
    private static func columns() throws -> Tensor {
        try Tensor(.float32, shape: [1, 6, 8], doubles: (0..<6).flatMap { number in found.map { $0[number] } })
    }

    /// `[1, 8, 7]`: a row for each box, with a score of its own.
    private static func rows(own: Double) throws -> Tensor {
        try Tensor(.float32, shape: [1, 8, 7], doubles: found.flatMap { $0[..<4] + [own] + $0[4...] })
    }

    private static func isClose(_ box: Boxes.Box, _ corners: [Double]) -> Bool {
        zip([box.x1, box.y1, box.x2, box.y2], corners).allSatisfy { abs($0 - $1) < 1e-3 }
    }

    @Test func boxesAreSortedSuppressedAndMappedBack() throws {
        let boxes = Boxes(labels: Labels(["cat", "dog"]))
        let result = try boxes.results(Self.columns(), placements: [Self.placement])[0]
        #expect(result.width == 200 && result.height == 100)
        // The second lies on the first; the third too, but is of another class.
        #expect(result.boxes.map(\.classIndex) == [0, 1, 1])
        #expect(result.boxes.map(\.label) == ["cat", "dog", "dog"])
        #expect(Self.isClose(result.boxes[0], [75, 25, 125, 75]))
        #expect(Self.isClose(result.boxes[1], [78.125, 25, 128.125, 75]))
        // Cut off at the picture's edges.
        #expect(Self.isClose(result.boxes[2], [156.25, 43.75, 200, 100]))
    }

    @Test func bothFormsOfHeadsGiveTheSame() throws {
        let columns = try Boxes().results(Self.columns(), placements: [Self.placement])
        let rows = try Boxes().results(Self.rows(own: 1), placements: [Self.placement])
        #expect(columns == rows)
        let weaker = try Boxes().results(Self.rows(own: 0.5), placements: [Self.placement])[0]
        #expect(weaker.boxes.map { ($0.score * 100).rounded() } == [45, 35, 25])
        #expect(try Boxes().results(Self.rows(own: 0.2), placements: [Self.placement])[0].boxes.isEmpty)
    }

    @Test func boxesThatTheModelHasChosenStay() throws {
        // Corners, score and class. The second lies on the first; the others have a low score, or are none.
        let chosen: [[Double]] = [
            [24, 24, 40, 40, 0.9, 1], [25, 24, 41, 40, 0.8, 1], [6, 16, 14, 24, 0.2, 0], [40, 24, 24, 40, 0.9, 0],
            [24, 24, 40, 40, 0.9, -1], [24, 24, 40, 40, 0.9, .nan], [24, 24, 40, 40, .nan, 0],
        ]
        let output = try Tensor(.float32, shape: [1, 7, 6], doubles: chosen.flatMap { $0 })
        let boxes = try Boxes(labels: Labels(["cat", "dog"])).results(output, placements: [Self.placement])[0].boxes
        try #require(boxes.map(\.classIndex) == [1, 1])
        #expect(boxes.map(\.label) == ["dog", "dog"] && boxes.map { ($0.score * 10).rounded() } == [9, 8])
        #expect(Self.isClose(boxes[0], [75, 25, 125, 75]) && Self.isClose(boxes[1], [78.125, 25, 128.125, 75]))
    }

    @Test func thresholdsDecideWhatIsKept() throws {
        var boxes = Boxes(confidence: 0.15, overlap: 0.95)
        var result = try boxes.results(Self.columns(), placements: [Self.placement])[0]
        #expect(result.boxes.map { ($0.score * 100).rounded() } == [90, 80, 70, 50, 20])
        boxes.largestCount = 2
        result = try boxes.results(Self.columns(), placements: [Self.placement])[0]
        #expect(result.boxes.count == 2)
    }

    @Test func linesAreJSON() throws {
        let tensor = try Tensor(
            .float32, shape: [1, 5, 6], doubles: [32, 32, 16, 16, 0.5].flatMap { [$0] + [0, 0, 0, 0, 0] })
        let result = try Boxes(labels: Labels(["cat"])).results(tensor, placements: [Self.placement])[0]
        #expect(
            result.jsonLine(for: "p")
                == #"{"input":"p","width":200,"height":100,"boxes":[{"class":0,"label":"cat","score":0.5,"box":[75,25,125,75]}]}"#
        )
    }

    @Test func shapesLabelsAndNumbersHaveToFit() throws {
        for shape in [[1, 84], [1, 4, 100], [1, 5, 5], [1, 100, 5], [1, 1, 2, 3]] {
            let tensor = try Tensor(.float32, shape: shape)
            let error = dataError { () throws(DataError) in try Boxes().results(tensor, placements: [Self.placement]) }
            #expect(error?.code == .mismatch, "\(shape)")
        }
        let columns = try Self.columns()
        let none = dataError { () throws(DataError) in try Boxes().results(columns, placements: []) }
        #expect(none?.code == .mismatch)
        let few = dataError { () throws(DataError) in
            try Boxes(labels: Labels(["cat"])).results(columns, placements: [Self.placement])
        }
        #expect(few?.code == .mismatch)
    }

    @Test func manyBoxesOnOneSpotAreOne() throws {
        let count = 8_400
        let tensor = try Tensor(
            .float32, shape: [1, 5, count],
            doubles: [32.0, 32, 16, 16, 0.5].flatMap { [Double](repeating: $0, count: count) })
        #expect(try Boxes().results(tensor, placements: [Self.placement])[0].boxes.count == 1)
    }

    /// 84 places of grids in a picture of 64 pixels, with two classes; `number` gives what stands in a box.
    private static func grid(_ number: (_ box: Int) -> [Double]) throws -> Tensor {
        let boxes = (0..<84).map(number)
        return try Tensor(.float32, shape: [1, 84, 7], doubles: boxes.flatMap { $0 })
    }

    @Test func aRawGridIsRefused() throws {
        func reason(_ number: (Int) -> [Double]) throws -> String? {
            let output = try Self.grid(number)
            return dataError { () throws(DataError) in try Boxes().results(output, placements: [Self.placement]) }?
                .sentence
        }
        // As it should be: middles all over the picture.
        #expect(try reason { [Double($0 % 8) * 8 + 4, Double($0 / 8) * 6, 20, 10, 0.9, 0.3, 1] } == nil)
        // Offsets within the places of the grid, and logarithms of sizes.
        let offsets = try reason { [Double($0 % 5) / 4, Double($0 % 3) / 2, 1.5, -0.5, 0.9, 0.3, 0.7] }
        #expect(offsets?.contains("within 1.0 x 1.0 pixels of 64 x 64") == true, "\(offsets ?? "")")
        // Parts of the picture.
        let parts = try reason { [Double($0 % 8) / 8, Double($0 / 8) / 11, 0.2, 0.1, 0.9, 0.3, 0.7] }
        #expect(parts?.contains("the middles of all its boxes") == true)
        // Scores before they became probabilities.
        let scores = try reason { [Double($0 % 8) * 8, Double($0 / 8) * 6, 20, 10, 0.9, -4, 2] }
        #expect(scores?.contains("scores go from -4.0 to 2.0, and not from 0 to 1") == true, "\(scores ?? "")")
        let sizes = try reason { [Double($0 % 8) * 8, Double($0 / 8) * 6, -0.2, 0.1, 0.9, 0.3, 0.7] }
        #expect(sizes?.contains("sizes below 0") == true)
    }

    @Test func typesThatHoldNoBoxesAreNamed() {
        #expect(Boxes.misfit(TensorType(.float32, [.known(1), .known(84), .unknown])) == nil)
        #expect(Boxes.misfit(TensorType(.float32, nil)) == nil)
        for type in [
            TensorType(.float32, extents: [1, 3, 80, 80, 85]), TensorType(.int64, extents: [1, 300, 6]),
            TensorType(.float32, extents: [1, 20, 20]), TensorType(.float32, extents: [1, 1000]),
        ] {
            #expect(Boxes.misfit(type)?.hasPrefix("Boxes are taken from") == true, "\(type)")
        }
    }
}
