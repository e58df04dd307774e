import Kernels

/// Turns nodes into launches of kernels, one after the other. A node without a kernel is evaluated plainly.
struct DeviceBuilder {
    let device: InferenceDevice
    let facts: [String: Fact]
    let uses: ValueUses
    let nodes: [Node]
    let initialisers: [String: Tensor]
    let runner: ReferenceRunner
    private(set) var steps: [DeviceStep] = []
    /// Sizes of the arena's buffers in elements, by number.
    private(set) var buffers: [Int] = []
    private(set) var constants: [DeviceConstant] = []
    /// Initialisers that plain evaluations read.
    private(set) var scope: [String: Tensor] = [:]
    /// Nodes that are evaluated plainly.
    private(set) var plainNodes: [Node] = []
    /// Elements in front of a value or behind it that a kernel may read.
    private(set) var reach = 4_096

    private var values: [String: DeviceValue] = [:]
    /// Constants that were laid out anew.
    private var layouts: [Layout: DevicePlace] = [:]
    /// Values that exist as tensors when a run comes to the next step.
    private var held: Set<String>
    private var place = ""
    /// Tests for NaN that are made with what becomes of it: their results, and what they look at.
    var nanTests: [String: String] = [:]

    private struct Layout: Hashable {
        var name: String
        var way: String
    }

    init(_ graph: Graph, facts: [String: Fact], device: InferenceDevice, runner: ReferenceRunner) {
        self.device = device
        self.facts = facts
        self.runner = runner
        uses = ValueUses(graph)
        nodes = graph.nodes
        initialisers = graph.initialisers
        held = Set(graph.inputs.map(\.name))
    }

    var tuning: KernelTuning { device.tuning }

    // MARK: Nodes

    /// Adds the steps of a node and its followers.
    ///
    /// - Throws: `tooLarge` for constants that cannot be laid out.
    mutating func add(_ node: Node) throws(ModelError) {
        var rest = node.chain[...]
        while let head = rest.popFirst() {
            place = head.place
            do throws(ModelError) {
                rest = rest.dropFirst(try addLongest(head, followers: rest))
            } catch {
                throw error.at(head.place)
            }
        }
    }

    /// Adds a node with as many of its followers as one kernel takes.
    ///
    /// - Returns: How many those are.
    private mutating func addLongest(_ node: Node, followers: ArraySlice<Node>) throws(ModelError) -> Int {
        for count in stride(from: followers.count, through: 0, by: -1) {
            // What is not completed is taken back.
            let before = self
            if try addFast(node, followers: Array(followers.prefix(count))) { return count }
            self = before
        }
        evaluate(node)
        return 0
    }

    private mutating func addFast(_ node: Node, followers: [Node]) throws(ModelError) -> Bool {
        guard node.domain.isEmpty else { return false }
        switch node.operatorName {
        case "Conv": return try addConvolution(node, followers)
        case "ConvTranspose": return try addTransposedConvolution(node, followers)
        case "MatMul": return try addMatrixProduct(node, followers)
        case "Gemm": return try addGeneralProduct(node, followers)
        case "BatchNormalization": return addBatchNormalization(node, followers)
        case "Add", "Sum", "Sub", "Mul", "Div", "Max", "Min": return addArithmetic(node, followers)
        default: break
        }
        guard followers.isEmpty else { return false }
        switch node.operatorName {
        case "Pow": return addArithmetic(node, [])
        case "MaxPool", "AveragePool": return addPooling(node)
        case "GlobalAveragePool", "GlobalMaxPool": return addGlobalPooling(node)
        case "Softmax", "LogSoftmax": return addSoftmax(node)
        case "LayerNormalization": return addLayerNormalization(node)
        case "InstanceNormalization", "GroupNormalization": return addChannelNormalization(node)
        case "LRN": return addLocalResponse(node)
        case "IsNaN": return defersToWhere(node)
        case "Where": return addWhere(node)
        case "Concat": return addConcatenation(node)
        case "Pad": return try addPadding(node)
        case "Transpose": return addTransposition(node)
        case "DepthToSpace", "SpaceToDepth": return addBlockMove(node)
        case "Gather": return try addGathering(node)
        case "Slice", "Split", "Expand", "Tile", "GatherElements", "GatherND": return try addIndexing(node)
        case "Resize", "Upsample": return try addResizing(node)
        case "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout": return addView(node)
        default: return node.operatorName.hasPrefix("Reduce") ? addReduction(node) : addElementLinks(node)
        }
    }

    /// A step that computes the node plainly.
    private mutating func evaluate(_ node: Node) {
        for name in node.requiredNames.sorted() { hold(name) }
        plainNodes.append(node)
        steps.append(DeviceStep(place: node.place, action: .evaluate(node)))
        for name in node.outputs where !name.isEmpty { held.insert(name) }
    }

    /// Sees to it that the value exists as a tensor from here on; one that nobody has made is left to who misses it.
    mutating func hold(_ name: String) {
        guard !held.contains(name) else { return }
        if let tensor = initialisers[name] {
            scope[name] = tensor
        } else if let value = plain(name) {
            steps.append(DeviceStep(place: place, action: .hold(value, name: name)))
        } else {
            return
        }
        held.insert(name)
    }

    // MARK: Values

    /// The shape of a value that kernels can work on: float32, of known extents, not empty. Nil for others.
    func shape(of name: String) -> [Int]? {
        let type = initialisers[name].map { TensorType($0.elementType, extents: $0.shape) } ?? facts[name]?.type
        guard let type, type.elementType == .float32, let extents = type.extents, extents.count <= 6,
            let count = try? Extents.count(extents), count > 0, count <= runner.largestTensorBytes / 8,
            count <= Int(Int32.max) / 2
        else { return nil }
        return extents
    }

