import ChunkedCompute
import Inference
import InferenceData

/// A model as a worker runs it: prepared for the types that inputs turn out to have, the last few of them kept.
final class PreparedModels {
    /// A model for one size of batch.
    struct Prepared {
        /// Rows that go through it at once.
        var rows: Int
        /// Outputs with a row for each of those. Where the file leaves open how many go through, several do so only with
        /// all of its outputs among these.
        var rowOutputs: Set<String>
        var steps: Int
        /// What runs need with their inputs, in memory of the host.
        var byteCount: Int
        /// Computes the outputs; asks before each step, or before each group of launches, whether to stop.
        var execute:
            (_ inputs: [String: Tensor], _ shouldStopAt: (RunPoint) -> Bool) throws(ModelError) -> [String: Tensor]
    }

    private let model: Model
    let outputs: [String]
    private let largestBatch: Int
    private let precision: PrecisionChoice
    private let devices: InferenceDevices
    private let laidOut: LaidOutWeights
    /// What weights were laid out for, where that is worth keeping.
    private var news: [LaidOutModel] = []
    /// Sentences for the report.
    private var notes: [String] = []
    private var kept: [(types: [String: TensorType], lane: LaneChoice, prepared: Prepared)] = []

    /// Types for which a model is kept prepared.
    private static let keptCount = 4

    /// - Parameters:
    ///   - model: As it was loaded.
    ///   - extents: For names of extents that inputs leave open.
    ///   - batch: The most rows at once.
    ///   - precision: Of the CPU and of devices.
    ///   - devices: What runs it beside the CPU.
    ///   - entry: Its weights, laid out before; nil where there are none.
    init(
        _ model: Model, extents: [String: Int], batch: Int, precision: PrecisionChoice, devices: InferenceDevices,
        entry: WeightEntry?
    ) {
        self.devices = devices
        laidOut = LaidOutWeights(entry)
        self.precision = precision
        self.model = model.withExtents(extents)
        outputs = model.graph.outputs.map(\.name)
        largestBatch = batch
    }

    /// Inputs of the model, in its order, with the extents that were given.
    var ports: [Graph.Port] { model.graph.inputs }

    /// The model for inputs like these, each with a leading extent of 1. The same types give the same number of rows, so
    /// that a result does not depend on what else is in its batch.
    ///
    /// - Throws: As ``CompiledModel`` does.
    func prepared(for single: [String: TensorType], on lane: LaneChoice) throws(ModelError) -> Prepared {
        if let place = kept.firstIndex(where: { $0.types == single && $0.lane == lane }) {
            let found = kept.remove(at: place)
            kept.append(found)
            return found.prepared
        }
        let rows = try rows(single, on: lane)
        let types = single.mapValues { $0.withRows(rows) }
        let prepared = try prepare(rows, types, on: lane)
        kept.append((single, lane, prepared))
        if kept.count > Self.keptCount { kept.removeFirst() }
        return prepared
    }

    /// The same, where what it needs fits into so many bytes of memory beside what is held already. That is looked at before
    /// memory is taken for it, as far as it is known by then.
    ///
    /// - Throws: `DataError` of the code `memoryShare`, and as ``CompiledModel`` does.
    func prepared(
        for single: [String: TensorType], on lane: LaneChoice, within allowedBytes: Int, heldBytes: Int = 0
    ) throws -> Prepared {
        let least = try leastByteCount(for: single, on: lane) + heldBytes
        guard least <= allowedBytes else { throw DataError.memoryShare(least, of: allowedBytes) }
        let prepared = try prepared(for: single, on: lane)
        let bytes = prepared.byteCount + heldBytes
        guard bytes <= allowedBytes else { throw DataError.memoryShare(bytes, of: allowedBytes) }
        return prepared
    }

