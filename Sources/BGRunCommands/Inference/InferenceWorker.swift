import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import Inference
import InferenceData

/// Carries batches from their inputs to their written parts. One per worker; keeps the prepared model.
///
/// The parts of a batch depend on nothing but the job's terms and the batch's inputs: not on the worker, on batches before
/// it, or on inputs beside it. So a batch that is done again gives the same bytes.
final class InferenceWorker {
    private let terms: InferenceTerms
    private let devices: InferenceDevices
    /// The model's weights, laid out before.
    private let entry: WeightEntry?
    private let ceiling: MemoryCeiling
    private var loaded: (models: PreparedModels, reader: SampleReader, form: RowForm)?
    /// Where rows of outputs go, open.
    private var files: [String: PartedFile] = [:]

    /// Steps that reading an input counts for in the progress.
    private static let readingSteps = 4

    init(_ terms: InferenceTerms, _ devices: InferenceDevices, _ entry: WeightEntry?, _ ceiling: MemoryCeiling) {
        self.terms = terms
        self.ceiling = ceiling
        self.entry = entry
        self.devices = devices
    }

    /// As ``PreparedModels/takeNews()``.
    func takeNews() -> [LaidOutModel] { loaded?.models.takeNews() ?? [] }

    /// Gives up what lies on devices.
    func forgetDevices() { loaded?.models.forgetDevices() }

    /// - Parameters:
    ///   - item: What to do.
    ///   - inputs: Its sources, open.
    ///   - folder: Where all parts lie.
    ///   - onProgress: Asked between operators; returning false asks to stop before anything is committed.
    /// - Returns: The batch with its parts, which are to be committed; none where it was stopped or failed.
    func make(
        _ item: InferenceItem, inputs: [Int32], into folder: OutputFolder, onProgress: @escaping (ItemProgress) -> Bool
    ) -> MadeItem {
        MadeItem(on: item.lane) { result in
            let pulse = BatchPulse(steps: item.count * 2 * Self.readingSteps, onProgress)
            return try run(item, inputs, folder, pulse, &result)
        }
    }

    private func run(
        _ item: InferenceItem, _ inputs: [Int32], _ folder: OutputFolder, _ pulse: BatchPulse,
        _ result: inout ItemResult
    ) throws -> [WrittenOutput] {
        let (models, reader, form) = try load()
        try pulse.goOn(after: 0)
        var samples = try read(item, inputs, reader, pulse)
        pulse.runsModel(true)
        try pulse.goOn(after: 0)
        var rows = [[Tensor]?](repeating: nil, count: samples.count)
        var rowOutputs = Set(models.outputs)
        for places in Self.groups(samples) {
            var left = places[...]
            var known: PreparedModels.Prepared?
            while let first = left.first, let sample = try? samples[first].get() {
                var together = Array(left)
                do {
                    let prepared =
                        try known
                        ?? models.prepared(for: sample.types, on: item.lane, within: item.limits.maxWorkingBytes)
                    known = prepared
                    rowOutputs.formIntersection(prepared.rowOutputs)
                    together = Array(left.prefix(prepared.rows))
                    pulse.expect(steps: prepared.steps * ((left.count - 1) / prepared.rows + 1))
                    let (places, inputs) = try joined(together, item, &samples, prepared, models)
                    if !places.isEmpty {
                        let made = try execute(prepared, inputs, count: places.count, models, pulse)
                        for (place, row) in zip(places, made) { rows[place] = row }
                    }
                } catch let error as ModelError where error.isOfInputs {
                    if error.code == .wrongValue, together.count > 1 {
                        try alone(together, models, item, pulse, &samples, &rows)
                    } else {
                        for place in together { samples[place] = .failure(DataError(error)) }
                    }
                } catch let error as DataError where error.code == .memoryShare && item.hasAllMemory {
                    together = Array(left)
                    for place in together { samples[place] = .failure(error) }
                }
                left = left.dropFirst(together.count)
            }
        }
        result.notes += models.takeNotes()
        let outputs = try write(
            item, samples, rows, form, folder, isByRow: models.outputs.map(rowOutputs.contains), &result)
        try pulse.mayCommit()
        return outputs
    }

