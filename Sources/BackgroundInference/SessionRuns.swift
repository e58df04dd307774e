import Inference

/// What runs the model of a session.
protocol SessionRuns: Sendable {
    /// Runs it on the thread that asks. Inputs of new types prepare it first.
    ///
    /// - Throws: As preparing and running it do on that device; `stopped` when `shouldStop`, which is asked between
    ///   operators, wants that.
    func execute(_ inputs: [String: Tensor], _ shouldStop: () -> Bool) throws(ModelError) -> [String: Tensor]
}

/// A model as its file has it, with what was said about running it.
struct SessionModel: Sendable {
    /// Types of inputs that a model is kept prepared for.
    static let keptCount = 8

    let model: Model
    let precision: InferenceSession.Precision
    private let extents: [String: Int]
    /// Names of extents that inputs leave open.
    private let open: Set<String>

    init(model: Model, extents: [String: Int], precision: InferenceSession.Precision) {
        self.model = model
        self.precision = precision
        self.extents = extents
        var open: Set<String> = []
        for port in model.graph.inputs {
            for case .symbol(let name) in port.type?.shape ?? [] { open.insert(name) }
        }
        self.open = open
    }

    /// Extents that inputs of these types do not say themselves.
    func extents(for types: [String: TensorType]) -> [String: Int] {
        extents.filter { open.contains($0.key) || types.isEmpty }
    }

    static func types(of inputs: [String: Tensor]) -> [String: TensorType] {
        inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
    }
}
