import Inference
import InferenceData
import Testing

@Suite struct TopKTests {
    private static func scores(_ values: [Double], shape: [Int]) throws -> Tensor {
        try Tensor(.float32, shape: shape, doubles: values)
    }

    @Test func theHighestScoresComeFirst() throws {
        let scores = try Self.scores([0.1, 0.7, 0.2, 0.7, 5, 4, 3, 2], shape: [2, 4])
        let results = try TopK(count: 2, labels: Labels(["a", "b", "c", "d"])).results(scores)
        #expect(results.map { $0.classes.map(\.index) } == [[1, 3], [0, 1]])
        #expect(results[0].classes[0].label == "b" && results[0].classes[0].score == 0.7)
        #expect(try TopK(count: 9).results(scores)[0].classes.count == 4)
        #expect(try TopK(count: 1).results(scores.reshaped([2, 4, 1, 1]))[1].classes.map(\.index) == [0])
    }

    @Test func softmaxGivesShares() throws {
        let result = try TopK(count: 3, softmax: true).results(Self.scores([1, 2, 3], shape: [1, 3]))[0]
        // exp(0), exp(-1), exp(-2) by their sum 1.50321472.
        for (found, expected) in zip(result.classes, [0.66524096, 0.24472847, 0.09003057]) {
            #expect(abs(found.score - expected) < 1e-6)
        }
        let large = try TopK(count: 2, softmax: true).results(Self.scores([1e30, -1e30], shape: [1, 2]))[0]
        #expect(large.classes.map(\.score) == [1, 0])
        let infinite = try TopK(count: 2, softmax: true).results(Self.scores([.infinity, 0], shape: [1, 2]))[0]
        #expect(infinite.classes.map(\.score) == [1, 0])
    }

    @Test func whatIsNotANumberComesLastAndIsNull() throws {
        let scores = try Self.scores([.nan, 1, .nan, -.infinity], shape: [1, 4])
        let result = try TopK(count: 4).results(scores)[0]
        #expect(result.classes.map(\.index) == [1, 3, 0, 2])
        #expect(
            result.jsonLine(for: "x")
                == #"{"input":"x","classes":[{"class":1,"score":1},{"class":3,"score":null},{"class":0,"score":null},{"class":2,"score":null}]}"#
        )
        let shares = try TopK(count: 4, softmax: true).results(scores)[0]
        #expect(shares.classes.map(\.index) == [1, 3, 0, 2] && shares.classes[0].score == 1)
    }

    @Test func linesAreJSONWithTheShortestNumbers() throws {
        let result = try TopK(count: 2, labels: Labels(["tab\t\"quoted\"", "größe\u{1}"]))
            .results(Self.scores([0.1, 1.0 / 3], shape: [1, 2]))[0]
        #expect(
            result.jsonLine(for: #"a\b.jpg"#)
                == #"{"input":"a\\b.jpg","classes":[{"class":1,"label":"größe\u0001","score":0.33333334},{"class":0,"label":"tab\t\"quoted\"","score":0.1}]}"#
        )
    }

    @Test func shapesAndLabelsHaveToFit() throws {
        for shape in [[4], [1, 2, 2], [1, 0], []] {
            let scores = try Tensor(.float32, shape: shape)
            #expect(dataError { () throws(DataError) in try TopK().results(scores) }?.code == .mismatch, "\(shape)")
        }
        let scores = try Self.scores([1, 2, 3], shape: [1, 3])
        let error = dataError { () throws(DataError) in try TopK(labels: Labels(["a", "b"])).results(scores) }
        #expect(error?.code == .mismatch)
        #expect(try TopK().results(Tensor(.float32, shape: [0, 3])).isEmpty)
    }

    @Test func labelsAreTheLinesOfAFile() throws {
        let file = try TestFile(Array("cat\nhot dog\n\nlast\n\n".utf8))
        let labels = try Labels(file.open())
        #expect(labels.names == ["cat", "hot dog", "", "last"])
        #expect(labels[3] == "last" && labels[4] == nil && labels[-1] == nil)
    }
}
