import Inference
import ModelParts
import ONNXFormat
import Testing

/// Loops: what they may be given, and how they end.
@Suite struct ControlTests {
    typealias Parts = ModelParts

    /// A loop that doubles a value; `goesOn` makes the condition `d` of the iteration `i` and the condition `c`.
    private static func doubling(_ inputs: [String], goesOn: ONNXNode) -> ONNXModel {
        let body = Parts.graph(
            inputs: [Parts.port("i", type: 7, []), Parts.port("c", type: 9, []), Parts.untyped("v")],
            outputs: ["d", "w"], nodes: [goesOn, Parts.node("Add", ["v", "v"], ["w"])])
        return Parts.model(
            Parts.graph(
                inputs: [Parts.port("x", [2])], outputs: ["y"],
                nodes: [
                    Parts.node("Cast", ["two"], ["go"], [Parts.attribute("to", int: 9)]),
                    Parts.node("Loop", inputs, ["y"], [Parts.attribute("body", graph: body)]),
                ], initialisers: [Parts.tensor("two", [], ints: [2])]))
    }

    /// Iterations 0 and 1 go on.
    private static let whileBelowTwo = Parts.node("Less", ["i", "two"], ["d"])
    private static let always = Parts.node("Identity", ["c"], ["d"])

    @Test func aLoopMayLackItsLimitOrItsCondition() throws {
        let x = try Tensor(.float32, shape: [2], doubles: [1, -3])
        let counted = try Parts.load(Self.doubling(["two", "", "x"], goesOn: Self.always))
        #expect(try ReferenceRunner().run(counted, inputs: ["x": x])[0].doubles() == [4, -12])
        let conditional = try Parts.load(Self.doubling(["", "go", "x"], goesOn: Self.whileBelowTwo))
        #expect(try ReferenceRunner().run(conditional, inputs: ["x": x])[0].doubles() == [8, -24])
        let error = try #require(try Parts.error(Self.doubling(["two", "go", ""], goesOn: Self.always)))
        #expect(error.code == .damaged && error.sentence.contains("left out"))
    }

    /// A limit that is given ends a loop; that of all numbers does not, nor does a condition that is always met.
    @Test(arguments: [("two", true), ("", false), ("all", false)]) func aRunKnowsWhetherALoopEnds(
        limit: String, ends: Bool
    ) throws {
        var file = Self.doubling([limit, "go", "x"], goesOn: Self.always)
        file.graph.initializer.append(Parts.tensor("all", [], ints: [.max]))
        let compiled = try CompiledModel(try Parts.load(file))
        var (asked, known) = (0, [Bool]())
        _ = try? CompiledModel.Run(compiled).execute(
            ["x": try Tensor(.float32, shape: [2])],
            shouldStopAt: { point in
                if case .subgraph(let ends) = point { known.append(ends) }
                asked += 1
                return asked > 10
            })
        #expect(known.count >= 2 && known.allSatisfy { $0 == ends })
    }

    @Test func aStopIsHeardBetweenIterations() throws {
        let compiled = try CompiledModel(try Parts.load(Self.doubling(["", "go", "x"], goesOn: Self.always)))
        let inputs = ["x": try Tensor(.float32, shape: [2])]
        var asked = 0
        let error = #expect(throws: ModelError.self) {
            try compiled.execute(inputs) {
                asked += 1
                return asked > 10
            }
        }
        #expect(error?.code == .stopped)
        #expect(error?.sentence.contains("Loop") == true)
    }
}

extension ModelParts {
    static func attribute(_ name: String, graph: ONNXGraph) -> ONNXAttribute {
        var attribute = ONNXAttribute()
        attribute.name = name
        attribute.type = .graph
        attribute.g = graph
        return attribute
    }
}
