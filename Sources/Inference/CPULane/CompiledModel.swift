import OneDNNKit

/// A model prepared for runs on the CPU: a chain of steps, most of them primitives of oneDNN with what follows them in the
/// same pass; nodes without a fast form are evaluated plainly, so what the plain runner runs runs here too. Networks of
/// float16 and bfloat16 are computed in float32, see ``WidenNarrowFloats``.
///
/// Any number of threads may run one compiled model at once, each with a ``Run`` of its own.
package struct CompiledModel: Sendable {
    /// Inputs with the types that the model was compiled for.
    package let inputs: [Graph.Port]
    /// Names of the outputs in their order.
    package let outputs: [String]
    /// Bytes that each run takes for values between steps, beside tensors that are evaluated plainly.
    package var arenaByteCount: Int { arena.byteCount }
    /// Bytes that each run takes for steps to work in.
    package let scratchpadByteCount: Int
    /// Bytes of weights and other constants, which all runs share.
    package let constantByteCount: Int
    /// Nodes that have no fast form here, in the order of the model.
    package let plainNodes: [Node]
    /// Whether convolutions and products take bfloat16.
    package let usesBFloat16: Bool
    /// With ``Precision/automatic(tolerance:samples:)``: the largest difference that bfloat16 makes on the samples, as a
    /// share of the largest element of that output.
    package private(set) var measuredError: Double?
    /// Number of steps; a run can be stopped before each.
    package var stepCount: Int { steps.count }

    /// A line for each step: the node, and what computes it.
    package var stepLines: [String] {
        steps.map { step in
            switch step.action {
            case .execute(let primitive, _, _): "\(step.place): \(primitive.name), \(primitive.implementation)"
            case .convolve(let convolution, _, _): "\(step.place): \(convolution)"
            case .gather: "\(step.place): gathers rows"
            case .map(.erf, _, _): "\(step.place): erf"
            case .map(.table, _, _): "\(step.place): table of 256"
            case .map(.replaceNaN, _, _): "\(step.place): replaces NaN"
            case .choose: "\(step.place): chooses elements"
            case .evaluate: "\(step.place): plainly"
            case .hold(_, let name, _, _): "\(step.place): holds \"\(name)\""
            }
        }
    }

    let engine: CPUEngine
    let steps: [Step]
    let arena: ArenaPlan
    /// Sizes of the arena's buffers in bytes.
    let buffers: [Int]
    let constants: [Constant]
    /// Initialisers that plain evaluations read.
    let scope: [String: Tensor]
    let runner: ReferenceRunner
    /// Inputs as the file declares them.
    let declared: [Graph.Port]
    /// What computes runs that meet NaN, or infinities that a step has no right result for; nil where every step has.
    let nonFinite: NonFiniteModel?

    /// - Parameters:
    ///   - model: As the importer gives it.
    ///   - extents: For names of extents, e.g. `batch`.
    ///   - given: Types of inputs that are better than the declared ones. Where an extent is left open, what depends on it
    ///     is evaluated plainly.
    ///   - precision: Of convolutions and products.
    ///   - runner: For plain evaluations, with its limits.
    ///   - laidOut: Weights of this very model that were laid out before, and where those go that are laid out now.
    /// - Throws: `damaged` where shapes do not fit together, `unsupported` for element types and values of attributes,
    ///   `wrongInput` for extents and types that the model does not take, `wrongValue` for constants that have no result,
    ///   `notReadable` for weights that were left in their files, `engine` where oneDNN is missing or fails.
    package init(
        _ model: Model, extents: [String: Int] = [:], inputs given: [String: TensorType] = [:],
        precision: Precision = .float32, runner: ReferenceRunner = ReferenceRunner(), laidOut: LaidOutWeights? = nil
    ) throws(ModelError) {
        func compiled(_ type: DataType) throws(ModelError) -> CompiledModel {
            let nonFinite = NonFiniteModel { () throws(ModelError) in
                try CompiledModel(
                    model, extents: extents, inputs: given, operandType: .float32, runner: runner, nil, nonFinite: nil)
            }
            return try CompiledModel(
                model, extents: extents, inputs: given, operandType: type, runner: runner, laidOut,
                nonFinite: nonFinite)
        }
        self = try Self.chosen(precision, compiled)
    }

    private static func chosen(
        _ precision: Precision, _ compiled: (DataType) throws(ModelError) -> CompiledModel
    ) throws(ModelError) -> CompiledModel {
        switch precision {
        case .float32: return try compiled(.float32)
        case .bfloat16:
            guard try hasBFloat16() else { throw .unsupported(["bfloat16 on this processor"]) }
            return try compiled(.bfloat16)
        case .automatic(let tolerance, let samples):
            var wide = try compiled(.float32)
            guard try hasBFloat16(), !samples.isEmpty else { return wide }
            var narrow = try compiled(.bfloat16)
            let error = try narrow.largestDifference(from: wide, on: samples)
            (wide.measuredError, narrow.measuredError) = (error, error)
            return error <= tolerance ? narrow : wide
        }
    }

    /// Whether the processor has instructions for bfloat16.
    ///
    /// - Throws: `engine` where oneDNN is missing.
    package static func hasBFloat16() throws(ModelError) -> Bool {
        do throws(OneDNNError) {
            return try CPUEngine().hasBF16
        } catch {
            throw .engine("\(error)")
        }
    }

    private init(
        _ model: Model, extents: [String: Int], inputs given: [String: TensorType], operandType: DataType,
        runner: ReferenceRunner, _ laidOut: LaidOutWeights?, nonFinite: NonFiniteModel?
    ) throws(ModelError) {
        self.nonFinite = nonFinite
        var graph = model.graph
        graph.inputs = try Self.resolved(graph.inputs, extents, given)
        var inference = ShapeInference()
        // Weights may be made by nodes.
        inference.foldedElements = max(inference.foldedElements, min(1 << 27, runner.largestTensorBytes / 8))
        let inferred = try inference.inferWidened(graph)
        graph = inferred.graph
        let quantised = QuantisedConstant.all(in: graph, inferred.facts)
        for pass in nonFinite == nil ? Self.exactPasses : Self.passes { graph = try pass.apply(graph, inferred.facts) }

        var builder: StepBuilder
        do throws(OneDNNError) {
            engine = try CPUEngine()
            builder = try StepBuilder(
                graph, facts: inferred.facts,
                quantisedConstants: engine.hasExactInt8 && nonFinite != nil ? quantised : [:], engine: engine,
                largestTensorBytes: runner.largestTensorBytes, operandType: operandType,
                laidOut: laidOut, fileInitialisers: laidOut == nil ? [:] : inferred.graph.initialisers,
                takesNonFinite: nonFinite == nil)
        } catch {
            throw .engine("\(error)")
        }
        for node in graph.nodes { try builder.add(node) }
        do throws(OneDNNError) {
            for output in graph.outputs { try builder.hold(output.name) }
        } catch {
            throw .engine("\(error)")
        }

        usesBFloat16 = operandType == .bfloat16
        self.runner = runner
        declared = model.graph.inputs
        inputs = graph.inputs
        outputs = graph.outputs.map(\.name)
        buffers = builder.buffers
        let joined = builder.steps.joined(builder.joints, buffers)
        steps = joined.steps.releasing(allBut: Set(graph.outputs.map(\.name)))
        arena = joined.arena
        constants = Self.used(builder.constants, by: steps)
        scope = builder.scope
        plainNodes = builder.plainNodes
        // What runs read has to be there before one begins.
        for case .tensor(let tensor) in constants { _ = tensor.heldBytes }
        for tensor in scope.values { _ = tensor.heldBytes }
        try model.deferredReads?.check()
        scratchpadByteCount = steps.map(\.scratchpadByteCount).max() ?? 0
        constantByteCount =
            constants.reduce(0) { sum, constant in
                switch constant {
                case .tensor(let tensor): sum + tensor.byteCount
                case .packed(let weights): sum + weights.byteCount
                case .unused: sum
                }
            } + scope.values.reduce(0) { $0 + $1.byteCount }
    }

    private static let passes: [any GraphPass] = [
        FoldConstants(), RemovePassThrough(), FoldPadding(), FoldBatchNormalization(), RecogniseActivations(),
        RecogniseGelu(), RecogniseLayerNormalization(), FuseFollowers(quantises: true),
    ]

    /// Those after which every value is what the operators of the file make of it, infinities and NaN too.
    private static let exactPasses: [any GraphPass] = [FoldConstants(), RemovePassThrough(), FoldPadding()]

    /// One run with memory of its own, which is given back afterwards; many runs are faster with a ``Run`` that is kept.
    ///
    /// - Throws: As ``Run/execute(_:shouldStop:)``.
    package func execute(
        _ inputs: [String: Tensor], shouldStop: () -> Bool = { false }
    ) throws(ModelError) -> [String: Tensor] {
        try Run(self).execute(inputs, shouldStop: shouldStop)
    }

    // MARK: Preparation

    static func resolved(
        _ ports: [Graph.Port], _ extents: [String: Int], _ given: [String: TensorType]
    ) throws(ModelError) -> [Graph.Port] {
        var unused = Set(extents.keys)
        var rest = Set(given.keys)
        var result = ports
        for index in ports.indices {
            let name = ports[index].name
            result[index].type?.shape = ports[index].type?.shape?.map { dimension in
                guard case .symbol(let symbol) = dimension, let extent = extents[symbol] else { return dimension }
                unused.remove(symbol)
                return .known(extent)
            }
            guard let type = given[name] else { continue }
            rest.remove(name)
            if let declared = result[index].type, let shape = type.extents, !declared.permits(type.elementType, shape) {
                throw .wrongInput("the input \"\(name)\" is \(type), and the model takes \(declared)")
            }
            result[index].type = type
        }
        if let name = unused.min() { throw .wrongInput("no input has an extent called \"\(name)\"") }
        if let name = rest.min() { throw .wrongInput("the model has no input \"\(name)\"") }
        return result
    }

    private static func used(_ constants: [Constant], by steps: [Step]) -> [Constant] {
        var used: Set<Int> = []
        for case .constant(let number) in steps.flatMap(\.inputs).map(\.place) { used.insert(number) }
        return constants.indices.map { used.contains($0) ? constants[$0] : .unused }
    }
}
