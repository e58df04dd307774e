import Inference
import SeededNumbers

/// A graph of 2 to 12 random operators with the value of each, as the plain operators give it.
///
/// What makes layouts (Split, Slice, Gather, Transpose, Reshape, Concat, Conv, MatMul) stands as often in front of arithmetic
/// that broadcasts as that stands in front of functions, so that features meet. Operators whose result would depend on the last
/// bit of a value (a rounding, a quotient by nearly nothing) are drawn again: no lane is to blame for those.
struct RandomGraph {
    var fixture: GraphFixture
    private(set) var nodes: [Node] = []
    /// Values of float32 that a node may take, with what they are.
    private(set) var values: [(name: String, tensor: Tensor)] = []
    /// Whether infinities and NaN are among the inputs.
    let isNonFinite: Bool
    /// Whether every input has the same first extent, which the model leaves open.
    let isBatch: Bool

    /// Names of the outputs, and what the plain operators give for them.
    var outputs: [(name: String, tensor: Tensor)] {
        // The last two: one of them may be taken by the other, and then still has to be there.
        Array(values.suffix(2)).filter { value in !fixture.inputs.keys.contains(value.name) }
    }

    init(seed: UInt64) throws {
        fixture = GraphFixture(seed: seed)
        isNonFinite = fixture.pick(0...3) == 0
        isBatch = fixture.pick(0...7) == 0
        let shape = fixture.randomShape(isBatch)
        try addInput("x", shape)
        if fixture.pick(0...1) == 0 { try addInput("z", fixture.pick([shape, fixture.randomShape(isBatch)])) }
        let count = fixture.pick(2...12)
        var tries = 0
        while nodes.count < count, tries < 60 {
            tries += 1
            try addOperator()
        }
    }

    /// The model, and what it is run on.
    var model: Model { fixture.model(nodes, outputs: outputs.map(\.name)) }

