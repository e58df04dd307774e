package import Inference

/// One vector for each input.
package struct Embeddings: Sendable {
    package enum Pooling: String, Codable, Hashable, Sendable, CaseIterable {
        /// The mean over the tokens that the attention mask has.
        case mean
        /// The first token.
        case cls
        /// The output is a vector already.
        case none
    }

    package struct Result: Hashable, Sendable, JSONLineResult {
        package var vector: [Float]

        package func jsonLine(for input: String) -> String {
            let numbers = vector.map { JSONText.number($0) }.joined(separator: ",")
            return "{\"input\":\(JSONText.string(input)),\"embedding\":[\(numbers)]}"
        }
    }

    package var pooling: Pooling
    /// Divided by its Euclidean length; a vector of zeros stays.
    package var normalise: Bool

    package init(pooling: Pooling = .mean, normalise: Bool = true) {
        self.pooling = pooling
        self.normalise = normalise
    }

    /// The vectors as float32 `[rows, length]`.
    ///
    /// - Parameters:
    ///   - output: `[rows, tokens, length]`; for `none` `[rows, ...]`, whose other axes become one.
    ///   - attentionMask: `[rows, tokens]`, for `mean`; nil counts every token.
    /// - Returns: The vectors; for a row whose mask has no token, zeros.
    /// - Throws: `mismatch` for other shapes.
    package func vectors(_ output: Tensor, attentionMask: Tensor? = nil) throws(DataError) -> Tensor {
        guard output.elementType.isFloat, let rows = output.shape.first,
            pooling == .none ? output.shape.count >= 2 : output.shape.count == 3
        else {
            throw .mismatch(
                "Vectors are taken from \(pooling == .none ? "[rows, length]" : "[rows, tokens, length]"), and not from "
                    + "\(output.shape) of \(output.elementType.rawValue).")
        }
        let tokens = pooling == .none ? 1 : output.shape[1]
        let length = pooling == .none ? output.shape.dropFirst().reduce(1, *) : output.shape[2]
        guard tokens > 0 else { throw .mismatch("The output has no tokens.") }
        let weights = try weights(attentionMask, rows: rows, tokens: tokens)
        let values = output.doubles()
        var vectors: [Float] = []
        vectors.reserveCapacity(rows * length)
        for row in 0..<rows {
            var vector = [Double](repeating: 0, count: length)
            var total = 0.0
            for token in 0..<tokens where weights[row * tokens + token] != 0 {
                let start = (row * tokens + token) * length
                for index in 0..<length { vector[index] += values[start + index] }
                total += 1
            }
            if total > 1 { for index in vector.indices { vector[index] /= total } }
            if normalise {
                let size = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
                if size > 0 { for index in vector.indices { vector[index] /= size } }
            }
            vectors += vector.map { Float($0) }
        }
        return try asDataError { () throws(ModelError) in
            try Tensor(.float32, shape: [rows, length], elements: vectors)
        }
    }

    /// Looks whether vectors can be taken from outputs of a type.
    ///
    /// - Parameters:
    ///   - type: The output's.
    ///   - picture: The size of the model's input where that is a picture: then the output may be a detector's.
    /// - Returns: Why they cannot; nil where they can, as far as that is known.
    package func misfit(_ type: TensorType, picture: ImagePreset.Size?) -> String? {
        guard let shape = type.shape else { return nil }
        guard type.elementType.isFloat, pooling == .none ? shape.count >= 2 : shape.count == 3 else {
            return
                "Vectors are taken from \(pooling == .none ? "[rows, length]" : "[rows, tokens, length]"), and not from "
                + "\(type)" + (shape.count == 2 && pooling != .none ? "; --pooling none takes those as they are." : ".")
        }
        guard let picture, let extents = type.extents,
            DetectionHead.isDetector(extents, width: picture.width, height: picture.height)
        else { return nil }
        return "The output \(type) is a detector's, whose boxes are no tokens of an embedding; --as boxes takes them."
    }

    /// Which tokens count.
    private func weights(_ mask: Tensor?, rows: Int, tokens: Int) throws(DataError) -> [Int64] {
        switch pooling {
        case .none: return [Int64](repeating: 1, count: rows)
        case .cls: return (0..<(rows * tokens)).map { $0 % tokens == 0 ? 1 : 0 }
        case .mean:
            guard let mask else { return [Int64](repeating: 1, count: rows * tokens) }
            guard mask.shape == [rows, tokens], mask.elementType != .string else {
                throw .mismatch("The attention mask has the shape \(mask.shape), and not \([rows, tokens]).")
            }
            return mask.integers()
        }
    }

    /// The same, one result for each row.
    ///
    /// - Throws: as ``vectors(_:attentionMask:)``.
    package func results(_ output: Tensor, attentionMask: Tensor? = nil) throws(DataError) -> [Result] {
        let vectors = try vectors(output, attentionMask: attentionMask)
        let all = vectors.elements(as: Float.self)
        let length = vectors.shape[1]
        return (0..<vectors.shape[0]).map { Result(vector: Array(all[($0 * length)..<(($0 + 1) * length)])) }
    }
}