    /// What several inputs give the model at once, with the places of those that could be read; filled up with repetitions
    /// of the first to the number that the model was prepared for.
    private func joined(
        _ places: [Int], _ item: InferenceItem, _ samples: inout [Swift.Result<Sample, DataError>],
        _ prepared: PreparedModels.Prepared, _ models: PreparedModels
    ) throws -> (places: [Int], tensors: [String: Tensor]) {
        if places.count == prepared.rows, let joined = Sample.joined(places.compactMap { try? samples[$0].get() }) {
            return (places, joined)
        }
        let given = try tensors(places, item, &samples)
        return (given.map(\.place), try filled(given.map(\.tensors), prepared, models))
    }

    private func filled(
        _ given: [[String: Tensor]], _ prepared: PreparedModels.Prepared, _ models: PreparedModels
    ) throws -> [String: Tensor] {
        guard let first = given.first else { return [:] }
        let filled = given + Array(repeating: first, count: max(prepared.rows - given.count, 0))
        var inputs: [String: Tensor] = [:]
        for port in models.ports { inputs[port.name] = try Batch.joined(filled.compactMap { $0[port.name] }) }
        return inputs
    }

    /// What inputs give the model; one that cannot be read any more fails by itself.
    ///
    /// - Throws: What is not the input's alone; see ``concernsItem(_:_:)``.
    private func tensors(
        _ places: [Int], _ item: InferenceItem, _ samples: inout [Swift.Result<Sample, DataError>]
    ) throws(DataError) -> [(place: Int, tensors: [String: Tensor])] {
        var given: [(Int, [String: Tensor])] = []
        for place in places {
            do throws(DataError) {
                given.append((place, try samples[place].get().tensors()))
            } catch {
                if Self.concernsItem(error, item) { throw error }
                samples[place] = .failure(error)
            }
        }
        return given
    }

    private func read(
        _ item: InferenceItem, _ inputs: [Int32], _ reader: SampleReader, _ pulse: BatchPulse
    ) throws(DataError) -> [Swift.Result<Sample, DataError>] {
        var samples: [Swift.Result<Sample, DataError>] = []
        reader.batchBegins()
        for (source, descriptor) in zip(item.sources, inputs) {
            do throws(DataError) {
                samples += try reader.samples(of: source, descriptor, limits: item.limits, on: item.lane) {
                    !pulse.mayGoOn
                }
            } catch {
                if Self.concernsItem(error, item) { throw error }
                samples += source.rows.map { _ in .failure(error) }
            }
            try pulse.goOn(after: Self.readingSteps * source.rows.count)
        }
        return samples
    }

    /// Whether an input's error ends the whole item: it was asked to stop, or may be tried with more memory.
    private static func concernsItem(_ error: DataError, _ item: InferenceItem) -> Bool {
        error.code == .stopped || error.code == .memoryShare && !item.hasAllMemory
    }

    /// Places of inputs that may go through the model together: those of one shape.
    private static func groups(_ samples: [Swift.Result<Sample, DataError>]) -> [[Int]] {
        var groups: [(types: [String: TensorType], places: [Int])] = []
        for (place, sample) in samples.enumerated() {
            guard let types = try? sample.get().types else { continue }
            if let group = groups.firstIndex(where: { $0.types == types }) {
                groups[group].places.append(place)
            } else {
                groups.append((types, [place]))
            }
        }
        return groups.map(\.places)
    }

    private func load() throws -> (models: PreparedModels, reader: SampleReader, form: RowForm) {
        if let loaded { return loaded }
        let models = PreparedModels(
            try ModelImporter(weights: .deferred).load(path: terms.model.path),
            extents: terms.extents, batch: terms.batch, precision: terms.precision, devices: devices, entry: entry)
        let made = (models, SampleReader(terms, models.ports, ceiling), try RowForm(terms.form))
        loaded = made
        return made
    }