    /// Booleans as 0 and 1 of float32; nil where they are not known on the host by then.
    mutating func flags(_ name: String) -> DeviceValue? {
        let type = initialisers[name].map { TensorType($0.elementType, extents: $0.shape) } ?? facts[name]?.type
        guard let type, type.elementType == .bool, let shape = type.extents, shape.count <= 6,
            let count = try? Extents.count(shape), count > 0, count <= Int(Int32.max) / 2
        else { return nil }
        if let tensor = initialisers[name] {
            return DeviceValue(constant(.floats(tensor.flags().map { $0 ? 1 : 0 })), shape: shape)
        }
        guard held.contains(name) else { return nil }
        let buffer = newBuffer(count)
        steps.append(DeviceStep(place: place, action: .uploadFlags(name: name, buffer: buffer)))
        return DeviceValue(.arena(buffer), shape: shape)
    }

    /// The elements of a value that follow from the model alone.
    func known(_ name: String) -> Tensor? { initialisers[name] ?? facts[name]?.value }

    /// The value as it lies; nil where kernels cannot work on it.
    mutating func value(_ name: String) -> DeviceValue? {
        if let value = values[name] { return value }
        guard let shape = shape(of: name) else { return nil }
        let value: DeviceValue
        if let tensor = initialisers[name] {
            value = DeviceValue(constant(.tensor(tensor)), shape: shape)
        } else if held.contains(name) {
            let buffer = newBuffer(shape.reduce(1, *))
            steps.append(DeviceStep(place: place, action: .upload(name: name, buffer: buffer)))
            value = DeviceValue(.arena(buffer), shape: shape)
        } else {
            return nil
        }
        values[name] = value
        return value
    }

    /// The value in row-major order; once it was made so, it stays so.
    mutating func plain(_ name: String) -> DeviceValue? {
        guard let value = value(name) else { return nil }
        if value.isPlain { return value }
        let made = plain(value)
        values[name] = made
        return made
    }

    /// The elements of the value in row-major order; a launch of its own where they lie otherwise.
    mutating func plain(_ value: DeviceValue) -> DeviceValue {
        if value.isPlain { return value }
        let made = DeviceValue(.arena(newBuffer(value.count)), shape: value.shape)
        move(value, to: made)
        return made
    }

    /// Lets the value `name` be what already lies somewhere.
    mutating func bind(_ name: String, to value: DeviceValue) { values[name] = value }

    /// A buffer for the value `name`, row-major.
    mutating func newValue(_ name: String, shape: [Int]) -> DeviceValue {
        let value = DeviceValue(.arena(newBuffer(shape.reduce(1, *))), shape: shape)
        values[name] = value
        return value
    }

    mutating func newBuffer(_ count: Int) -> Int {
        buffers.append(count)
        return buffers.count - 1
    }

    mutating func constant(_ constant: DeviceConstant) -> DevicePlace {
        constants.append(constant)
        return .constant(constants.count - 1)
    }

    /// A constant laid out in a way that is named, made once.
    mutating func layout(
        _ name: String, _ way: String, _ make: () throws(ModelError) -> DeviceConstant
    ) throws(ModelError) -> DevicePlace {
        let layout = Layout(name: name, way: way)
        if let known = layouts[layout] { return known }
        let made = constant(try make())
        layouts[layout] = made
        return made
    }

    // MARK: Launches

    /// A kernel may read so many elements in front of a value, or behind it.
    mutating func reaches(_ count: Int) { reach = max(reach, count) }

    /// Adds a launch of at least `items` work-items in groups of `local`; `parameters` gives the kernel's parameter struct.
    mutating func launch<Parameters: BitwiseCopyable>(
        _ kernel: String, tile: KernelTuning.Tile? = nil, items: Int, local: Int, reads: [DevicePlace],
        writes: DevicePlace,
        multiplyAdds: Int = 0, _ parameters: @escaping @Sendable (Locations) -> Parameters
    ) {
        guard case .arena(let buffer) = writes else { preconditionFailure("weights are not written") }
        let launch = Launch(
            kernel: InferenceDevice.KernelName(name: kernel, tile: tile ?? tuning.tile(columns: Int.max)),
            global: (items + local - 1) / local * local, local: local, reads: reads, writes: buffer,
            multiplyAdds: max(multiplyAdds, items)
        ) { locations in withUnsafeBytes(of: parameters(locations)) { Array($0) } }
        steps.append(DeviceStep(place: place, action: .launch(launch)))
    }

    /// Positions along an axis that are known at each run only.
    mutating func uploadPositions(_ name: String, extent: Int, count: Int) -> DevicePlace {
        let buffer = newBuffer(device.storage.elements(words: count))
        steps.append(DeviceStep(place: place, action: .uploadPositions(name: name, extent: extent, buffer: buffer)))
        return .arena(buffer)
    }

    /// Copies a value to another layout.
    mutating func move(_ source: DeviceValue, to target: DeviceValue) {
        let (extents, strides) = Extents.merged(source.shape, [source.strides, target.strides])
        let inner = extents.last ?? 1
        let blocks = (inner + device.run - 1) / device.run
        let rows = extents.dropLast().reduce(1, *)
        func six(_ list: [Int], _ filler: Int) -> [Int] { Array(repeating: filler, count: 6 - list.count) + list }
        let (shape, from, to) = (six(extents, 1), six(strides[0], 0), six(strides[1], 0))
        launch("move", items: rows * blocks, local: device.smallGroup, reads: [source.place], writes: target.place) {
            at in
            bg_move_params(
                source: at(source), target: at(target), extents: sextuple(shape), source_strides: sextuple(from),
                target_strides: sextuple(to), blocks: Int32(blocks), rows: Int32(rows))
        }
    }
}
