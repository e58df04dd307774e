import ChunkedCompute
import Inference

/// A model as a worker runs it: prepared for the types that inputs turn out to have, the last few of them kept.
final class PreparedModels {
    /// A model for one size of batch.
    struct Prepared {
        /// Rows that go through it at once.
        var rows: Int
        var steps: Int
        /// What runs need beside their inputs, in memory of the host.
        var byteCount: Int
        /// Computes the outputs; asks before each step, or before each group of launches, whether to stop.
        var execute: (_ inputs: [String: Tensor], _ shouldStop: () -> Bool) throws(ModelError) -> [String: Tensor]
    }

    private let model: Model
    private let largestBatch: Int
    private let precision: PrecisionChoice
    private let devices: InferenceDevices
    private let laidOut: LaidOutWeights
    /// What weights were laid out for, where that is worth keeping.
    private var news: [LaidOutModel] = []
    private var kept: [(types: [String: TensorType], lane: LaneChoice, prepared: Prepared)] = []
    /// Some output does not have a row for each input: batches are not possible.
    private(set) var isSingle = false

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
        var model = model
        model.graph.inputs = model.graph.inputs.map { port in
            guard var type = port.type else { return port }
            type.shape = type.shape?.map { dimension in
                guard case .symbol(let name) = dimension, let extent = extents[name] else { return dimension }
                return .known(extent)
            }
            return Graph.Port(port.name, type)
        }
        self.model = model
        largestBatch = batch
    }

    /// Inputs of the model, in its order, with the extents that were given.
    var ports: [Graph.Port] { model.graph.inputs }
    var outputs: [String] { model.graph.outputs.map(\.name) }

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

    private func prepare(
        _ rows: Int, _ types: [String: TensorType], on lane: LaneChoice
    ) throws(ModelError) -> Prepared {
        switch lane {
        case .cpu:
            let before = laidOut.madeByteCount
            let compiled = try CompiledModel(
                model, inputs: types, precision: try precision.precision(types), laidOut: laidOut)
            if laidOut.madeByteCount - before >= WeightCache.fewestBytes {
                news += [LaidOutModel(types)].compactMap(\.self)
            }
            let run = try CompiledModel.Run(compiled)
            return Prepared(
                rows: rows, steps: compiled.stepCount,
                byteCount: compiled.arenaByteCount + compiled.scratchpadByteCount + compiled.constantByteCount
            ) { inputs, shouldStop throws(ModelError) in
                try run.execute(inputs, shouldStop: shouldStop)
            }
        case .openCL(let identity):
            let compiled = try OpenCLModel(
                model, on: try devices.device(identity, precision.storage), inputs: types)
            return Prepared(rows: rows, steps: compiled.stepCount, byteCount: 0) {
                inputs, shouldStop throws(ModelError) in
                try compiled.execute(inputs, shouldStop: shouldStop)
            }
        }
    }

    /// What weights were laid out for since the last call, where that is worth keeping.
    func takeNews() -> [LaidOutModel] {
        defer { news = [] }
        return news
    }

    /// Gives up what lies on devices.
    func forgetDevices() { kept.removeAll { $0.lane != .cpu } }

    /// From now on one row at a time.
    func leaveBatches() {
        isSingle = true
        kept = []
    }

    /// The file says how many rows go through at once.
    var isFixed: Bool { leading.contains { $0.extent != nil } }

    private var leading: [Dimension] { ports.compactMap { $0.type?.shape?.first } }

    private func rows(_ single: [String: TensorType], on lane: LaneChoice) throws(ModelError) -> Int {
        if let fixed = leading.compactMap(\.extent).first { return fixed }
        guard !isSingle, leading.count == ports.count else { return 1 }
        // A device is fed by what goes through it at once, and is stopped between groups of launches.
        guard lane == .cpu else { return largestBatch }
        return try model.rowsAtOnce(inputs: single, most: largestBatch)
    }
}
