import OneDNNKit

/// Turns nodes into steps, one after the other. A node without a fast form is evaluated plainly.
struct StepBuilder {
    let engine: CPUEngine
    let facts: [String: Fact]
    let uses: ValueUses
    let nodes: [Node]
    let initialisers: [String: Tensor]
    /// 8-bit weights, by the name of the float32 value that they stand for.
    let quantisedConstants: [String: QuantisedConstant]
    /// Larger values are left to the plain evaluation, which refuses them when they would be made.
    let largestTensorBytes: Int
    /// Whether only steps are wanted that give what the operators do for NaN and infinities too.
    let takesNonFinite: Bool
    /// What convolutions and products with constant weights take; they add up, and give, float32.
    private(set) var operandType: DataType
    private(set) var steps: [Step] = []
    /// Sizes of the arena's buffers in bytes, by number.
    private(set) var buffers: [Int] = []
    private(set) var constants: [Constant] = []
    /// Concatenations that may be left out.
    private(set) var joints: [Joint] = []
    /// Initialisers that plain evaluations read.
    private(set) var scope: [String: Tensor] = [:]
    /// Nodes that are evaluated plainly.
    private(set) var plainNodes: [Node] = []

    /// Where constants are laid out.
    let stream: CPUStream
    /// For weights that are read to be laid out.
    private let scratch = ScratchBytes()
    /// Weights that were laid out before, or are to be kept for later.
    private let laidOut: LaidOutWeights?
    /// Initialisers as the file has them, those of narrow floats as float32.
    private let fileInitialisers: [String: Tensor]
    /// Names of the constants that are such, by number.
    private var fileNames: [Int: String] = [:]
    private var forms: [String: Form] = [:]
    /// Values of float32 that still lie as 8-bit integers.
    private var quantised: [String: Form] = [:]
    /// Values that exist as tensors when a run comes to the next step.
    private(set) var held: Set<String>
    private var moves: [Move: Place] = [:]
    /// Tests for NaN that are made with what becomes of it: their results, and what they look at.
    var nanTests: [String: String] = [:]
    /// The node that steps are added for.
    private var place = ""
    private var operatorName = ""

    /// A value that has been laid out anew.
    private struct Move: Hashable {
        var source: Form
        var target: MemoryDescriptor
    }

    init(
        _ graph: Graph, facts: [String: Fact], quantisedConstants: [String: QuantisedConstant], engine: CPUEngine,
        largestTensorBytes: Int, operandType: DataType, laidOut: LaidOutWeights?, fileInitialisers: [String: Tensor],
        takesNonFinite: Bool
    ) throws(OneDNNError) {
        self.takesNonFinite = takesNonFinite
        self.laidOut = laidOut
        self.fileInitialisers = fileInitialisers
        self.facts = facts
        uses = ValueUses(graph)
        nodes = graph.nodes
        self.engine = engine
        self.largestTensorBytes = largestTensorBytes
        self.operandType = operandType
        initialisers = graph.initialisers
        self.quantisedConstants = quantisedConstants
        held = Set(graph.inputs.map(\.name))
        stream = try CPUStream(on: engine)
    }

    // MARK: Nodes

    /// Adds the steps of a node and its followers.
    ///
    /// - Throws: `engine` where oneDNN fails for another reason than that it cannot do something.
    mutating func add(_ node: Node) throws(ModelError) {
        var rest = node.chain[...]
        while let head = rest.popFirst() {
            (place, operatorName) = (head.place, head.operatorName)
            do throws(OneDNNError) {
                rest = rest.dropFirst(try addLongest(head, followers: rest))
            } catch {
                throw ModelError.engine("\(error)").at(head.place)
            }
        }
    }

    /// Adds a node with as many of its followers as fit into one primitive.
    ///
    /// - Returns: How many those are.
    private mutating func addLongest(_ node: Node, followers: ArraySlice<Node>) throws(OneDNNError) -> Int {
        let wanted = operandType
        defer { operandType = wanted }
        // What has no fast form in the wanted type has one in float32.
        for (type, count) in (wanted == .float32 ? [wanted] : [wanted, .float32]).flatMap({ type in
            (0...followers.count).reversed().map { (type, $0) }
        }) {
            operandType = type
            let nodes = Array(followers.prefix(count))
            if try attempt({ (builder) throws(OneDNNError) in try builder.addFast(node, followers: nodes) }) {
                return count
            }
        }
        try evaluate(node)
        return 0
    }

