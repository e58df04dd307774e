import Foundation
import Inference
import Testing

@Suite struct CompiledModelTests {
    /// A small network of which one node has no fast form.
    private static func network() throws -> (model: Model, inputs: [String: Tensor]) {
        try GraphFixture.network([
            node("Atan", ["s"], "e"), node("MaxPool", ["e"], "y", ["kernel_shape": .ints([2, 2])]),
        ])
    }

    @Test func whatHasNoFastFormIsEvaluatedPlainly() throws {
        let (model, inputs) = try Self.network()
        let compiled = try CompiledModel(model)
        #expect(compiled.plainNodes.map(\.operatorName) == ["Atan"])
        let wanted = try ReferenceRunner().run(model, inputs: inputs)[0]
        // Sums of 360 products that are far larger than what Atan makes of them.
        expectClose(try #require(try compiled.execute(inputs)["y"]), wanted, tolerance: 1e-4)
    }

    @Test func oneRunAfterAnotherGivesTheSameBytes() throws {
        let (model, inputs) = try Self.network()
        let run = try CompiledModel.Run(CompiledModel(model))
        let first = try run.execute(inputs)["y"]?.elements(as: UInt32.self)
        // What a run has left behind, in the padding of blocked layouts too, must not matter.
        let nan = [Double](repeating: .nan, count: 20 * 144)
        _ = try run.execute(["x": try Tensor(.float32, shape: [1, 20, 12, 12], doubles: nan)])
        #expect(try run.execute(inputs)["y"]?.elements(as: UInt32.self) == first)
        #expect(first?.isEmpty == false)
    }

    @Test func twoThreadsGiveTheBytesOfOne() throws {
        let (model, inputs) = try Self.network()
        let compiled = try CompiledModel(model)
        let alone = try #require(try compiled.execute(inputs)["y"]).elements(as: UInt32.self)
        let results = Results()
        let done = DispatchGroup()
        for _ in 0..<2 {
            done.enter()
            Thread.detachNewThread {
                for _ in 0..<20 { results.add((try? compiled.execute(inputs)["y"])?.elements(as: UInt32.self)) }
                done.leave()
            }
        }
        done.wait()
        #expect(results.all.count == 40)
        #expect(results.all.allSatisfy { $0 == alone })
    }

    @Test func aRunStopsBeforeTheNextStep() throws {
        let (model, inputs) = try Self.network()
        let compiled = try CompiledModel(model)
        for count in 0..<compiled.stepCount {
            var asked = 0
            let error = #expect(throws: ModelError.self) {
                try compiled.execute(inputs) {
                    asked += 1
                    return asked > count
                }
            }
            #expect(error?.code == .stopped)
            #expect(asked == count + 1)
        }
    }

    @Test func memoryIsToldBeforeItIsTaken() throws {
        let (model, _) = try Self.network()
        let compiled = try CompiledModel(model)
        // At least the largest value; at most all of them, in blocks of 16 channels.
        #expect(compiled.arenaByteCount >= 40 * 144 * 4)
        #expect(compiled.arenaByteCount <= 5 * 48 * 144 * 4)
        #expect(compiled.constantByteCount >= 2 * 40 * 20 * 9 * 4)
    }

