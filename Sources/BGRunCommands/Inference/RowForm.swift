import ChunkedCompute
import Inference
import InferenceData

/// Makes of the rows of a model's outputs what the person asked for.
struct RowForm {
    /// What came of one input.
    enum Entry {
        /// A tensor with a leading extent of 1 for each output of the model.
        case row([Tensor], Sample)
        case problem(ItemResult.Failure)
    }

    /// A batch's results, as they are kept until all batches have theirs.
    struct Parts {
        /// A line of JSON for each input, where lines were asked for.
        var lines = ""
        /// For each output of the model a row for each input, where arrays were asked for and any input has a row.
        var arrays: [Tensor] = []
        /// Inputs without a result.
        var problems: [ItemResult.Problem] = []
    }

    private let form: ResultForm
    private let labels: Labels?

    /// - Throws: `DataError` where the file of labels cannot be read.
    init(_ form: ResultForm) throws(DataError) {
        self.form = form
        labels = try form.labels.map { path throws(DataError) in
            try withOpenFile(path) { file throws(DataError) in try Labels(file) }
        }
    }

    /// - Parameters:
    ///   - entries: What came of a batch's inputs.
    ///   - names: What lines call them.
    /// - Returns: What is kept of the batch.
    /// - Throws: `DataError` for arrays whose rows do not go together.
    func parts(_ entries: [Entry], names: [String]) throws(DataError) -> Parts {
        var parts = Parts()
        var lines = [String?](repeating: nil, count: entries.count)
        for (place, entry) in entries.enumerated() {
            switch entry {
            case .problem(let failure): parts.problems.append(.init(input: place, failure: failure))
            case .row(let outputs, let sample):
                do throws(DataError) {
                    lines[place] = try line(outputs, sample, names[place])
                } catch {
                    parts.problems.append(.init(input: place, failure: .init(error)))
                }
            }
        }
        if case .arrays = form {
            parts.arrays = try Self.arrays(entries)
            return parts
        }
        for problem in parts.problems { lines[problem.input] = ProblemLine(names[problem.input], problem.failure).text }
        parts.lines = lines.map { ($0 ?? "") + "\n" }.joined()
        return parts
    }

    /// - Returns: nil where arrays say everything.
    private func line(_ outputs: [Tensor], _ sample: Sample, _ name: String) throws(DataError) -> String? {
        switch form {
        case .arrays: return nil
        case .classes(let top, let softmax, _):
            return try first(TopK(count: top, softmax: softmax, labels: labels).results(try output(outputs)), name)
        case .boxes(let confidence, let overlap, _):
            guard let placement = sample.placement else { throw .mismatch("Boxes are found in pictures.") }
            let boxes = Boxes(confidence: confidence, overlap: overlap, labels: labels)
            return try first(boxes.results(try output(outputs), placements: [placement]), name)
        case .embeddings(let pooling, let normalise):
            let embeddings = Embeddings(pooling: pooling, normalise: normalise)
            let (made, picture) = (try output(outputs), sample.placement)
            let type = TensorType(made.elementType, extents: made.shape)
            let size = picture.map { ImagePreset.Size(width: $0.width, height: $0.height) }
            if let misfit = embeddings.misfit(type, picture: size) { throw .mismatch(misfit) }
            return try first(
                embeddings.results(made, attentionMask: sample.tensors()["attention_mask"]), name)
        }
    }

    private func output(_ outputs: [Tensor]) throws(DataError) -> Tensor {
        guard let output = outputs.first else { throw .mismatch("The model has no output.") }
        return output
    }

    private func first(_ results: [some JSONLineResult], _ name: String) throws(DataError) -> String {
        guard let result = results.first else { throw .mismatch("The output has no row.") }
        return result.jsonLine(for: name)
    }

    /// Each output's rows behind each other; inputs without a result have rows of NaN, or of zeros where there is none.
    private static func arrays(_ entries: [Entry]) throws(DataError) -> [Tensor] {
        let rows = entries.map { entry -> [Tensor]? in if case .row(let outputs, _) = entry { outputs } else { nil } }
        // Without any row nobody knows the shape; the whole job's arrays are filled up later.
        guard let known = rows.compactMap(\.self).first else { return [] }
        return try known.indices.map { output throws(DataError) in
            let filler = try filler(like: known[output])
            return try Batch.joined(rows.map { $0?[output] ?? filler })
        }
    }

    private static func filler(like tensor: Tensor) throws(DataError) -> Tensor {
        let value = tensor.elementType.isFloat ? Double.nan : 0
        do throws(ModelError) {
            return try Tensor(
                tensor.elementType, shape: tensor.shape, doubles: [Double](repeating: value, count: tensor.count))
        } catch {
            throw DataError(error)
        }
    }

    /// The bytes of a row of an input without a result.
    static func filler(_ assembly: NPYAssembly) throws(DataError) -> [UInt8] {
        let zeros = [Int64](repeating: 0, count: assembly.rowByteCount / assembly.elementType.byteCount)
        let like: Tensor
        do throws(ModelError) {
            like = try Tensor(assembly.elementType, shape: [1] + assembly.rowShape, integers: zeros)
        } catch {
            throw DataError(error)
        }
        return Array(try NPYAssembly.bytes(of: try filler(like: like)).dropFirst(assembly.headerByteCount))
    }
}

/// The line of an input without a result.
struct ProblemLine {
    private struct Line: Encodable {
        var input: String
        var row: Int?
        var error: String
        var reason: String
    }

    var text: String

    /// `row` is that of arrays.
    init(_ input: String, _ failure: ItemResult.Failure, row: Int? = nil) {
        text = JSONText.encode(Line(input: input, row: row, error: failure.code, reason: failure.reason))
    }
}