    /// Adds what there may be no form for; what that has added on the way is then taken back.
    mutating func attempt(
        _ addition: (inout StepBuilder) throws(OneDNNError) -> Bool
    ) throws(OneDNNError) -> Bool {
        let before = self
        do throws(OneDNNError) {
            if try addition(&self) { return true }
        } catch  where error.code != .unimplemented && error.code != .invalidArguments {
            throw error
        } catch {}
        self = before
        return false
    }

    /// The same with the operands as they lie, else row-major.
    mutating func attemptEither(
        _ addition: (inout StepBuilder, _ isPlain: Bool) throws(OneDNNError) -> Bool
    ) throws(OneDNNError) -> Bool {
        for isPlain in [false, true] {
            if try attempt({ (builder) throws(OneDNNError) in try addition(&builder, isPlain) }) { return true }
        }
        return false
    }

    private mutating func addFast(_ node: Node, followers: [Node]) throws(OneDNNError) -> Bool {
        guard node.domain.isEmpty, !takesNonFinite || Self.exact.contains(node.operatorName) else { return false }
        if try attempt({ (builder) throws(OneDNNError) in try builder.addByteTable(node, followers) }) { return true }
        switch node.operatorName {
        case "Conv": return try addConvolution(node, followers)
        case "MatMul", "Gemm":
            if try attempt({ (builder) throws(OneDNNError) in try builder.addQuantisedProduct(node, followers) }) {
                return true
            }
            return try node.operatorName == "Gemm"
                ? addGeneralProduct(node, followers) : addMatrixProduct(node, followers)
        case "ConvTranspose": return try addTransposedConvolution(node, followers)
        case "BatchNormalization": return try addBatchNormalization(node, followers)
        case "Add", "Sum", "Sub", "Mul", "Div", "Max", "Min":
            if followers.isEmpty, try addElementFunctions(node) { return true }
            if try attempt({ (builder) throws(OneDNNError) in try builder.addQuantisedSum(node, followers) }) {
                return true
            }
            return try addBinary(node, followers)
        default: break
        }
        guard followers.isEmpty else { return false }
        switch node.operatorName {
        case "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool": return try addPooling(node)
        case "Resize", "Upsample": return try addResizing(node)
        case "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin": return try addReduction(node)
        case "Softmax", "LogSoftmax": return try addSoftmax(node)
        case "LayerNormalization": return try addLayerNormalization(node)
        case "LRN": return try addLocalResponse(node)
        case "IsNaN": return try defersToWhere(node)
        case "Where": return try addWhere(node)
        case "Concat": return try addConcatenation(node)
        case "Transpose": return try addTransposition(node)
        case "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout": return try addView(node)
        case "Gather": return try addGather(node)
        case "Slice": return try addSlice(node)
        case "Split": return try addSplit(node)
        case "DepthToSpace": return try addDepthToSpace(node)
        case "QuantizeLinear": return try addQuantisation(node)
        case "DequantizeLinear": return try addDequantisation(node)
        case "Erf": return try addErf(node)
        default: return try addElementFunctions(node)
        }
    }

    /// Operators whose fast forms, without followers, move elements, add and multiply, so that nothing swallows NaN or an
    /// infinity.
    private static let exact: Set<String> = [
        "Conv", "MatMul", "Gemm", "ConvTranspose", "BatchNormalization", "Add", "Sum", "Sub", "Mul", "Div",
        "ReduceMean", "ReduceSum", "LayerNormalization", "Concat", "Transpose", "Reshape", "Flatten", "Squeeze",
        "Unsqueeze", "Identity", "Dropout", "Gather", "Slice", "Split", "DepthToSpace",
    ]

    /// A step that computes the node plainly.
    private mutating func evaluate(_ node: Node) throws(OneDNNError) {
        for name in node.requiredNames.sorted() { try hold(name) }
        plainNodes.append(node)
        steps.append(Step(place: node.place, operatorName: node.operatorName, action: .evaluate(node)))
        for name in node.outputs where !name.isEmpty { held.insert(name) }
    }

