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

    /// YOLOv8, YOLOv5, YOLOv3-tiny and YOLOv10 at 640 pixels; ViT-B/16 at 224, CLIP ViT-L/14, DINOv2 with registers, ViT-B/32.
    private static let outputs: [(shape: [Int], side: Int, isDetector: Bool)] = [
        ([1, 84, 8400], 640, true), ([1, 25_200, 85], 640, true), ([1, 6_000, 85], 640, true),
        ([1, 300, 6], 640, true), ([1, 197, 768], 224, false), ([1, 257, 1024], 224, false),
        ([1, 261, 384], 224, false), ([1, 50, 768], 224, false),
    ]

    @Test(arguments: outputs)
    func aDetectorHasNoTokens(shape: [Int], side: Int, isDetector: Bool) {
        let misfit = Embeddings().misfit(
            TensorType(.float32, extents: shape), picture: ImagePreset.Size(width: side, height: side))
        #expect((misfit != nil) == isDetector, "\(misfit ?? "")")
        // Tokens of texts are not counted against grids.
        #expect(Embeddings().misfit(TensorType(.float32, extents: shape), picture: nil) == nil)
    }

    @Test func typesThatHoldNoVectorsAreNamed() {
        #expect(Embeddings(pooling: .none).misfit(TensorType(.float32, extents: [1, 384]), picture: nil) == nil)
        let scores = Embeddings().misfit(TensorType(.float32, extents: [1, 1000]), picture: nil)
        #expect(scores?.contains("--pooling none") == true)
        #expect(Embeddings().misfit(TensorType(.int64, extents: [1, 8, 16]), picture: nil) != nil)
    }
}