    @Test func namedExtentsAreGivenOrLeftOpen() throws {
        var fixture = GraphFixture(seed: 8)
        try fixture.input("x", [3, 4])
        var model = fixture.model([node("Relu", ["x"], "y")])
        model.graph.inputs[0].type = TensorType(.float32, [.symbol("n"), .known(4)])
        let given = try CompiledModel(model, extents: ["n": 3])
        let open = try CompiledModel(model)
        #expect(given.plainNodes.isEmpty)
        #expect(open.plainNodes.count == 1)
        let wanted = try ReferenceRunner().run(model, inputs: fixture.inputs)[0].doubles()
        #expect(try given.execute(fixture.inputs)["y"]?.doubles() == wanted)
        #expect(try open.execute(fixture.inputs)["y"]?.doubles() == wanted)
        let other = ["x": try Tensor(.float32, shape: [2, 4])]
        #expect(Self.code { () throws(ModelError) in try given.execute(other) } == .wrongInput)
        #expect(try open.execute(other)["y"]?.shape == [2, 4])
        #expect(Self.code { () throws(ModelError) in try CompiledModel(model, extents: ["m": 3]) } == .wrongInput)
        #expect(
            Self.code { () throws(ModelError) in try CompiledModel(model, inputs: ["q": TensorType(.float32, [])]) }
                == .wrongInput)
        #expect(
            Self.code { () throws(ModelError) in
                try CompiledModel(model, inputs: ["x": TensorType(.float32, extents: [3, 5])])
            } == .wrongInput)
    }

    private static func code<Answer>(_ body: () throws(ModelError) -> Answer) -> ModelError.Code? {
        do throws(ModelError) {
            _ = try body()
            return nil
        } catch {
            return error.code
        }
    }

    /// The same fault ends the same way on both lanes.
    @Test(arguments: [
        Fault.missing, .shape, .type, .stray, .index, .tooLarge, .branch, .doesNotFit, .elementType,
    ])
    func faultsAreThoseOfThePlainOperators(fault: Fault) throws {
        let (model, inputs) = try fault.made()
        let inferred = try? ShapeInference().infer(model.graph)
        let plain =
            inferred?.unsupported.isEmpty == false
            ? .unsupported
            : Self.code { () throws(ModelError) in
                _ = try ShapeInference().infer(model.graph)
                return try ReferenceRunner().run(model, inputs: inputs)
            }
        #expect(plain != nil)
        #expect(Self.code { () throws(ModelError) in try CompiledModel(model).execute(inputs) } == plain)
    }

    enum Fault: Sendable {
        case missing, shape, type, stray, index, tooLarge, branch, doesNotFit, elementType

        func made() throws -> (Model, [String: Tensor]) {
            var fixture = GraphFixture(seed: 9)
            try fixture.input("x", [3, 4])
            var nodes = [node("Relu", ["x"], "y")]
            fixture.initialisers["flag"] = try Tensor(shape: [], flags: [true])
            switch self {
            case .index:
                fixture.inputs["i"] = try Tensor(indices: [3])
                nodes = [node("Gather", ["x", "i"], "y")]
            case .tooLarge:
                fixture.initialisers["s"] = try Tensor(indices: [1 << 20, 1 << 20])
                nodes = [node("ConstantOfShape", ["s"], "y")]
            case .branch:
                let branch = Graph(
                    inputs: [], outputs: [Graph.Port("t", nil)],
                    nodes: [node("Gather", ["x", "i"], "t")])
                fixture.inputs["i"] = try Tensor(indices: [-4])
                nodes = [node("If", ["flag"], "y", ["then_branch": .graph(branch), "else_branch": .graph(branch)])]
            case .doesNotFit:
                try fixture.constant("k", [3])
                nodes = [node("Add", ["x", "k"], "y")]
            case .elementType:
                fixture.inputs["i"] = try Tensor(indices: [3])
                nodes = [node("Sigmoid", ["i"], "y")]
            case .missing, .shape, .type, .stray: break
            }
            let model = fixture.model(nodes)
            switch self {
            case .missing: fixture.inputs = [:]
            case .shape: fixture.inputs["x"] = try Tensor(.float32, shape: [4, 3])
            case .type: fixture.inputs["x"] = try Tensor(.int64, shape: [3, 4])
            case .stray: fixture.inputs["q"] = try Tensor(.float32, shape: [1])
            default: break
            }
            return (model, fixture.inputs)
        }
    }
}

/// What threads have found.
private final class Results: @unchecked Sendable {
    // Unchecked: reached under the lock only.
    private let lock = NSLock()
    private var found: [[UInt32]?] = []

    var all: [[UInt32]?] { lock.withLock { found } }
    func add(_ result: [UInt32]?) { lock.withLock { found.append(result) } }
}