    /// As failures show it.
    var lines: String {
        let inputs = fixture.inputs.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.shape)" }
        let results = nodes.map { node in
            let shapes = node.outputs.map { name in
                "\(name) \(values.first { $0.name == name }?.tensor.shape ?? [])"
            }
            let taken = node.inputs.map { name in
                fixture.initialisers[name].map { "\(name) \($0.shape)" } ?? name
            }
            let call = "\(node.operatorName)(\(taken.joined(separator: ", "))) \(node.settings)"
            return "\(shapes.joined(separator: ", ")) = \(call)"
        }
        return (inputs + results).joined(separator: "\n")
    }

    private mutating func addInput(_ name: String, _ shape: [Int]) throws {
        var shape = shape
        if isBatch, let rows = fixture.inputs["x"]?.shape.first { shape[0] = rows }
        let count = shape.reduce(1, *)
        let (nonFinite, share) = (isNonFinite, fixture.pick([3, 10, 40]))
        let tensor = try Tensor(
            .float32, shape: shape,
            doubles: (0..<count).map { _ in
                nonFinite && fixture.pick(0...share) == 0
                    ? fixture.pick([.infinity, -.infinity, .nan]) : Double.random(in: -2...2, using: &fixture.random)
            })
        fixture.inputs[name] = tensor
        values.append((name, tensor))
    }

    /// Adds an operator on a value, mostly on the last one; nothing where it has no sound result.
    private mutating func addOperator() throws {
        let before = fixture
        let value = fixture.pick(0...3) == 0 ? fixture.pick(values) : values[values.count - 1]
        guard let node = try drawn(on: value.name, value.tensor), let results = try? evaluated(node),
            zip(results, node.outputs).allSatisfy({ isSound($0.0) })
        else {
            let random = fixture.random
            fixture = before
            fixture.random = random
            return
        }
        nodes.append(node)
        for (name, tensor) in zip(node.outputs, results) where tensor.elementType == .float32 {
            values.append((name, tensor))
        }
    }

    private func evaluated(_ node: Node) throws -> [Tensor] {
        let taken = Set(node.inputs.filter { !$0.isEmpty })
        let graph = Graph(
            inputs: taken.filter { fixture.initialisers[$0] == nil }.sorted().map { Graph.Port($0, nil) },
            outputs: node.outputs.map { Graph.Port($0, nil) },
            initialisers: fixture.initialisers.filter { taken.contains($0.key) }, nodes: [node])
        var inputs: [String: Tensor] = [:]
        for value in values where graph.inputs.contains(where: { $0.name == value.name }) {
            inputs[value.name] = value.tensor
        }
        return try ReferenceRunner().run(Model(graph: graph, opsets: ["": node.opset]), inputs: inputs)
    }

    /// Neither so large nor so small that rounding decides; not larger than a test can wait for.
    private func isSound(_ tensor: Tensor) -> Bool {
        guard tensor.count <= 6000, tensor.shape.count <= 6 else { return false }
        let finite = tensor.doubles().filter(\.isFinite)
        return finite.allSatisfy { abs($0) < 200 } && (isNonFinite || finite.count == tensor.count)
    }

    /// A name that is not taken.
    mutating func newName() -> String { "v\(nodes.count)_\(fixture.initialisers.count)" }

    mutating func constant(_ shape: [Int], in range: ClosedRange<Double> = -2...2) throws -> String {
        let name = "c\(nodes.count)_\(fixture.initialisers.count)"
        try fixture.constant(name, shape, in: range)
        return name
    }

    mutating func indices(_ list: [Int], shape: [Int]? = nil) throws -> String {
        let name = "i\(nodes.count)_\(fixture.initialisers.count)"
        fixture.initialisers[name] = try Tensor(indices: list, shape: shape)
        return name
    }

    /// Another value that broadcasts against one of this shape, or a constant that does.
    mutating func other(than name: String, _ shape: [Int]) throws -> String {
        let fitting = values.filter { Self.broadcasts($0.tensor.shape, shape) }
        if fixture.pick(0...2) == 0, let value = fitting.randomElement(using: &fixture.random) { return value.name }
        var other = shape.map { fixture.pick(0...2) == 0 ? 1 : $0 }
        switch fixture.pick(0...7) {
        case 0: other = []
        case 1: other = shape
        case 2: other = shape.indices.map { $0 == 1 ? shape[1] : 1 }
        case 3: other = shape.last.map { [$0] } ?? []
        case 4 where shape.count > 1: other = Array(shape.dropFirst()).indices.map { $0 == 0 ? shape[1] : 1 }
        case 5: other = Array(other.dropFirst(fixture.pick(0...shape.count)))
        default: break
        }
        // A value of one element more now and then, so that the first operand is the repeated one.
        if shape.contains(1), fixture.pick(0...3) == 0, let axis = shape.firstIndex(of: 1), other.count == shape.count {
            other[axis] = fixture.pick(2...4)
        }
        return try constant(other)
    }

    static func broadcasts(_ one: [Int], _ other: [Int]) -> Bool {
        zip(one.reversed(), other.reversed()).allSatisfy { $0 == $1 || $0 == 1 || $1 == 1 }
    }
}

extension GraphFixture {
    /// Of one to five axes, many of one element, hardly ever none.
    fileprivate mutating func randomShape(_ isBatch: Bool) -> [Int] {
        if pick(0...4) == 0 {
            return [isBatch ? pick(2...3) : pick([1, 1, 2]), pick([3, 8, 16, 20]), pick(1...6), pick(1...6)]
        }
        var shape = (0..<pick(1...5)).map { _ in pick([1, 1, 2, 3, 4, 5, 8, 16, 17]) }
        while shape.reduce(1, *) > 3000 { shape[shape.indices.max { shape[$0] < shape[$1] } ?? 0] = 2 }
        if isBatch {
            shape[0] = pick(2...4)
        } else if pick(0...60) == 0 {
            shape[pick(0...(shape.count - 1))] = 0
        }
        return shape
    }
}

extension Node {
    fileprivate var settings: String {
        attributes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}
