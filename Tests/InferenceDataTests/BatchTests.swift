import Inference
import InferenceData
import Testing

@Suite struct BatchTests {
    @Test func itemsAreJoinedAndTakenApart() throws {
        let items = try (0..<3).map { item in
            try Tensor(.float16, shape: [item + 1, 2], doubles: (0..<((item + 1) * 2)).map { Double(10 * item + $0) })
        }
        let joined = try Batch.joined(items)
        #expect(joined.shape == [6, 2] && joined.elementType == .float16)
        #expect(joined.doubles() == [0, 1, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25])
        var first = 0
        for item in items {
            let rows = try Batch.rows(first..<(first + item.shape[0]), of: joined)
            #expect(rows.shape == item.shape && rows.doubles() == item.doubles())
            first += item.shape[0]
        }
        #expect(try Batch.rows(2..<2, of: joined).shape == [0, 2])
    }

    @Test func whatDoesNotGoTogetherIsRefused() throws {
        let item = try Tensor(.float32, shape: [1, 2])
        let others = try [
            Tensor(.float32, shape: [1, 3]), Tensor(.float64, shape: [1, 2]), Tensor(.float32, shape: [1, 2, 1]),
            Tensor(.float32, shape: []),
        ]
        for other in others {
            #expect(dataError { () throws(DataError) in try Batch.joined([item, other]) }?.code == .mismatch)
        }
        #expect(dataError { () throws(DataError) in try Batch.joined([]) }?.code == .mismatch)
        #expect(dataError { () throws(DataError) in try Batch.rows(0..<2, of: item) }?.code == .mismatch)
        #expect(dataError { () throws(DataError) in try Batch.rows(0..<1, of: others[3]) }?.code == .mismatch)
        let text = try Tensor(strings: ["a"], shape: [1])
        #expect(dataError { () throws(DataError) in try Batch.joined([text]) }?.code == .unsupported)
    }
}
