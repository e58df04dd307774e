import Kernels

/// A kernel's launch as one link of the chain that a model is compiled to.
struct Launch: Sendable {
    var kernel: InferenceDevice.KernelName
    /// Work-items, a multiple of `local`.
    var global: Int
    /// Work-items of a group.
    var local: Int
    /// What it reads.
    var reads: [DevicePlace]
    /// The buffer of the arena that it writes.
    var writes: Int
    /// For cutting a run into groups of launches.
    var multiplyAdds: Int
    /// Bytes of the kernel's parameter struct, once it is known where everything lies.
    var parameters: @Sendable (Locations) -> [UInt8]
}

/// Offsets of buffers and constants in elements.
struct Locations: Sendable {
    /// By the number of a buffer.
    var arena: [Int]
    /// By the number of a constant.
    var constants: [Int]

    /// As kernels have it: the arena from 0 up, the weights from -1 down.
    func callAsFunction(_ place: DevicePlace, offset: Int = 0) -> Int32 {
        switch place {
        case .arena(let number): Int32(arena[number] + offset)
        case .constant(let number): ~Int32(constants[number] + offset)
        }
    }

    func callAsFunction(_ value: DeviceValue) -> Int32 { self(value.place, offset: value.offset) }
}

struct DeviceStep: PlannedStep, Sendable {
    enum Action: Sendable {
        case launch(Launch)
        /// Copies a tensor into a buffer of the arena.
        case upload(name: String, buffer: Int)
        /// Copies a tensor of Booleans, as 0 and 1 of float32.
        case uploadFlags(name: String, buffer: Int)
        /// Positions along an axis of `extent`, checked, as 32-bit integers.
        case uploadPositions(name: String, extent: Int, buffer: Int)
        /// Computes a node plainly, from tensors and to tensors.
        case evaluate(Node)
        /// Makes a tensor of a plain value.
        case hold(DeviceValue, name: String)
    }

    /// How errors name the node.
    var place: String
    var action: Action
    /// Tensors that are not needed behind this step.
    var released: [String] = []

    /// Buffers of the arena that it reads or writes.
    var buffers: [Int] {
        let places: [DevicePlace] =
            switch action {
            case .launch(let launch): launch.reads + [.arena(launch.writes)]
            case .upload(_, let buffer), .uploadFlags(_, let buffer), .uploadPositions(_, _, let buffer):
                [.arena(buffer)]
            case .hold(let value, _): [value.place]
            case .evaluate: []
            }
        return places.compactMap { if case .arena(let number) = $0 { number } else { nil } }
    }

    /// Tensors that it reads.
    var tensors: Set<String> {
        switch action {
        case .launch, .hold: []
        case .upload(let name, _), .uploadFlags(let name, _), .uploadPositions(let name, _, _): [name]
        case .evaluate(let node): node.requiredNames
        }
    }

    /// Tensors that it makes.
    var results: [String] {
        switch action {
        case .evaluate(let node): node.outputs.filter { !$0.isEmpty }
        case .hold(_, let name): [name]
        case .launch, .upload, .uploadFlags, .uploadPositions: []
        }
    }
}

/// What is laid out among the weights.
enum DeviceConstant: Sendable {
    case floats([Float])
    case tensor(Tensor)
    case integers([Int32])
    case links([DeviceLink])

    /// Elements that it takes.
    func count(_ storage: ElementStorage) -> Int {
        switch self {
        case .floats(let list): list.count
        case .tensor(let tensor): tensor.count
        case .integers(let list): storage.elements(words: list.count)
        case .links(let list): storage.elements(words: list.count * MemoryLayout<bg_link>.stride / 4)
        }
    }
}