    /// Runs inputs together, the first `count` of which are wanted.
    ///
    /// - Returns: For each of them its row of each output; of an output without rows, which is of one input then, all of it.
    private func execute(
        _ prepared: PreparedModels.Prepared, _ inputs: [String: Tensor], count: Int, _ models: PreparedModels,
        _ pulse: BatchPulse
    ) throws -> [[Tensor]] {
        guard prepared.rows == 1 || models.outputs.allSatisfy(prepared.rowOutputs.contains) else {
            throw DataError.mismatch("The model takes \(prepared.rows) inputs at once, and gives no row for each.")
        }
        let outputs = try prepared.execute(inputs) { !pulse.passes($0) }
        return try (0..<count).map { row in
            try models.outputs.compactMap { name -> Tensor? in
                guard let value = outputs[name] else { return nil }
                guard prepared.rowOutputs.contains(name) else { return try value.reshaped([1] + value.shape) }
                guard value.shape.first == prepared.rows else {
                    throw DataError.mismatch(
                        "The output \"\(name)\" has the shape \(value.shape), and not \(prepared.rows) rows.")
                }
                return try Batch.rows(row..<(row + 1), of: value)
            }
        }
    }

    /// One of several inputs has no result: each is run by itself, so that the others keep theirs.
    private func alone(
        _ places: [Int], _ models: PreparedModels, _ item: InferenceItem, _ pulse: BatchPulse,
        _ samples: inout [Swift.Result<Sample, DataError>], _ rows: inout [[Tensor]?]
    ) throws {
        for (place, tensors) in try tensors(places, item, &samples) {
            do {
                let types = tensors.mapValues { TensorType($0.elementType, extents: $0.shape) }
                let prepared = try models.prepared(
                    for: types, on: item.lane, within: item.limits.maxWorkingBytes)
                let inputs = try filled([tensors], prepared, models)
                rows[place] = try execute(prepared, inputs, count: 1, models, pulse).first
            } catch let error as ModelError where error.isOfInputs {
                samples[place] = .failure(DataError(error))
            }
        }
    }

    private func write(
        _ item: InferenceItem, _ samples: [Swift.Result<Sample, DataError>], _ rows: [[Tensor]?], _ form: RowForm,
        _ folder: OutputFolder, isByRow: [Bool], _ result: inout ItemResult
    ) throws -> [WrittenOutput] {
        var entries: [RowForm.Entry] = []
        for (place, sample) in samples.enumerated() {
            switch (sample, rows[place]) {
            case (.success(let sample), let made?):
                entries.append(.row(made, sample))
                guard !sample.damage.isEmpty else { continue }
                let reason = sample.damage.joined(separator: "; ")
                result.damages.append(.init(input: place, failure: .init(code: "damaged", reason: reason)))
            case (.failure(let error), _):
                entries.append(.problem(ItemResult.Failure(error)))
            case (.success, nil):
                entries.append(.problem(.init(code: "noResult", reason: "the model gave no result")))
            }
        }
        let parts = try form.parts(entries, names: item.names)
        result.problems += parts.problems
        var content = parts.lines
        if case .arrays = terms.form {
            let rows = try parts.arrays.enumerated().map { output, array in
                var rows = try write(array, to: item.rows(of: output), first: item.first, folder)
                rows.isWhole = !isByRow[output]
                return rows
            }
            content = JSONText.encode(BatchNote(rows: rows, problems: parts.problems))
        }
        // Whoever reads a part, or rows, compares them with their checksum.
        return [
            try WrittenOutput(
                Array(content.utf8), at: item.part, mayReplace: item.mayReplace, flushes: false, in: folder)
        ]
    }

    /// Writes rows of an output to their place among those of all batches.
    private func write(
        _ rows: Tensor, to path: String, first: Int, _ folder: OutputFolder
    ) throws -> BatchNote.Rows {
        let file = try files[path] ?? PartedFile(path: path, in: folder)
        files[path] = file
        let shape = Array(rows.shape.dropFirst())
        let offset = try NPYAssembly(elementType: rows.elementType, rowShape: shape).offset(ofRow: first)
        let checksum = try rows.withBytes { bytes in
            Result { () throws(ExportFailure) in
                try file.write(bytes, at: offset)
                return Checksum.xxh3(bytes)
            }
        }.get()
        return BatchNote.Rows(elementType: rows.elementType, shape: shape, checksum: checksum)
    }
}

extension ModelError {
    /// It lies with what the model was given: other inputs may go well.
    fileprivate var isOfInputs: Bool {
        switch code {
        case .wrongInput, .wrongValue, .damaged, .tooLarge, .unsupported: true
        case .notReadable, .stopped, .engine: false
        }
    }
}