    /// Sees to it that the value exists as a tensor from here on; one that nobody has made is left to who misses it.
    mutating func hold(_ name: String) throws(OneDNNError) {
        guard !held.contains(name) else { return }
        if let tensor = initialisers[name] {
            scope[name] = tensor
        } else if let type = stepType(of: name), let shape = type.extents, let form = try plain(name) {
            let source = StepInput(argument: .source, place: form.place, offset: form.offset)
            let action = Step.Action.hold(source, name: name, type.elementType, shape: shape)
            steps.append(Step(place: place, operatorName: operatorName, action: action))
        } else {
            return
        }
        held.insert(name)
    }

    // MARK: Values

    /// The shape of a value of float32 that steps can work on. Nil for others.
    func shape(of name: String) -> [Int]? {
        guard let type = stepType(of: name), type.elementType == .float32 else { return nil }
        return type.extents
    }

    /// The type of a value that steps can work on: float32 or 8-bit integers, of known extents, not empty. Nil for others.
    func stepType(of name: String) -> TensorType? {
        guard let type = type(of: name), DataType(type.elementType) != nil, let extents = type.extents,
            extents.count <= 6,
            let count = try? Extents.count(extents), count > 0, count <= largestTensorBytes / 8
        else { return nil }
        return type
    }

    /// The type of any value, as far as it is known.
    func type(of name: String) -> TensorType? {
        initialisers[name].map { TensorType($0.elementType, extents: $0.shape) } ?? facts[name]?.type
    }

    /// As oneDNN has it: a scalar is a list of one.
    static func dimensions(_ shape: [Int]) -> [Int] { shape.isEmpty ? [1] : shape }

    /// The value as it lies, without gaps; nil where steps cannot work on it.
    mutating func form(_ name: String) throws(OneDNNError) -> Form? {
        guard var form = try view(name) else { return nil }
        if form.hasGaps { form = try moved(form, to: form.descriptor.with(.plain)) }
        form = try multiplied(form)
        forms[name] = form
        return form
    }

    /// The value as it lies, which may be within something larger and still to be multiplied; nil where steps cannot work on
    /// it.
    mutating func view(_ name: String) throws(OneDNNError) -> Form? {
        if let form = forms[name] { return form }
        if let form = quantised[name] {
            let result = try dequantised(form)
            forms[name] = result
            return result
        }
        guard let type = stepType(of: name), let shape = type.extents, let elements = DataType(type.elementType) else {
            return nil
        }
        let place: Place
        if let tensor = initialisers[name] {
            place = .constant(constants.count)
            if laidOut != nil, fileInitialisers[name]?.isCopy(of: tensor) == true { fileNames[constants.count] = name }
            constants.append(.tensor(tensor))
        } else if held.contains(name) {
            place = .tensor(name)
        } else {
            return nil
        }
        let form = Form(place: place, descriptor: try MemoryDescriptor(Self.dimensions(shape), elements))
        forms[name] = form
        return form
    }

    /// The value as 8-bit integers, with zero point and scale; nil where it does not lie like that.
    func quantisedView(_ name: String) -> Form? { quantised[name] }

    /// Lets the value `name` of float32 be what 8-bit integers stand for.
    mutating func bind(_ name: String, toQuantised form: Form) { quantised[name] = form }

    /// The value in row-major order, read under `dimensions`, of which there are as many elements.
    mutating func plain(_ name: String, as dimensions: [Int]? = nil) throws(OneDNNError) -> Form? {
        guard let view = try self.view(name) else { return nil }
        return try multiplied(plain(view, as: dimensions))
    }

    /// The same in row-major order.
    mutating func plain(_ view: Form, as dimensions: [Int]? = nil) throws(OneDNNError) -> Form {
        var form = try moved(view, to: view.descriptor.with(.plain))
        if let dimensions, dimensions != form.descriptor.dimensions {
            form.descriptor = try MemoryDescriptor(Self.dimensions(dimensions), view.descriptor.type)
        }
        return form
    }

    /// The float32 that 8-bit integers stand for.
    private mutating func dequantised(_ form: Form) throws(OneDNNError) -> Form {
        let target = try form.dense(.float32)
        let move = Move(source: form, target: target)
        if let place = moves[move] { return Form(place: place, descriptor: target) }
        var attributes = Attributes()
        (attributes.sourceZeroPoint, attributes.outputScale) = (form.zeroPoint, .common(form.scale))
        let reorder = try Primitive(Reorder(form.descriptor, to: target), attributes, on: engine)
        let place = append(reorder, [StepInput(argument: .source, place: form.place, offset: form.offset)])
        moves[move] = place
        return Form(place: place, descriptor: target)
    }