    /// What the model for inputs like these needs at least in memory of the host, as far as that is known before it is
    /// prepared: its inputs, and on the CPU its weights, which bfloat16 halves.
    ///
    /// - Throws: `wrongInput` for a number of rows that is not possible.
    private func leastByteCount(for single: [String: TensorType], on lane: LaneChoice) throws(ModelError) -> Int {
        let rows = try model.fixedRows()
        let weights = lane == .cpu ? model.graph.initialisers.values.reduce(0) { $0 + $1.byteCount } : 0
        return weights / 2 + Self.byteCount(single, rows: rows ?? 1)
    }

    /// Of so many inputs like these; at most 2^60.
    private static func byteCount(_ single: [String: TensorType], rows: Int) -> Int {
        let bytes = single.values.reduce(0.0) { sum, type in
            sum + (type.extents ?? []).reduce(Double(type.elementType.byteCount)) { $0 * Double($1) }
        }
        return Int(min(bytes * Double(rows), 0x1p60))
    }

    private func prepare(
        _ rows: Int, _ types: [String: TensorType], on lane: LaneChoice
    ) throws(ModelError) -> Prepared {
        let rowOutputs = model.rowOutputs(types)
        let inputBytes = Self.byteCount(types, rows: 1)
        switch lane {
        case .cpu:
            let before = laidOut.madeByteCount
            let compiled = try CompiledModel(
                model, inputs: types, precision: try precision.precision(types), laidOut: laidOut)
            if let error = compiled.measuredError {
                notes.append(PrecisionChoice.note(isBFloat16: compiled.usesBFloat16, error: error))
            }
            if laidOut.madeByteCount - before >= WeightCache.fewestBytes {
                news += [LaidOutModel(types)].compactMap(\.self)
            }
            // Its memory is taken once somebody has looked at how much that is.
            var held: CompiledModel.Run?
            return Prepared(
                rows: rows, rowOutputs: rowOutputs, steps: compiled.stepCount,
                byteCount: compiled.arenaByteCount + compiled.scratchpadByteCount + compiled.constantByteCount
                    + inputBytes
            ) { inputs, shouldStopAt throws(ModelError) in
                let run: CompiledModel.Run
                if let held { run = held } else { run = try CompiledModel.Run(compiled) }
                held = run
                return try run.execute(inputs, shouldStopAt: shouldStopAt)
            }
        case .openCL(let identity):
            let compiled = try OpenCLModel(
                model, on: try devices.device(identity, precision.storage), inputs: types)
            return Prepared(
                rows: rows, rowOutputs: rowOutputs, steps: compiled.stepCount, byteCount: inputBytes
            ) { inputs, shouldStopAt throws(ModelError) in
                try compiled.execute(inputs, shouldStopAt: shouldStopAt)
            }
        }
    }

    /// What weights were laid out for since the last call, where that is worth keeping.
    func takeNews() -> [LaidOutModel] {
        defer { news = [] }
        return news
    }

    /// What was found out of the precision since the last call.
    func takeNotes() -> [String] {
        defer { notes = [] }
        return notes
    }

    /// Gives up what lies on devices.
    func forgetDevices() { kept.removeAll { $0.lane != .cpu } }

    private func rows(_ single: [String: TensorType], on lane: LaneChoice) throws(ModelError) -> Int {
        if let fixed = try model.fixedRows() { return fixed }
        guard ports.allSatisfy({ $0.type?.shape?.isEmpty == false }) else { return 1 }
        let rows: Int
        do throws(ModelError) {
            // A device is fed by what goes through it at once, and is stopped between groups of launches.
            let known = try model.rowsAtOnce(inputs: single, most: largestBatch)
            rows = lane == .cpu ? known : largestBatch
        } catch {
            // A graph that was traced for a number of rows has no shapes for one. It follows from the model, as a number
            // that the file says would.
            guard let traced = InferenceTerms.batches.first(where: { model.givesRows(for: single, of: [$0]) }) else {
                throw error
            }
            return traced
        }
        return rows > 1 && model.givesRows(for: single, atOnce: rows) ? rows : 1
    }
}
