import Kernels
import OpenCLKit

/// A model prepared for runs on one OpenCL device: launches of kernels in the order of the graph, most of them with what
/// follows a node in the same pass; nodes without a kernel are evaluated plainly on the host, so what the plain runner runs
/// runs here too. Networks of float16 and bfloat16 are computed as if they were of float32, see ``WidenNarrowFloats``.
///
/// One run at a time, and one for all models of a device.
package final class OpenCLModel {
    /// Inputs with the types that the model was compiled for.
    package let inputs: [Graph.Port]
    /// Names of the outputs in their order.
    package let outputs: [String]
    /// Nodes that have no kernel here, in the order of the model.
    package let plainNodes: [Node]
    /// Bytes that runs take on the device for values between launches.
    package var arenaByteCount: Int { elementBytes * (arenaCount + 2 * slack) }
    /// Bytes of weights and other constants on the device.
    package var constantByteCount: Int { elementBytes * (constantCount + 2 * slack) }
    /// Number of steps.
    package var stepCount: Int { steps.count }

    /// A line for each step: the node, and what computes it.
    package var stepLines: [String] {
        steps.map { step in
            switch step.action {
            case .launch(let launch): "\(step.place): \(launch.kernel.name)"
            case .upload(let name, _), .uploadFlags(let name, _), .uploadPositions(let name, _, _):
                "\(step.place): uploads \"\(name)\""
            case .evaluate: "\(step.place): plainly"
            case .hold(_, let name): "\(step.place): holds \"\(name)\""
            }
        }
    }

    let device: InferenceDevice
    let steps: [DeviceStep]
    /// By launch in their order.
    let parameters: [[UInt8]]
    let locations: Locations
    /// Initialisers that plain evaluations read.
    let scope: [String: Tensor]
    let runner: ReferenceRunner
    /// Inputs as the file declares them.
    let declared: [Graph.Port]
    let weights: Buffer
    private let arenaCount: Int
    private let constantCount: Int
    /// Elements in front of and behind everything that kernels may read, and leave out of what they compute.
    private let slack: Int
    private var memory: Buffer?
    private var elementBytes: Int { device.storage.byteCount }

    /// - Parameters:
    ///   - model: As the importer gives it.
    ///   - device: Where it runs.
    ///   - extents: For names of extents, e.g. `batch`.
    ///   - given: Types of inputs that are better than the declared ones. Where an extent is left open, what depends on it
    ///     is evaluated plainly.
    ///   - runner: For plain evaluations, with its limits.
    /// - Throws: `damaged` where shapes do not fit together, `unsupported` for element types and values of attributes,
    ///   `wrongInput` for extents and types that the model does not take, `wrongValue` for constants that have no result,
    ///   `tooLarge` where weights or values do not fit the device, `engine` where OpenCL fails.
    package init(
        _ model: Model, on device: InferenceDevice, extents: [String: Int] = [:],
        inputs given: [String: TensorType] = [:],
        runner: ReferenceRunner = ReferenceRunner()
    ) throws(ModelError) {
        var graph = model.graph
        graph.inputs = try CompiledModel.resolved(graph.inputs, extents, given)
        var inference = ShapeInference()
        // Weights may be made by nodes.
        inference.foldedElements = max(inference.foldedElements, min(1 << 27, runner.largestTensorBytes / 8))
        let inferred = try inference.inferWidened(graph)
        graph = inferred.graph
        for pass in Self.passes { graph = try pass.apply(graph, inferred.facts) }

        var builder = DeviceBuilder(graph, facts: inferred.facts, device: device, runner: runner)
        for node in graph.nodes { try builder.add(node) }
        for output in graph.outputs { builder.hold(output.name) }

        self.runner = runner
        self.device = device
        declared = model.graph.inputs
        inputs = graph.inputs
        outputs = graph.outputs.map(\.name)
        steps = builder.steps.releasing(allBut: Set(graph.outputs.map(\.name)))
        scope = builder.scope
        plainNodes = builder.plainNodes

        // Wide loads may begin before a value and end behind it.
        let slack = (builder.reach + 255) / 256 * 256
        self.slack = slack
        let storage = device.storage
        let plan = ArenaPlan(steps.requests(builder.buffers.map { storage.byteCount * $0 }))
        arenaCount = plan.byteCount / storage.byteCount
        var offset = slack
        let constants = Self.used(builder.constants, by: steps)
        var offsets: [Int] = []
        for constant in constants {
            offsets.append(offset)
            offset += ((constant?.count(storage) ?? 0) + 15) / 16 * 16
        }
        constantCount = offset - slack
        let limit = min(Int(Int32.max), device.context.device.info.maxAllocationBytes / storage.byteCount)
        for (count, what) in [(arenaCount, "values"), (constantCount, "weights")] where count > limit - 2 * slack {
            let (taken, most) = (storage.byteCount * count, storage.byteCount * limit)
            throw .tooLarge("its \(what) take \(taken) bytes, and \(device.name) has \(most) in one buffer")
        }
        let locations = Locations(arena: plan.offsets.map { $0 / storage.byteCount + slack }, constants: offsets)
        self.locations = locations
        parameters = steps.compactMap {
            if case .launch(let launch) = $0.action { launch.parameters(locations) } else { nil }
        }
        let byteCount = storage.byteCount * (constantCount + 2 * slack)
        let weights = try onDevice { () throws(OpenCLError) in try Buffer(byteCount: byteCount, in: device.context) }
        self.weights = weights
        for case (let number, let constant?) in constants.enumerated() {
            try onDevice { () throws(OpenCLError) in
                try constant.upload(to: weights, at: offsets[number], locations, device)
            }
        }
        for tensor in scope.values { _ = tensor.heldBytes }
        try model.deferredReads?.check()
    }

    private static let passes: [any GraphPass] = [
        FoldConstants(), RemovePassThrough(), FoldBatchNormalization(), RecogniseActivations(), RecogniseGelu(),
        RecogniseLayerNormalization(), FuseAttention(), FuseFollowers(),
    ]

    /// The arena, which is taken with the first run and kept.
    func arena() throws(ModelError) -> Buffer {
        if let memory { return memory }
        let made = try onDevice { () throws(OpenCLError) in try Buffer(byteCount: arenaByteCount, in: device.context) }
        memory = made
        return made
    }

    // MARK: Preparation

    /// Nil for constants that no step reads.
    private static func used(_ constants: [DeviceConstant], by steps: [DeviceStep]) -> [DeviceConstant?] {
        var used: Set<Int> = []
        for step in steps {
            switch step.action {
            case .launch(let launch): for case .constant(let number) in launch.reads { used.insert(number) }
            case .hold(let value, _): if case .constant(let number) = value.place { used.insert(number) }
            case .upload, .uploadFlags, .uploadPositions, .evaluate: break
            }
        }
        return constants.indices.map { used.contains($0) ? constants[$0] : nil }
    }
}

extension DeviceConstant {
    func upload(
        to buffer: Buffer, at element: Int, _ locations: Locations, _ device: InferenceDevice
    ) throws(OpenCLError) {
        switch self {
        case .tensor(let tensor):
            try device.write(tensor.heldBytes, to: buffer, at: element)
            withExtendedLifetime(tensor) {}
        case .floats(let list):
            try list.withUnsafeBufferPointer { floats throws(OpenCLError) in
                try device.write(UnsafeRawBufferPointer(floats), to: buffer, at: element)
            }
        case .integers(let list): try device.write(words: list, to: buffer, at: element)
        case .links(let list): try device.write(words: list.map { $0.encoded(locations) }, to: buffer, at: element)
        }
    }
}