    /// The elements themselves, where they are still to be multiplied.
    private mutating func multiplied(_ form: Form) throws(OneDNNError) -> Form {
        guard form.scale != 1 else { return form }
        let move = Move(source: form, target: form.descriptor)
        var result = form
        (result.offset, result.scale) = (0, 1)
        if let place = moves[move] {
            result.place = place
        } else {
            let function = ElementFunction.linear(scale: form.scale, shift: 0)
            let primitive = try Primitive(ElementWise(function, form.descriptor), on: engine)
            result.place = append(
                primitive, [StepInput(argument: .source, place: form.place, offset: form.offset)])
            moves[move] = result.place
        }
        return result
    }

    /// The value as the primitive wants it.
    mutating func input(
        _ argument: Argument, _ form: Form, of primitive: Primitive
    ) throws(OneDNNError) -> StepInput {
        guard let wanted = primitive.descriptor(of: argument) else {
            preconditionFailure("\(primitive.name) has no \(argument)")
        }
        let stream = stream
        if wanted != form.descriptor,
            let place = try packed(
                form, as: wanted,
                { (bytes) throws(OneDNNError) in
                    try PackedWeights(packing: bytes, form.descriptor, as: wanted, on: stream)
                })
        {
            return StepInput(argument: argument, place: place)
        }
        let form = try moved(form, to: wanted)
        return StepInput(argument: argument, place: form.place, offset: form.offset)
    }

    /// A constant laid out as `target` by `lay`, once for all who want it so; nil for other values.
    mutating func packed(
        _ form: Form, as target: MemoryDescriptor,
        _ lay: (UnsafeRawBufferPointer) throws(OneDNNError) -> PackedWeights
    ) throws(OneDNNError) -> Place? {
        guard case .constant(let number) = form.place, case .tensor(let tensor) = constants[number] else { return nil }
        let move = Move(source: form, target: target)
        if let place = moves[move] { return place }
        let scratch = scratch
        func make() throws(OneDNNError) -> PackedWeights {
            try tensor.withPassingBytes(in: scratch) { bytes throws(OneDNNError) in
                try lay(UnsafeRawBufferPointer(rebasing: bytes[form.offset...]))
            }
        }
        let weights: PackedWeights
        if let laidOut, let name = fileNames[number] {
            weights = try laidOut.weights(WeightPart(name, form, target, on: engine), as: target, else: make)
        } else {
            weights = try make()
        }
        let place = Place.constant(constants.count)
        constants.append(.packed(weights))
        moves[move] = place
        return place
    }

    /// The elements laid out as `target`; a step of its own where they lie otherwise.
    mutating func moved(_ form: Form, to target: MemoryDescriptor) throws(OneDNNError) -> Form {
        if form.descriptor.type == target.type, form.descriptor.hasPlacesOf(target) {
            var same = form
            same.descriptor = target
            return same
        }
        let move = Move(source: form, target: target)
        var result = Form(
            place: form.place, descriptor: target, zeroPoint: form.zeroPoint, scale: form.scale)
        if let place = moves[move] {
            result.place = place
        } else {
            let reorder = try Primitive(Reorder(form.descriptor, to: target), on: engine)
            result.place = append(
                reorder, [StepInput(argument: .source, place: form.place, offset: form.offset)])
            moves[move] = result.place
        }
        return result
    }

    /// A new constant of float32, row-major.
    mutating func constant(_ values: [Double], _ dimensions: [Int]) throws(OneDNNError) -> Form? {
        guard let tensor = try? Tensor(.float32, shape: dimensions, doubles: values) else { return nil }
        return try constant(tensor, dimensions)
    }

    /// A new constant of elements that steps can work on.
    mutating func constant(_ tensor: Tensor, _ dimensions: [Int]) throws(OneDNNError) -> Form? {
        guard let type = DataType(tensor.elementType) else { return nil }
        constants.append(.tensor(tensor))
        return Form(place: .constant(constants.count - 1), descriptor: try MemoryDescriptor(dimensions, type))
    }

    // MARK: Steps

