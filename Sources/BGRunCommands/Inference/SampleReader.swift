import ChunkedCompute
import Glibc
import ImageCodecs
import Inference
import InferenceData
import TaskStore

/// One input of a batch.
struct Sample {
    /// Of its tensors by the names of the model's inputs, each with a leading extent of 1.
    let types: [String: TensorType]
    /// Gives the tensors; reads them anew where they are rows of an array, of which few are then in memory at once.
    let tensors: () throws(DataError) -> [String: Tensor]
    /// Of a picture.
    var placement: ImagePlacement?
    /// What was wrong with it; it was read nevertheless.
    var damage: [String] = []
    /// Of a row that can be read together with its neighbours.
    private var row: (array: StoredArray, number: Int)?

    init(_ types: [String: TensorType], tensors: @escaping () throws(DataError) -> [String: Tensor]) {
        self.types = types
        self.tensors = tensors
    }

    init(_ tensors: [String: Tensor], placement: ImagePlacement? = nil, damage: [String] = []) {
        self.init(tensors.mapValues { TensorType($0.elementType, extents: $0.shape) }) { tensors }
        self.placement = placement
        self.damage = damage
    }

    fileprivate init(_ number: Int, of array: StoredArray) {
        self.init(array.types) { () throws(DataError) in try array.tensors(number..<(number + 1)) }
        row = (array, number)
    }

    /// The tensors of all, behind each other along the first axis: read at once, where they are neighbouring rows of an
    /// array. Nil where they are not, or one cannot be read.
    static func joined(_ samples: [Sample]) -> [String: Tensor]? {
        guard let first = samples.first?.row else { return nil }
        for (offset, sample) in samples.enumerated() {
            guard let row = sample.row, row.array === first.array, row.number == first.number + offset else {
                return nil
            }
        }
        return try? first.array.tensors(first.number..<(first.number + samples.count))
    }
}

/// An array whose rows are a model's inputs.
private final class StoredArray {
    /// Of one row.
    let types: [String: TensorType]
    private let file: NPYFile
    private let port: Graph.Port
    private let limits: DecodeLimits

    init(_ file: NPYFile, for port: Graph.Port, _ limits: DecodeLimits) throws(DataError) {
        self.file = file
        self.limits = limits
        self.port = port
        let type = try SampleReader.conversion(of: file.header.elementType, for: port)
        types = [port.name: TensorType(type, extents: [1] + file.header.rowShape)]
    }

    func tensors(_ rows: Range<Int>) throws(DataError) -> [String: Tensor] {
        let tensor = try SampleReader.array(within: limits) { limit throws(DataError) in
            try file.rows(rows, largestBytes: limit)
        }
        return [port.name: try SampleReader.converted(tensor, for: port)]
    }
}

/// Makes tensors of a batch's sources. Keeps what it opened from one batch to the next.
final class SampleReader {
    private let terms: InferenceTerms
    private let ports: [Graph.Port]
    private let ceiling: MemoryCeiling
    private let pictures = ImageReader()
    /// Bytes of pictures of this batch that are kept until they go through the model.
    private var keptBytes = 0
    private var preset: ImagePreset?
    private var tokenizer: Tokenizer?
    private var texts: TextFile?
    private var arrays: Arrays?

    /// What the archive that the last batch came from gives the model's inputs, as it was when its arrays were read.
    private struct Arrays {
        let key: FileKey
        let identity: FileIdentity
        let tensors: [String: Tensor]
    }

    /// The text file that the last batch came from, kept open with the index of its texts.
    private final class TextFile {
        let key: FileKey
        let identity: FileIdentity
        let source: TextSource
        private let descriptor: Int32

        init?(_ other: Int32, _ status: stat, _ format: TextSource.Format) throws(DataError) {
            descriptor = fcntl(other, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return nil }
            key = FileKey(status)
            identity = FileIdentity(status)
            do throws(DataError) {
                source = try TextSource(try OpenFile(descriptor: descriptor), format: format)
            } catch {
                close(descriptor)
                throw error
            }
        }

        deinit { close(descriptor) }
    }

    /// The largest array of one input.
    fileprivate static let largestBytes = 1 << 30
    /// Texts are padded to a multiple of this, so that few lengths have to be prepared.
    static let lengthStep = 32

    init(_ terms: InferenceTerms, _ ports: [Graph.Port], _ ceiling: MemoryCeiling) {
        self.terms = terms
        self.ceiling = ceiling
        self.ports = ports
    }

    /// What was read before is not needed any more.
    func batchBegins() { keptBytes = 0 }

