import ModelParts
import Foundation
import Inference
import ONNXFormat
import SwiftProtobuf
import Testing

/// Functions that a model defines are put in place of their calls.
@Suite struct FunctionTests {
    typealias Parts = ModelParts

    private static func function(
        _ name: String, inputs: [String], outputs: [String], nodes: [ONNXNode], attributes: [String] = [],
        defaults: [ONNXAttribute] = []
    ) -> ONNXFunction {
        var function = ONNXFunction()
        function.name = name
        function.domain = "local"
        function.input = inputs
        function.output = outputs
        function.node = nodes
        function.attribute = attributes
        function.attributeProto = defaults
        function.opsetImport = [Parts.set("", 18), Parts.set("local", 1)]
        return function
    }

    /// leaky(a) = LeakyRelu(a, alpha: slope), twice(a) = leaky(a) + leaky(a)
    private static let leaky = function(
        "leaky", inputs: ["a"], outputs: ["b"],
        nodes: [
            Parts.node("LeakyRelu", ["a"], ["t"], [Parts.attribute("alpha", reference: "slope")]),
            Parts.node("Identity", ["t"], ["b"]),
        ], defaults: [Parts.attribute("slope", float: 0.5)])
    private static let twice = function(
        "twice", inputs: ["a"], outputs: ["b"],
        nodes: [
            Parts.node("leaky", ["a"], ["t"], domain: "local"),
            Parts.node("leaky", ["a"], ["u"], domain: "local", [Parts.attribute("slope", float: 0.25)]),
            Parts.node("Add", ["t", "u"], ["b"]),
        ])

    @Test func callsBecomeTheirBodies() throws {
        let graph = Parts.graph(
            inputs: [Parts.port("x", [2])], outputs: ["y"],
            nodes: [
                Parts.node("twice", ["x"], ["t"], domain: "local"), Parts.node("twice", ["t"], ["y"], domain: "local"),
            ])
        let model = try Parts.load(Parts.model(graph, functions: [Self.leaky, Self.twice]))
        #expect(model.graph.nodes.map(\.operatorName).count { $0 == "LeakyRelu" } == 4)
        #expect(model.graph.nodes.allSatisfy { $0.opset == 18 })
        let x = try Tensor(.float32, shape: [2], doubles: [1, -4])
        // 1 → 2 → 4; -4 → -2 - 1 = -3 → -1.5 - 0.75
        #expect(try ReferenceRunner().run(model, inputs: ["x": x])[0].doubles() == [4, -2.25])
    }

    @Test func aFunctionThatCallsItselfIsDamaged() throws {
        let circle = Self.function(
            "circle", inputs: ["a"], outputs: ["b"], nodes: [Parts.node("circle", ["a"], ["b"], domain: "local")])
        let graph = Parts.graph(
            inputs: [Parts.port("x", [2])], outputs: ["y"], nodes: [Parts.node("circle", ["x"], ["y"], domain: "local")]
        )
        let error = try #require(try Parts.error(Parts.model(graph, functions: [circle])))
        #expect(error.code == .damaged)
        #expect(error.sentence.contains("circle"))
    }

    @Test func functionsMayCallEachOtherManyTimesDeep() throws {
        let levels = (0..<50).map { level in
            Self.function(
                "level\(level)", inputs: ["a"], outputs: ["b"],
                nodes: [
                    Parts.node("Neg", ["a"], ["t"]),
                    Parts.node(
                        level == 0 ? "Neg" : "level\(level - 1)", ["t"], ["b"], domain: level == 0 ? "" : "local"),
                ])
        }
        let graph = Parts.graph(
            inputs: [Parts.port("x", [2])], outputs: ["y"],
            nodes: [Parts.node("level49", ["x"], ["y"], domain: "local")])
        let model = try Parts.load(Parts.model(graph, functions: levels))
        #expect(model.graph.nodes.count == 51)
        #expect(Set(model.graph.nodes.flatMap(\.outputs)).count == 51)
        let longest = model.graph.nodes.flatMap(\.outputs).map { "\($0)".count }.max() ?? 0
        #expect(longest < 1000)
    }

    /// A choice between two calls of a function of the names `a` and `c`.
    private static func choice(of name: String, _ output: String) -> ONNXNode {
        let call = Parts.node(name, ["a", "c"], ["r"], domain: "local")
        let branch = Parts.graph(inputs: [], outputs: ["r"], nodes: [call])
        let branches = ["then_branch", "else_branch"].map { Parts.attribute($0, graph: branch) }
        return Parts.node("If", ["c"], [output], branches)
    }

    private static func calling(_ name: String) -> ONNXGraph {
        Parts.graph(
            inputs: [Parts.port("x", [2]), Parts.port("flag", type: 9, [])], outputs: ["y"],
            nodes: [Parts.node(name, ["x", "flag"], ["y"], domain: "local")])
    }

    @Test func aFunctionThatCallsItselfInABranchIsDamaged() throws {
        let circle = Self.function(
            "circle", inputs: ["a", "c"], outputs: ["b"], nodes: [Self.choice(of: "circle", "b")])
        let error = try #require(try Parts.error(Parts.model(Self.calling("circle"), functions: [circle])))
        #expect(error.code == .damaged)
        #expect(error.sentence.contains("circle"))
    }

    @Test func functionsThatMultiplyEachOtherInBranchesMeetALimit() throws {
        // Each level calls the one below four times: twenty levels would be 4^20 nodes.
        let levels = (0..<20).map { level in
            Self.function(
                "level\(level)", inputs: ["a", "c"], outputs: ["b"],
                nodes: level == 0
                    ? [Parts.node("Identity", ["a"], ["b"])]
                    : ["t", "b"].map { Self.choice(of: "level\(level - 1)", $0) })
        }
        var importer = ModelImporter()
        importer.limits.nodes = 2000
        let bytes: Data = try Parts.model(Self.calling("level19"), functions: levels).serializedData()
        let error = #expect(throws: ModelError.self) { try importer.load(bytes: bytes) }
        #expect(error?.code == .tooLarge)
    }

    @Test func functionsThatMultiplyEachOtherMeetALimit() throws {
        // Each level calls the one below ten times: ten levels would be 10^10 nodes.
        let levels = (0..<10).map { level in
            Self.function(
                "level\(level)", inputs: ["a"], outputs: ["b"],
                nodes: level == 0
                    ? [Parts.node("Identity", ["a"], ["b"])]
                    : (0..<10).map { Parts.node("level\(level - 1)", ["a"], ["v\($0)"], domain: "local") })
        }
        let graph = Parts.graph(
            inputs: [Parts.port("x", [2])], outputs: ["y"], nodes: [Parts.node("level9", ["x"], ["y"], domain: "local")]
        )
        var importer = ModelImporter()
        importer.limits.nodes = 2000
        let bytes: Data = try Parts.model(graph, functions: levels).serializedData()
        let error = #expect(throws: ModelError.self) { try importer.load(bytes: bytes) }
        #expect(error?.code == .tooLarge)
    }
}