    /// Nil where oneDNN cannot do it.
    func primitive(
        _ operation: some PrimitiveOperation, _ attributes: Attributes = Attributes()
    ) throws(OneDNNError) -> Primitive? {
        do throws(OneDNNError) {
            return try Primitive(operation, attributes, on: engine)
        } catch {
            if error.code == .unimplemented || error.code == .invalidArguments { return nil }
            throw error
        }
    }

    /// Adds a step with a new buffer of the arena for its result.
    private mutating func append(byteCount: Int, _ action: (_ buffer: Int) -> Step.Action) -> Place {
        let number = buffers.count
        buffers.append(byteCount)
        steps.append(Step(place: place, operatorName: operatorName, action: action(number)))
        return .arena(number)
    }

    /// Notes what the last step, a choice of the largest or smallest of some, gives where all of them are infinite.
    mutating func begins(with number: Float) { steps[steps.count - 1].firstChoice = number }

    /// Adds a step that gathers rows.
    mutating func append(_ gather: RowGather, _ source: Form, indices: String, byteCount: Int) -> Place {
        let input = StepInput(argument: .source, place: source.place, offset: source.offset)
        return append(byteCount: byteCount) { .gather(gather, input, indices: indices, buffer: $0) }
    }

    /// Adds a step that computes each element by itself.
    mutating func append(_ map: ElementMap, _ source: Form, byteCount: Int) -> Place {
        let input = StepInput(argument: .source, place: source.place, offset: source.offset)
        return append(byteCount: byteCount) { .map(map, input, buffer: $0) }
    }

    /// Adds a step that chooses between two values, which are row-major.
    mutating func append(
        _ choice: ElementChoice, condition: String, _ first: Form, _ second: Form, byteCount: Int
    ) -> Place {
        let inputs = [first, second].map { StepInput(argument: .source, place: $0.place, offset: $0.offset) }
        return append(byteCount: byteCount) {
            .choose(choice, condition: condition, inputs[0], inputs[1], buffer: $0)
        }
    }

    /// Adds a convolution in Winograd's form, whose result is the value `name`.
    mutating func append(_ convolution: WinogradConvolution, _ inputs: [StepInput], result name: String) {
        let place = append(byteCount: convolution.destination.byteCount) { .convolve(convolution, inputs, buffer: $0) }
        forms[name] = Form(place: place, descriptor: convolution.destination)
    }

    /// Adds a primitive whose result has no name.
    mutating func append(_ primitive: Primitive, _ inputs: [StepInput]) -> Place {
        append(byteCount: primitive.descriptor(of: .destination)?.byteCount ?? 0) {
            .execute(primitive, inputs, buffer: $0)
        }
    }

    /// Adds a concatenation along an axis, whose result is the value `name`.
    mutating func append(
        joining axis: Int, _ primitive: Primitive, _ inputs: [StepInput], result name: String
    ) throws(OneDNNError) {
        if let joint = Joint(primitive, inputs, axis: axis, buffer: buffers.count, buffers: buffers) {
            joints.append(joint)
        }
        try append(primitive, inputs, result: name)
    }

    /// Adds a primitive whose result is the value `name`, under its own dimensions where the primitive has others.
    mutating func append(
        _ primitive: Primitive, _ inputs: [StepInput], result name: String
    ) throws(OneDNNError) {
        guard let shape = stepType(of: name)?.extents else {
            preconditionFailure("the shape of \"\(name)\" was checked before")
        }
        forms[name] = try resultForm(primitive, inputs, as: Self.dimensions(shape))
    }

    /// Adds a primitive; its result as it lies, under other dimensions with as many elements where they are given.
    mutating func resultForm(
        _ primitive: Primitive, _ inputs: [StepInput], as dimensions: [Int]? = nil
    ) throws(OneDNNError) -> Form {
        guard var descriptor = primitive.descriptor(of: .destination) else {
            preconditionFailure("\(primitive.name) has no destination")
        }
        let place = append(primitive, inputs)
        let plain = try MemoryDescriptor(dimensions ?? descriptor.dimensions, descriptor.type)
        descriptor = try descriptor.dimensions == plain.dimensions ? descriptor.normalised() : plain
        return Form(place: place, descriptor: descriptor)
    }

    /// Lets the value `name` be what already lies somewhere.
    mutating func bind(_ name: String, to form: Form) { forms[name] = form }
}
