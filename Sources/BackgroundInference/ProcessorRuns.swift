import Inference
import Locking

/// Runs on the processor, any number at once, each on one core.
final class ProcessorRuns: SessionRuns {
    private let session: SessionModel
    private let weights: SessionWeights?
    private let prepared = Lock<[Prepared]>([])

    /// The model for some types of inputs, and the memory that runs of it have left.
    private struct Prepared {
        var types: [String: TensorType]
        var model: BatchModel
        var idle: [Idle] = []
    }

    /// Memory of a run that is used by one thread at a time.
    private final class Idle: @unchecked Sendable {
        // Unchecked: it is taken out of the list before it is used, so that no two threads have it.
        let run: BatchModel.Run
        init(_ run: BatchModel.Run) { self.run = run }
    }

    init(_ session: SessionModel, _ weights: SessionWeights?) {
        self.session = session
        self.weights = weights
    }

    func execute(_ inputs: [String: Tensor], _ shouldStop: () -> Bool) throws(ModelError) -> [String: Tensor] {
        let types = SessionModel.types(of: inputs)
        let idle = try idle(for: types)
        defer { giveBack(idle, types) }
        return try idle.run.execute(inputs, shouldStop: shouldStop)
    }

    private func idle(for types: [String: TensorType]) throws(ModelError) -> Idle {
        let found = prepared.withLock { prepared -> (BatchModel, Idle?)? in
            guard let place = prepared.firstIndex(where: { $0.types == types }) else { return nil }
            return (prepared[place].model, prepared[place].idle.popLast())
        }
        if let (model, idle) = found {
            if let idle { return idle }
            return Idle(try BatchModel.Run(model))
        }
        // Two threads may prepare the same at once; one of the two is kept.
        let compiled = try BatchModel(
            session.model, extents: session.extents(for: types), inputs: types,
            precision: session.precision == .bfloat16 ? .bfloat16 : .float32, laidOut: weights?.laidOut)
        weights?.keep()
        prepared.withLock { prepared in
            guard !prepared.contains(where: { $0.types == types }) else { return }
            prepared.append(Prepared(types: types, model: compiled))
            if prepared.count > SessionModel.keptCount { prepared.removeFirst() }
        }
        return Idle(try BatchModel.Run(compiled))
    }

    private func giveBack(_ idle: Idle, _ types: [String: TensorType]) {
        prepared.withLock { prepared in
            guard let place = prepared.firstIndex(where: { $0.types == types }) else { return }
            prepared[place].idle.append(idle)
        }
    }
}
