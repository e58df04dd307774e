import Foundation
import Inference
import Testing

/// Functions of single elements that oneDNN does not have.
@Suite struct ElementMapTests {
    private func erf(_ values: [Float]) throws -> (found: [Float], lines: [String]) {
        var fixture = GraphFixture(seed: 1)
        fixture.inputs["x"] = try Tensor(.float32, shape: [values.count], elements: values)
        let compiled = try CompiledModel(fixture.model([node("Erf", ["x"], "y")]))
        let found = try #require(try compiled.execute(fixture.inputs)["y"])
        return (found.elements(as: Float.self), compiled.stepLines)
    }

    /// A number that is no multiple of what is computed at once.
    @Test func theErrorFunctionIsExactToSevenUnitsInTheLastPlace() throws {
        let values = (0...40_004).map { Float($0 - 20_002) / 4000 }
        let (found, lines) = try erf(values)
        #expect(lines.contains { $0.hasSuffix("erf") }, "\(lines)")
        let wrong = zip(values, found).first { value, result in
            let wanted = Foundation.erf(Double(value))
            return !(abs(Double(result) - wanted) <= 7 * Double(Float(wanted).ulp))
        }
        #expect(wrong == nil)
    }

    @Test func numbersFromEndToEndHaveAnErrorFunction() throws {
        let tiny = Float.leastNonzeroMagnitude
        let (found, _) = try erf([
            .nan, .infinity, -.infinity, .greatestFiniteMagnitude, 0, -0.0, tiny, -1e-30, 9, -9, 1e-10,
        ])
        #expect(found[0].isNaN)
        #expect(Array(found[1...3]) == [1, -1, 1])
        #expect(found[4] == 0 && found[5].sign == .minus)
        #expect(found[6] >= 0 && found[6] <= 2 * tiny)
        #expect(found[7] < 0 && found[8] == 1 && found[9] == -1)
        #expect(abs(found[10] - 1.1283792e-10) < 1e-16)
    }

    @Test(arguments: 1...20) func theErrorFunctionKeepsShapes(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        try fixture.input("x", (0..<fixture.pick(1...4)).map { _ in fixture.pick(1...9) }, in: -3...3)
        fixture.initialisers["half"] = try Tensor(.float32, shape: [], elements: [Float(0.5)])
        let nodes = [node("Mul", ["x", "half"], "h"), node("Erf", ["h"], "e"), node("Mul", ["e", "x"], "y")]
        try fixture.expectAgreement(nodes, tolerance: 1e-6, "seed \(seed)")
    }

    // MARK: Tables

    @Test(arguments: 1...40) func aFunctionOfOneByteIsATable(seed: UInt64) throws {
        var fixture = GraphFixture(seed: seed)
        let shape = (0..<fixture.pick(1...4)).map { _ in fixture.pick(1...9) }
        try fixture.quantised("x", shape)
        fixture.initialisers["root"] = try Tensor(.float32, shape: [], elements: [2 * Float(0.5).squareRoot()])
        let function = [
            node("Erf", ["x"], "v"), node("Sigmoid", ["x"], "v"), node("Tanh", ["x"], "v"),
            node("Gelu", ["x"], "v", opset: 20), node("Div", ["x", "root"], "v"), node("Mul", ["root", "x"], "v"),
        ][fixture.pick(0...5)]
        let type = fixture.pick([ElementType.uint8, .int8])
        try fixture.result("y", of: "v", scale: 0.0171, type, zeroPoint: type == .uint8 ? 121 : -6)
        try fixture.expectLevels([function], "seed \(seed): \(function.operatorName)", away: 0)
        let lines = try CompiledModel(fixture.quantisedModel([function])).stepLines
        #expect(lines.contains { $0.hasSuffix("table of 256") }, "seed \(seed): \(lines)")
    }

    /// As ONNX Runtime leaves the inside of GELU.
    @Test func functionsUpToTheNextIntegersAreOneTable() throws {
        var fixture = GraphFixture(seed: 4)
        try fixture.quantised("x", [2, 5, 33])
        fixture.initialisers["root"] = try Tensor(.float32, shape: [1], elements: [Float(2).squareRoot()])
        let nodes = [node("Div", ["x", "root"], "d"), node("Erf", ["d"], "e")]
        try fixture.result("y", of: "e", scale: 1 / 127, .int8, zeroPoint: 0)
        try fixture.expectLevels(nodes, away: 0)
        let lines = try CompiledModel(fixture.quantisedModel(nodes)).stepLines
        #expect(lines.count { !$0.contains("holds") } == 1 && lines[0].hasSuffix("table of 256"), "\(lines)")
    }

    @Test func whatIsNotQuantisedAgainIsFloat32() throws {
        var fixture = GraphFixture(seed: 3)
        try fixture.quantised("x", [2, 5, 33])
        fixture.initialisers["one"] = try Tensor(.float32, shape: [1], elements: [Float(1)])
        let nodes = [
            node("Erf", ["x"], "e"), node("Add", ["e", "one"], "s"), node("Mul", ["x", "s"], "p"),
        ]
        try fixture.result("y", of: "p", scale: 0.0371, .uint8, zeroPoint: 9)
        try fixture.expectLevels(nodes)
        let lines = try CompiledModel(fixture.quantisedModel(nodes)).stepLines
        #expect(lines.contains { $0.contains("Erf") && $0.hasSuffix("table of 256") }, "\(lines)")
    }
}
