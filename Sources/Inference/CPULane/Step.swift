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

/// A value with its bytes and how they lie. What it stands for is float32, or the 8-bit integers that it has.
struct Form: Hashable, Sendable {
    var place: Place
    var descriptor: MemoryDescriptor
    /// Bytes from the beginning of the place to the first element.
    var offset = 0
    /// What has yet to be subtracted from the elements, and what they then have to be multiplied by.
    var zeroPoint: Int32 = 0
    var scale: Float = 1
}

/// What one step of a run reads, and as which part.
struct StepInput: Sendable {
    var argument: Argument
    var place: Place
    /// Bytes from the beginning of the place.
    var offset = 0
}

/// One link of the chain that a model is compiled to.
struct Step: PlannedStep, Sendable {
    enum Action: Sendable {
        case execute(Primitive, [StepInput], buffer: Int)
        /// Computes a convolution by a kernel of ours from source, weights, bias and perhaps a residual.
        /// In a place of its own, so that steps stay small: runs copy them.
        indirect case convolve(WinogradConvolution, [StepInput], buffer: Int)
        /// Copies rows that a tensor of indices chooses.
        case gather(RowGather, StepInput, indices: String, buffer: Int)
        /// Computes each element by itself.
        case map(ElementMap, StepInput, buffer: Int)
        /// Chooses between two values by a tensor of Booleans.
        case choose(ElementChoice, condition: String, StepInput, StepInput, buffer: Int)
        /// Computes a node plainly, from tensors and to tensors.
        case evaluate(Node)
        /// Makes a tensor of row-major bytes.
        case hold(StepInput, name: String, ElementType, shape: [Int])
    }

    /// How errors name the node.
    var place: String
    var operatorName = ""
    var action: Action
    /// Tensors that are not needed behind this step.
    var released: [String] = []
    /// What its primitive gives, of float32, where all that it chooses from is infinite: the number that it begins with.
    var firstChoice: Float?

    /// What it needs to work in, beside buffers of the arena.
    var scratchpadByteCount: Int {
        switch action {
        case .execute(let primitive, _, _): primitive.scratchpadByteCount
        case .convolve(let convolution, _, _): convolution.scratchByteCount
        case .gather, .map, .choose, .evaluate, .hold: 0
        }
    }

    /// 0 for what does no arithmetic to speak of.
    var floatingPointOperations: Int {
        switch action {
        case .execute(let primitive, _, _): primitive.floatingPointOperations
        case .convolve(let convolution, _, _): convolution.floatingPointOperations
        case .gather, .map, .choose, .evaluate, .hold: 0
        }
    }

    /// What it reads, tensors that plain evaluations and indices are aside.
    var inputs: [StepInput] {
        switch action {
        case .execute(_, let inputs, _), .convolve(_, let inputs, _): inputs
        case .gather(_, let input, _, _), .map(_, let input, _), .hold(let input, _, _, _): [input]
        case .choose(_, _, let first, let second, _): [first, second]
        case .evaluate: []
        }
    }

    /// Buffers of the arena that it reads or writes.
    var buffers: [Int] {
        let read = inputs.compactMap { if case .arena(let number) = $0.place { number } else { nil } }
        return switch action {
        case .execute(_, _, let buffer), .convolve(_, _, let buffer), .gather(_, _, _, let buffer),
            .map(_, _, let buffer),
            .choose(_, _, _, _, let buffer):
            read + [buffer]
        case .evaluate, .hold: read
        }
    }

    /// Tensors that it reads.
    var tensors: Set<String> {
        let read = Set(inputs.compactMap { if case .tensor(let name) = $0.place { name } else { nil } })
        return switch action {
        case .execute, .convolve, .map, .hold: read
        case .gather(_, _, let indices, _): read.union([indices])
        case .choose(_, let condition, _, _, _): read.union([condition])
        case .evaluate(let node): node.requiredNames
        }
    }

    /// Tensors that it makes.
    var results: [String] {
        switch action {
        case .execute, .convolve, .gather, .map, .choose: []
        case .evaluate(let node): node.outputs.filter { !$0.isEmpty }
        case .hold(_, let name, _, _): [name]
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