    /// The inputs of a source in their order, each as it is or with why it cannot be used.
    ///
    /// - Parameters:
    ///   - source: A file, or rows of it.
    ///   - descriptor: The file, open until the batch is done.
    ///   - limits: Bounds of each input.
    ///   - lane: Where the batch runs.
    ///   - shouldStop: Asked on the way.
    /// - Returns: A sample for each input, or why there is none.
    /// - Throws: `stopped`, and what keeps the whole source from being read.
    func samples(
        of source: InferenceItem.Source, _ descriptor: Int32, limits: DecodeLimits, on lane: LaneChoice,
        shouldStop: @escaping () -> Bool
    ) throws(DataError) -> [Result<Sample, DataError>] {
        if source.kind != .archive { arrays = nil }
        switch source.kind {
        case .picture: return [.success(try picture(descriptor, limits, lane, shouldStop))]
        case .array: return try array(descriptor, source.rows, limits)
        case .archive:
            return try ceiling.whileDecoding(on: lane, claimBytes: limits.maxWorkingBytes) { () throws(DataError) in
                try archive(descriptor, source.rows, limits)
            }
        case .lines, .jsonLines: return try text(descriptor, source)
        }
    }

    // MARK: Pictures

    /// Pictures of a batch that together take more than half of its memory are read again when they go through the model.
    private func picture(
        _ descriptor: Int32, _ limits: DecodeLimits, _ lane: LaneChoice, _ shouldStop: @escaping () -> Bool
    ) throws(DataError) -> Sample {
        let port = try theInput(for: "a picture")
        let fitted: ImagePreset
        if let preset { fitted = preset } else { fitted = try terms.preset.fitted(to: port.type) }
        preset = fitted
        func read() throws(DataError) -> ImageReader.Result {
            try ceiling.whileDecoding(on: lane, claimBytes: limits.maxWorkingBytes) { () throws(DataError) in
                try pictures.read(
                    descriptor: descriptor, preset: fitted, as: port.type?.elementType ?? .float32, limits: limits,
                    shouldStop: shouldStop)
            }
        }
        let first = try read()
        keptBytes += first.tensor.byteCount
        guard keptBytes > limits.maxWorkingBytes / 2, keptBytes > first.tensor.byteCount else {
            return Sample([port.name: first.tensor], placement: first.placement, damage: first.damage)
        }
        keptBytes -= first.tensor.byteCount
        let type = TensorType(first.tensor.elementType, extents: first.tensor.shape)
        var sample = Sample([port.name: type]) { () throws(DataError) in [port.name: try read().tensor] }
        sample.placement = first.placement
        sample.damage = first.damage
        return sample
    }

    private func theInput(for what: String) throws(DataError) -> Graph.Port {
        guard let port = ports.first, ports.count == 1 else {
            throw DataError.mismatch(
                "The model has \(ports.count) inputs (\(ports.map(\.name).joined(separator: ", "))), and \(what) is one."
            )
        }
        return port
    }

    // MARK: Arrays

    private func array(
        _ descriptor: Int32, _ rows: Range<Int>, _ limits: DecodeLimits
    ) throws(DataError) -> [Result<Sample, DataError>] {
        let port = try theInput(for: "a .npy file")
        let file = try NPYFile(try OpenFile(descriptor: descriptor))
        guard file.hasRowsInOnePiece else {
            let stored = try Self.array(within: limits) { limit throws(DataError) in
                try file.rows(rows, largestBytes: limit)
            }
            let all = try Self.converted(stored, for: port)
            return try (0..<rows.count).map { row throws(DataError) in
                .success(Sample([port.name: try Batch.rows(row..<(row + 1), of: all)]))
            }
        }
        let array = try StoredArray(file, for: port, limits)
        return rows.map { .success(Sample($0, of: array)) }
    }

    /// Reads an array of at most as many bytes as an input may have; one that only the memory is too small for may be tried
    /// with more.
    fileprivate static func array(
        within limits: DecodeLimits, _ read: (_ largestBytes: Int) throws(DataError) -> Tensor
    ) throws(DataError) -> Tensor {
        do throws(DataError) {
            return try read(min(largestBytes, limits.maxWorkingBytes))
        } catch {
            guard error.code == .tooLarge, limits.maxWorkingBytes < largestBytes else { throw error }
            throw .memoryShare(error.sentence)
        }
    }

    private func archive(
        _ descriptor: Int32, _ rows: Range<Int>, _ limits: DecodeLimits
    ) throws(DataError) -> [Result<Sample, DataError>] {
        let tensors = try tensors(ofArchive: descriptor, limits)
        return try rows.map { row throws(DataError) in
            var sample: [String: Tensor] = [:]
            for (name, tensor) in tensors { sample[name] = try Batch.rows(row..<(row + 1), of: tensor) }
            return .success(Sample(sample))
        }
    }

