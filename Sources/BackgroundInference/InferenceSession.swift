import Foundation
import Inference
import Locking
import Synchronization

/// An ONNX model that is ready to be run from any task.
///
/// Each run uses one core, and as many runs as there are streams go on at once: batches that are given one after the other
/// fill the machine without teams of threads that wait for each other. A run whose task is cancelled ends before its next
/// operator, so work that is told to stop, as a `BGContinuedProcessingTask` is, stops within one.
///
/// ```swift
/// let session = try InferenceSession(model: "resnet50.onnx")
/// let image = try InferenceTensor(pixels, shape: [1, 3, 224, 224])
/// let scores = try await session.run(["image": image])["scores"]?.floats
/// ```
public final class InferenceSession: Sendable {
    /// What runs the operators.
    public enum Device: Hashable, Sendable {
        /// The processor.
        case cpu
    }

    /// An input or output as the model declares it.
    public struct Port: Hashable, Sendable, CustomStringConvertible {
        public var name: String
        /// nil where the model does not say.
        public var elementType: String?
        /// Extents as numbers, names such as `batch`, or `?`; nil where not even their number is known.
        public var shape: [String]?

        public var description: String {
            "\(name) \(elementType ?? "?")\(shape.map { "[\($0.joined(separator: ", "))]" } ?? "[...]")"
        }
    }

    public let inputs: [Port]
    public let outputs: [Port]

    private let model: Model
    private let extents: [String: Int]
    private let queue: OperationQueue
    private let prepared = Lock<[Prepared]>([])

    /// The model for some types of inputs, and the memory that runs of it have left.
    private struct Prepared {
        var types: [String: TensorType]
        var model: CompiledModel
        var idle: [Idle] = []
    }

    /// Memory of a run that is used by one thread at a time.
    private final class Idle: @unchecked Sendable {
        // Unchecked: it is taken out of the list before it is used, so that no two threads have it.
        let run: CompiledModel.Run
        init(_ run: CompiledModel.Run) { self.run = run }
    }

    /// Types of inputs that the model is kept prepared for.
    private static let keptCount = 8

    /// Opens a model, and finds everything in it that is not supported.
    ///
    /// - Parameters:
    ///   - path: Of the file; data beside it is read from its folder and nowhere else.
    ///   - device: What runs the operators.
    ///   - extents: Sizes of extents that the model leaves open, by their names; others follow from the inputs of each run.
    ///   - streams: Runs that go on at once; nil takes one for each core.
    /// - Throws: `notReadable`, `damaged`, `unsupported`, `tooLarge`, and `engine` where oneDNN is missing.
    public init(
        model path: String, on device: Device = .cpu, extents: [String: Int] = [:], streams: Int? = nil
    ) throws(InferenceError) {
        do throws(ModelError) {
            model = try ModelImporter().load(path: path)
            try CompiledModel.checkEngine()
        } catch {
            throw InferenceError(error)
        }
        self.extents = extents
        inputs = model.graph.inputs.map { Port($0) }
        outputs = model.graph.outputs.map { Port($0) }
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = max(streams ?? ProcessInfo.processInfo.activeProcessorCount, 1)
    }

