import Inference
import InferenceData
import Testing

@Suite struct EmbeddingsTests {
    /// Two rows of three tokens with two numbers each.
    private static let output: [Double] = [1, 2, 3, 4, 50, 60, 7, 8, 90, 10, 11, 12]

    private static func tensor() throws -> Tensor { try Tensor(.float32, shape: [2, 3, 2], doubles: output) }
    private static func mask() throws -> Tensor { try Tensor(.int64, shape: [2, 3], integers: [1, 1, 0, 1, 0, 0]) }

    @Test func theMeanIsOverTheTokensOfTheMask() throws {
        let embeddings = Embeddings(pooling: .mean, normalise: false)
        let vectors = try embeddings.vectors(Self.tensor(), attentionMask: Self.mask())
        #expect(vectors.shape == [2, 2] && vectors.doubles() == [2, 3, 7, 8])
        #expect(try embeddings.vectors(Self.tensor()).doubles() == [18, 22, 36, 10])
        let none = try Tensor(.int64, shape: [2, 3])
        #expect(try embeddings.vectors(Self.tensor(), attentionMask: none).doubles() == [0, 0, 0, 0])
    }

    @Test func theFirstTokenOrTheWholeOutputMayBeTaken() throws {
        #expect(try Embeddings(pooling: .cls, normalise: false).vectors(Self.tensor()).doubles() == [1, 2, 7, 8])
        let plain = try Embeddings(pooling: .none, normalise: false).vectors(Self.tensor())
        #expect(plain.shape == [2, 6] && plain.doubles() == Self.output)
    }

    @Test func vectorsAreDividedByTheirLength() throws {
        let output = try Tensor(.float32, shape: [3, 2], doubles: [3, 4, 0, 0, .nan, 1])
        let results = try Embeddings(pooling: .none).results(output)
        #expect(results[0].vector == [0.6, 0.8])
        #expect(results[0].jsonLine(for: "a") == #"{"input":"a","embedding":[0.6,0.8]}"#)
        #expect(results[1].vector == [0, 0])
        #expect(results[2].jsonLine(for: "c") == #"{"input":"c","embedding":[null,1]}"#)
    }

    @Test func shapesHaveToFit() throws {
        let flat = try Tensor(.float32, shape: [2, 3])
        let integers = try Tensor(.int64, shape: [2, 3, 2])
        let mask = try Tensor(.int64, shape: [2, 4])
        let output = try Self.tensor()
        for (pooling, tensor) in [(Embeddings.Pooling.mean, flat), (.cls, flat), (.mean, integers)] {
            #expect(
                dataError { () throws(DataError) in try Embeddings(pooling: pooling).vectors(tensor) }?.code
                    == .mismatch)
        }
        let error = dataError { () throws(DataError) in try Embeddings().vectors(output, attentionMask: mask) }
        #expect(error?.code == .mismatch)
    }
}
