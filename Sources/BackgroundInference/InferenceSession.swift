import Foundation
import Inference
import Synchronization

/// An ONNX model that is ready to be run from any task.
///
/// Each run uses one core, and as many runs as there are streams go on at once: batches that are given one after the other
/// fill the machine without teams of threads that wait for each other. A run whose task is cancelled ends before its next
/// operator, so work that is told to stop, as a `BGContinuedProcessingTask` is, stops within one.
///
/// It computes within this process, and what ends a process ends the program: a fault in oneDNN, in a device's driver, or in the
/// evaluation of a hostile model. Models that are not trusted are for `bgrun infer`, which runs them in processes of their own.
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
        /// The first GPU that OpenCL has. Its driver is loaded into the program.
        case gpu
        /// A device of OpenCL by its identity, as `bgrun devices` prints it.
        case openCL(String)
    }

    /// In what numbers a model is computed. Sums are those of float32 in any case.
    public enum Precision: Hashable, Sendable {
        case float32
        /// Convolutions, and products with constant weights, take operands of 8 significant bits, mostly in less time. On
        /// ``Device/cpu``, where the processor has instructions for it.
        case bfloat16
        /// Values and weights are kept with 11 significant bits, in half the memory of the device; numbers beyond 65504 become
        /// that. On devices of OpenCL.
        case float16
    }

    /// An input or output as the model declares it.
    public struct Port: Hashable, Sendable, CustomStringConvertible {
        public var name: String
        /// nil where the model does not say.
        public var elementType: String?
        /// Extents as numbers, or names such as `batch`; an open extent of an input that has none in the file is named by input
        /// and axis, as in `pixels:0`, and one of an output is `?`. nil where not even their number is known.
        public var shape: [String]?

        public var description: String {
            "\(name) \(elementType ?? "?")\(shape.map { "[\($0.joined(separator: ", "))]" } ?? "[...]")"
        }
    }

    public let inputs: [Port]
    public let outputs: [Port]

    private let runs: any SessionRuns
    private let queue: OperationQueue

    /// Opens a model, and finds everything in it that is not supported.
    ///
    /// - Parameters:
    ///   - path: Of the file; data beside it is read from its folder and nowhere else.
    ///   - device: What runs the operators.
    ///   - precision: In what numbers.
    ///   - extents: Sizes of extents that the model leaves open, by their names as ``inputs`` has them; others follow from the
    ///     inputs of each run.
    ///   - streams: Runs that go on at once; nil takes one for each core. A device of OpenCL has one.
    ///   - cacheFolder: Where weights are kept as the processor takes them, so that the next session of the same model starts
    ///     sooner; at most 2 GB, of this user alone. Weights are then read when inputs of new types need them, so the
    ///     model's files have to stay. The first run of a large model takes some tenths of a second longer. With nil nothing is
    ///     kept.
    /// - Throws: `notReadable`, `damaged`, `unsupported` also for a precision that the device has not, `tooLarge`, `noDevice`
    ///   where the device is missing, and `engine` where oneDNN is, or the device fails.
    public init(
        model path: String, on device: Device = .cpu, precision: Precision = .float32, extents: [String: Int] = [:],
        streams: Int? = nil, cacheFolder: String? = nil
    ) throws(InferenceError) {
        let model: Model
        let cacheFolder = device == .cpu ? cacheFolder : nil
        do throws(ModelError) {
            model = try ModelImporter(weights: cacheFolder == nil ? .read : .deferred).load(path: path)
            try model.checkSupport()
            if device == .cpu { try CompiledModel.checkEngine() }
            if let lack = try precision.lack(on: device) { throw ModelError.unsupported([lack]) }
        } catch {
            throw InferenceError(error)
        }
        let prepared = SessionModel(model: model, extents: extents, precision: precision)
        let weights = cacheFolder.flatMap { SessionWeights(folder: $0, path: path, prepared) }
        runs = device == .cpu ? ProcessorRuns(prepared, weights) : try DeviceRuns(prepared, on: device)
        inputs = model.graph.inputs.map { Port($0) }
        outputs = model.graph.outputs.map { Port($0) }
        queue = OperationQueue()
        queue.maxConcurrentOperationCount =
            device == .cpu ? max(streams ?? ProcessInfo.processInfo.activeProcessorCount, 1) : 1
    }

    /// Runs the model once. Inputs of new types prepare it first, which takes longer.
    ///
    /// - Parameter inputs: One tensor for each input, by name.
    /// - Returns: The outputs by name.
    /// - Throws: `wrongInput`, `wrongValue`, `tooLarge`, `engine`, `cancelled` when the task is, and with a cache folder
    ///   `notReadable`.
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
            var outputs: [String: InferenceTensor] = [:]
            for (name, tensor) in try runs.execute(inputs, shouldStop) {
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

extension InferenceSession.Precision {
    /// What is missing for it; nil where nothing is.
    fileprivate func lack(on device: InferenceSession.Device) throws(ModelError) -> String? {
        switch (self, device) {
        case (.float32, _): nil
        case (.bfloat16, .cpu): try CompiledModel.hasBFloat16() ? nil : "bfloat16 on this processor"
        case (.float16, .cpu): "float16 on the processor, which has bfloat16"
        case (.bfloat16, _): "bfloat16 on devices of OpenCL, which have float16"
        case (.float16, _): nil
        }
    }
}