    /// Whole arrays: what is compressed cannot be read from the middle. They are kept for the batches that follow.
    private func tensors(
        ofArchive descriptor: Int32, _ limits: DecodeLimits
    ) throws(DataError) -> [String: Tensor] {
        let status = try Self.status(of: descriptor)
        if let arrays, arrays.key == FileKey(status), arrays.identity == FileIdentity(status) { return arrays.tensors }
        arrays = nil
        let file = try NPZFile(try OpenFile(descriptor: descriptor))
        var tensors: [String: Tensor] = [:]
        for port in ports {
            let array = try Self.array(within: limits) { limit throws(DataError) in
                try file.array(port.name, largestBytes: limit)
            }
            tensors[port.name] = try Self.converted(array, for: port)
        }
        arrays = Arrays(key: FileKey(status), identity: FileIdentity(status), tensors: tensors)
        return tensors
    }

    private static func status(of descriptor: Int32) throws(DataError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw DataError.mismatch("The file cannot be looked at.") }
        return status
    }

    /// The type that the model takes in place of an array's, where that type has its numbers.
    fileprivate static func conversion(of type: ElementType, for port: Graph.Port) throws(DataError) -> ElementType {
        guard let wanted = port.type?.elementType, wanted != type else { return type }
        guard type.isFloat == wanted.isFloat || type.isInteger && wanted.isFloat else {
            throw DataError.mismatch(
                "The input \"\(port.name)\" takes \(wanted.rawValue), and the array is of \(type.rawValue).")
        }
        return wanted
    }

    fileprivate static func converted(_ tensor: Tensor, for port: Graph.Port) throws(DataError) -> Tensor {
        let wanted = try conversion(of: tensor.elementType, for: port)
        guard wanted != tensor.elementType else { return tensor }
        do throws(ModelError) {
            return tensor.elementType.isFloat
                ? try Tensor(wanted, shape: tensor.shape, doubles: tensor.doubles())
                : try Tensor(wanted, shape: tensor.shape, integers: tensor.integers())
        } catch {
            throw DataError(error)
        }
    }

    // MARK: Texts

    private func text(
        _ descriptor: Int32, _ source: InferenceItem.Source
    ) throws(DataError) -> [Result<Sample, DataError>] {
        guard let textTerms = terms.text else { throw DataError.mismatch("Texts need a tokenizer.") }
        let tokenizer = try tokenizer(textTerms)
        let file = try textSource(descriptor, source.kind, textTerms)
        // As long as the person says, else as the model does, else as the longest text asks for.
        let declared = ports.first { $0.name == "input_ids" || ports.count == 1 }?.type?.shape ?? []
        let length = textTerms.length ?? (declared.count > 1 ? declared[1].extent : nil)
        var failures: [Int: DataError] = [:]
        var encodings: [Tokenizer.Encoding] = []
        for row in source.rows {
            do throws(DataError) {
                encodings.append(try tokenizer.encode(try file.text(at: row), length: length))
            } catch {
                failures[row] = error
            }
        }
        guard !encodings.isEmpty else { return source.rows.compactMap { failures[$0].map { .failure($0) } } }
        let rows = try tokenizer.rows(of: encodings, length: length, multipleOf: Self.lengthStep)
        var given: [(String, Tensor)] = []
        for port in ports {
            let tensor: Tensor
            switch port.name {
            case "input_ids": tensor = rows.inputIDs
            case "attention_mask": tensor = rows.attentionMask
            case "token_type_ids": tensor = rows.tokenTypeIDs
            default:
                guard ports.count == 1 else {
                    throw DataError.mismatch("A text has no input \"\(port.name)\".")
                }
                tensor = rows.inputIDs
            }
            given.append((port.name, try Self.converted(tensor, for: port)))
        }
        var next = 0
        return try source.rows.map { row throws(DataError) in
            if let failure = failures[row] { return .failure(failure) }
            defer { next += 1 }
            var sample: [String: Tensor] = [:]
            for (name, tensor) in given { sample[name] = try Batch.rows(next..<(next + 1), of: tensor) }
            return .success(Sample(sample))
        }
    }

    private func tokenizer(_ terms: TextTerms) throws(DataError) -> Tokenizer {
        if let tokenizer { return tokenizer }
        let read = try withOpenFile(terms.tokenizer) { file throws(DataError) in try Tokenizer(file) }
        tokenizer = read
        return read
    }

    /// The texts of a file; its index is made once for all batches that come from it one after the other.
    private func textSource(
        _ descriptor: Int32, _ kind: InferenceItem.Source.Kind, _ terms: TextTerms
    ) throws(DataError) -> TextSource {
        let status = try Self.status(of: descriptor)
        if let texts, texts.key == FileKey(status), texts.identity == FileIdentity(status) { return texts.source }
        texts = nil
        let format: TextSource.Format = kind == .jsonLines ? .jsonLines(field: terms.field) : .lines
        texts = try TextFile(descriptor, status, format)
        guard let texts else { throw DataError.mismatch("Too many files are open.") }
        return texts.source
    }
}
