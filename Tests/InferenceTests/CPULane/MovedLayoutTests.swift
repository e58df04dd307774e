import Inference
import Testing

/// Layouts that Split, Slice, Gather and Transpose leave, in front of arithmetic and what follows it in the same pass.
@Suite struct MovedLayoutTests {
    private func agree(_ nodes: [Node], _ fixture: GraphFixture, _ note: String = "") throws {
        try fixture.expectAgreement(nodes, note)
    }

    /// Of one image, whose stride means nothing: rows behind the first were read one element off.
    @Test func aPartOfAValueWithAnotherOfItsSize() throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [1, 4, 6])
        try fixture.constant("c", [1, 2, 6])
        fixture.initialisers["sizes"] = try Tensor(indices: [2, 2])
        for (name, value) in [("starts", 0), ("ends", 2), ("axes", 1)] {
            fixture.initialisers[name] = try Tensor(indices: [value])
        }
        let split = Node(
            "Split", opset: 17, inputs: ["x", "sizes"], outputs: ["a", "b"], attributes: ["axis": .int(1)])
        try agree([split, node("Sigmoid", ["b"], "d"), node("Mul", ["a", "d"], "y")], fixture, "gated unit")
        let slice = node("Slice", ["x", "starts", "ends", "axes"], "s")
        try agree([slice, node("Sub", ["c", "s"], "y")], fixture, "anchors less a part")
        let half = node("Mul", ["b", "h"], "d")
        try fixture.constant("h", [])
        try agree([split, half, node("Sub", ["a", "d"], "y")], fixture, "corner of a box")
    }

    /// The result was never written.
    @Test(arguments: [[1, 0, 2], [0, 2, 1], [2, 0, 1]]) func anAxisOfOneElementThatMoves(order: [Int]) throws {
        for shape in [[1, 5, 8], [5, 1, 8], [3, 8, 1]] {
            var fixture = GraphFixture(seed: 2)
            try fixture.input("x", shape)
            try fixture.constant("s", [])
            try fixture.constant("k", [1, order.map { shape[$0] }[1], 1])
            for factor in ["s", "k"] {
                try agree(
                    [
                        node("Transpose", ["x"], "t", ["perm": .ints(order)]), node("Mul", ["t", factor], "m"),
                        node("Relu", ["m"], "r"), node("Transpose", ["r"], "y", ["perm": .ints(order)]),
                    ], fixture, "\(shape) as \(order), times \(factor)")
            }
        }
    }

    /// Memory beyond the operand was read.
    @Test func exchangedHeadsWithATableAndANumberForEach() throws {
        for heads in [1, 2, 3] {
            var fixture = GraphFixture(seed: 3)
            try fixture.input("x", [1, 5, heads, 4])
            try fixture.constant("c", [1, heads, 5, 4])
            try fixture.constant("v", [heads, 1, 1])
            try agree(
                [
                    node("Transpose", ["x"], "t", ["perm": .ints([0, 2, 1, 3])]), node("Add", ["t", "c"], "u"),
                    node("Mul", ["u", "v"], "y"),
                ], fixture, "\(heads) heads")
        }
    }

    /// Ended in SIGSEGV from two heads on.
    @Test(arguments: [1, 2, 3]) func aRowAddedToStacksThatArePutBack(heads: Int) throws {
        var fixture = GraphFixture(seed: 4)
        try fixture.input("p", [2, heads, 3, 3])
        try fixture.input("v", [2, heads, 3, 4])
        try fixture.constant("w", [4])
        try agree(
            [
                node("MatMul", ["p", "v"], "m"), node("Add", ["m", "w"], "u"),
                node("Transpose", ["u"], "y", ["perm": .ints([0, 2, 1, 3])]),
            ], fixture, "\(heads) heads")
    }

    /// Ended in SIGSEGV for one row.
    @Test(arguments: [1, 2, 5]) func oneLessAColumn(rows: Int) throws {
        var fixture = GraphFixture(seed: 5)
        try fixture.input("x", [rows, 6])
        fixture.initialisers["g"] = try Tensor(indices: [2], shape: [])
        fixture.initialisers["c"] = try Tensor(.float32, shape: [1], doubles: [1])
        fixture.initialisers["e"] = try Tensor(indices: [1])
        try agree(
            [
                node("Gather", ["x", "g"], "a", ["axis": .int(1)]), node("Sub", ["c", "a"], "u"),
                node("Relu", ["u"], "v"), node("Unsqueeze", ["v", "e"], "y"),
            ], fixture, "\(rows) rows")
    }
}
