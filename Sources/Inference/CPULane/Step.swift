import OneDNNKit

/// Where the bytes of a value are during a run.
enum Place: Hashable, Sendable {
    /// A buffer of the arena, by number.
    case arena(Int)
    /// A tensor that the run holds, by the name of its value.
    case tensor(String)
    /// A constant of the compiled model, by number.
    case constant(Int)
}

/// A value of float32 with its bytes and how they lie.
struct Form: Sendable {
    var place: Place
    var descriptor: MemoryDescriptor
}

/// What one step of a run reads, and as which part.
struct StepInput: Sendable {
    var argument: Argument
    var place: Place
}

/// One link of the chain that a model is compiled to.
struct Step: Sendable {
    enum Action: Sendable {
        case execute(Primitive, [StepInput], buffer: Int)
        /// Computes a node plainly, from tensors and to tensors.
        case evaluate(Node)
        /// Makes a tensor of row-major bytes in the arena.
        case hold(Place, name: String, shape: [Int])
    }

    /// How errors name the node.
    var place: String
    var action: Action
    /// Tensors that are not needed behind this step.
    var released: [String] = []

    /// Buffers of the arena that it reads or writes.
    var buffers: [Int] {
        switch action {
        case .execute(_, let inputs, let buffer):
            inputs.compactMap { if case .arena(let number) = $0.place { number } else { nil } } + [buffer]
        case .evaluate: []
        case .hold(let place, _, _): if case .arena(let number) = place { [number] } else { [] }
        }
    }

    /// Tensors that it reads.
    var tensors: Set<String> {
        switch action {
        case .execute(_, let inputs, _):
            Set(inputs.compactMap { if case .tensor(let name) = $0.place { name } else { nil } })
        case .evaluate(let node): node.requiredNames
        case .hold(let place, _, _): if case .tensor(let name) = place { [name] } else { [] }
        }
    }

    /// Tensors that it makes.
    var results: [String] {
        switch action {
        case .execute: []
        case .evaluate(let node): node.outputs.filter { !$0.isEmpty }
        case .hold(_, let name, _): [name]
        }
    }
}

/// Bytes that all runs read.
enum Constant: Sendable {
    case tensor(Tensor)
    case packed(PackedWeights)
    /// Read by no step any more, and not kept.
    case unused
}