    /// Runs the model once. Inputs of new types prepare it first, which takes longer.
    ///
    /// - Parameter inputs: One tensor for each input, by name.
    /// - Returns: The outputs by name.
    /// - Throws: `wrongInput`, `wrongValue`, `tooLarge`, `engine`, and `cancelled` when the task is.
    public func run(_ inputs: [String: InferenceTensor]) async throws(InferenceError) -> [String: InferenceTensor] {
        let isCancelled = Cancellation()
        let result: Result<[String: InferenceTensor], InferenceError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.addOperation { [self] in
                    continuation.resume(
                        returning: Result { () throws(InferenceError) in
                            try execute(inputs.mapValues(\.tensor)) { isCancelled.value }
                        })
                }
            }
        } onCancel: {
            isCancelled.set()
        }
        return try result.get()
    }

    /// Runs the model over batches, as many at once as there are streams, and gives the results in the order of the batches.
    /// No more batches are asked for than are being run.
    ///
    /// - Returns: Ends with the first error, of the batches or of a run; leaving it stops what is being run.
    public func results<Batches: AsyncSequence & Sendable>(
        of batches: Batches
    ) -> AsyncThrowingStream<[String: InferenceTensor], any Error>
    where Batches.Element == [String: InferenceTensor] {
        let (stream, results) = AsyncThrowingStream<[String: InferenceTensor], any Error>.makeStream()
        let width = queue.maxConcurrentOperationCount
        let work = Task {
            do {
                try await withThrowingTaskGroup(of: (Int, [String: InferenceTensor]).self) { group in
                    var ready: [Int: [String: InferenceTensor]] = [:]
                    var (begun, given) = (0, 0)
                    func take() async throws {
                        guard let (number, result) = try await group.next() else { return }
                        ready[number] = result
                        while let next = ready.removeValue(forKey: given) {
                            results.yield(next)
                            given += 1
                        }
                    }
                    for try await batch in batches {
                        let number = begun
                        begun += 1
                        group.addTask { (number, try await self.run(batch)) }
                        while begun - given >= width { try await take() }
                    }
                    while given < begun { try await take() }
                }
                results.finish()
            } catch {
                results.finish(throwing: error)
            }
        }
        results.onTermination = { _ in work.cancel() }
        return stream
    }

    // MARK: On a thread of the queue

    private func execute(
        _ inputs: [String: Tensor], _ shouldStop: () -> Bool
    ) throws(InferenceError) -> [String: InferenceTensor] {
        do throws(ModelError) {
            let types = inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
            let idle = try idle(for: types)
            defer { giveBack(idle, types) }
            var outputs: [String: InferenceTensor] = [:]
            for (name, tensor) in try idle.run.execute(inputs, shouldStop: shouldStop) {
                guard let output = InferenceTensor(tensor) else {
                    throw ModelError.unsupported(["the output \"\(name)\" consists of strings"])
                }
                outputs[name] = output
            }
            return outputs
        } catch {
            throw InferenceError(error)
        }
    }

    private func idle(for types: [String: TensorType]) throws(ModelError) -> Idle {
        let found = prepared.withLock { prepared -> (CompiledModel, Idle?)? in
            guard let place = prepared.firstIndex(where: { $0.types == types }) else { return nil }
            return (prepared[place].model, prepared[place].idle.popLast())
        }
        if let (model, idle) = found {
            if let idle { return idle }
            return Idle(try CompiledModel.Run(model))
        }
        // Two threads may prepare the same at once; one of the two is kept.
        let compiled = try CompiledModel(model, extents: open(types), inputs: types)
        prepared.withLock { prepared in
            guard !prepared.contains(where: { $0.types == types }) else { return }
            prepared.append(Prepared(types: types, model: compiled))
            if prepared.count > Self.keptCount { prepared.removeFirst() }
        }
        return Idle(try CompiledModel.Run(compiled))
    }

    /// Extents that inputs do not say themselves.
    private func open(_ types: [String: TensorType]) -> [String: Int] {
        var names: Set<String> = []
        for port in model.graph.inputs {
            for case .symbol(let name) in port.type?.shape ?? [] { names.insert(name) }
        }
        return extents.filter { names.contains($0.key) || types.isEmpty }
    }

    private func giveBack(_ idle: Idle, _ types: [String: TensorType]) {
        prepared.withLock { prepared in
            guard let place = prepared.firstIndex(where: { $0.types == types }) else { return }
            prepared[place].idle.append(idle)
        }
    }
}

extension InferenceSession.Port {
    fileprivate init(_ port: Graph.Port) {
        name = port.name
        elementType = port.type?.elementType.rawValue
        shape = port.type?.shape?.map(\.description)
    }
}

/// Says once that a run is not wanted any more.
private final class Cancellation: Sendable {
    private let isSet = Atomic<Bool>(false)

    var value: Bool { isSet.load(ordering: .acquiring) }

    func set() { isSet.store(true, ordering: .releasing) }
}
