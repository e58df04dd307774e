import Inference
import SeededNumbers
import Testing

/// Batches that go through a model a few rows at a time.
@Suite struct RowIndependenceTests {
    private static func node(
        _ name: String, _ inputs: [String], _ output: String, _ attributes: [String: Attribute] = [:]
    ) -> Node {
        Node(name, opset: 17, inputs: inputs, outputs: [output], attributes: attributes)
    }

    private static func numbers(_ shape: [Int], _ seed: UInt64 = 1) throws -> Tensor {
        var generator = SeededGenerator(seed: seed)
        let values = (0..<shape.reduce(1, *)).map { _ in Double.random(in: -1...1, using: &generator) }
        return try Tensor(.float32, shape: shape, doubles: values)
    }

    private static func indices(_ values: [Int]) throws -> Tensor {
        try Tensor(.int64, shape: [values.count], doubles: values.map { Double($0) })
    }

    private static func graph(_ nodes: [Node], input: [Dimension], constants: [String: Tensor] = [:]) -> Graph {
        Graph(
            inputs: [Graph.Port("x", TensorType(.float32, input))],
            outputs: [Graph.Port(nodes.last?.outputs.first ?? "", nil)], initialisers: constants, nodes: nodes)
    }

    /// Nodes behind an input of 4 x 6 x 5, and whether rows of it stay apart.
    private static func chains() throws -> [(note: String, nodes: [Node], isApart: Bool)] {
        [
            ("elementwise", [node("Relu", ["x"], "a"), node("Add", ["a", "wide"], "y")], true),
            ("a number for each row", [node("Add", ["x", "four"], "y")], false),
            ("one row for all", [node("Add", ["x", "one"], "y")], true),
            ("sum over columns", [node("ReduceMean", ["x"], "y", ["axes": .ints([-1])])], true),
            ("sum over rows", [node("ReduceMean", ["x"], "y", ["axes": .ints([0]), "keepdims": .int(1)])], false),
            ("sum over all", [node("ReduceMean", ["x"], "y")], false),
            ("softmax of columns", [node("Softmax", ["x"], "y", ["axis": .int(2)])], true),
            ("softmax of rows", [node("Softmax", ["x"], "y", ["axis": .int(-3)])], false),
            ("product with weights", [node("MatMul", ["x", "weights"], "y")], true),
            (
                "product with itself",
                [node("Transpose", ["x"], "t", ["perm": .ints([0, 2, 1])]), node("MatMul", ["x", "t"], "y")], true
            ),
            (
                "product of all rows",
                [
                    node("Reshape", ["x", "flat"], "f"), node("Transpose", ["f"], "t", ["perm": .ints([1, 0])]),
                    node("MatMul", ["f", "t"], "y"),
                ], false
            ),
            (
                "heads beside the batch",
                [
                    node("Reshape", ["x", "heads"], "h"), node("Softmax", ["h"], "s", ["axis": .int(-1)]),
                    node("Reshape", ["s", "back"], "y"),
                ], true
            ),
            ("rows within rows", [node("Reshape", ["x", "twisted"], "y")], false),
            ("turned", [node("Transpose", ["x"], "y", ["perm": .ints([1, 0, 2])])], false),
            (
                "turned and back",
                [
                    node("Transpose", ["x"], "t", ["perm": .ints([1, 0, 2])]),
                    node("Transpose", ["t"], "y", ["perm": .ints([1, 0, 2])]),
                ], true
            ),
            (
                "turned, worked on and turned back",
                [
                    node("Transpose", ["x"], "t", ["perm": .ints([1, 0, 2])]),
                    node("Softmax", ["t"], "s", ["axis": .int(1)]),
                    node("Transpose", ["s"], "y", ["perm": .ints([1, 0, 2])]),
                ], false
            ),
            (
                "heads in front, and one of them taken",
                [
                    node("Reshape", ["x", "three"], "h"),
                    node("Transpose", ["h"], "t", ["perm": .ints([2, 0, 1, 3])]),
                    node("Gather", ["t", "last"], "y", ["axis": .int(0)]),
                ], true
            ),
            (
                "one row taken of heads in front",
                [
                    node("Reshape", ["x", "three"], "h"),
                    node("Transpose", ["h"], "t", ["perm": .ints([2, 0, 1, 3])]),
                    node("Gather", ["t", "last"], "y", ["axis": .int(1)]),
                ], false
            ),
            ("joined beside", [node("Concat", ["x", "x"], "y", ["axis": .int(1)])], true),
            ("joined behind", [node("Concat", ["x", "x"], "y", ["axis": .int(0)])], false),
            (
                "a token for each row",
                [
                    node("Shape", ["x"], "s"),
                    node("Gather", ["s", "zero"], "n", ["axis": .int(0)]),
                    node("Concat", ["n", "tokenShape"], "shape", ["axis": .int(0)]),
                    node("Expand", ["token", "shape"], "e"),
                    node("Concat", ["e", "x"], "y", ["axis": .int(1)]),
                ], true
            ),
            (
                "divided by the number of rows",
                [
                    node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "n", ["axis": .int(0)]),
                    node("Cast", ["n"], "f", ["to": .int(1)]), node("Div", ["x", "f"], "y"),
                ], false
            ),
            (
                "divided by the number of columns",
                [
                    node("Shape", ["x"], "s"), node("Gather", ["s", "two"], "n", ["axis": .int(0)]),
                    node("Cast", ["n"], "f", ["to": .int(1)]), node("Div", ["x", "f"], "y"),
                ], true
            ),
            (
                "a scale for each row",
                [node("QuantizeLinear", ["x", "fourScales", "fourZeros"], "y", ["axis": .int(0)])], false
            ),
            ("cut in columns", [node("Slice", ["x", "zero", "two", "two"], "y")], true),
            ("cut in rows", [node("Slice", ["x", "zero", "two", "zero"], "y")], false),
            ("an operator that nobody looked at", [node("CumSum", ["x", "last"], "y")], false),
        ]
    }

    private static func constants() throws -> [String: Tensor] {
        [
            "wide": try numbers([6, 5]), "four": try numbers([4, 1, 1]), "one": try numbers([1, 6, 5]),
            "fourScales": try Tensor(.float32, shape: [4], doubles: [1, 2, 3, 4]),
            "fourZeros": try Tensor(.uint8, shape: [4], doubles: [0, 0, 0, 0]), "weights": try numbers([5, 7]),
            "flat": try indices([-1, 30]), "heads": try indices([-1, 3, 5]),
            "three": try indices([0, 2, 3, 5]), "back": try indices([-1, 6, 5]), "twisted": try indices([3, -1, 5]),
            "zero": try indices([0]),
            "last": try Tensor(.int64, shape: [], doubles: [2]), "two": try indices([2]),
            "token": try numbers([1, 1, 5]), "tokenShape": try indices([1, 5]),
        ]
    }

    @Test func rowsStayApartWhereEachOperatorKeepsThemApart() throws {
        for (note, nodes, isApart) in try Self.chains() {
            let graph = Self.graph(
                nodes, input: [.symbol("batch"), .known(6), .known(5)], constants: try Self.constants())
            let types = ["x": TensorType(.float32, extents: [4, 6, 5])]
            #expect(try RowIndependence.holds(for: graph, inputs: types, few: 2) == isApart, "\(note)")
            guard isApart else { continue }
            // Two rows among four come to what they come to alone.
            let model = Model(graph: graph, opsets: ["": 17])
            let batch = try Self.numbers([4, 6, 5], 2)
            let two = try Tensor(.float32, shape: [2, 6, 5], doubles: Array(batch.doubles().suffix(60)))
            let whole = try CompiledModel(model, inputs: types).execute(["x": batch])["y"]
            let part = try CompiledModel(model, inputs: ["x": TensorType(.float32, extents: [2, 6, 5])])
                .execute(["x": two])["y"]
            let wanted = try #require(whole).doubles().suffix(part?.count ?? 0)
            #expect(part?.shape.dropFirst() == whole?.shape.dropFirst(), "\(note)")
            #expect(zip(try #require(part).doubles(), wanted).allSatisfy { abs($0 - $1) < 1e-5 }, "\(note)")
        }
    }

    /// 64 multiply-adds for each of 16,384 places, of which a core does a row in some tens of microseconds.
    private func picture(_ rows: Dimension = .symbol("batch"), _ more: [Node] = []) throws -> Model {
        let graph = Self.graph(
            [
                Self.node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]),
                Self.node("GlobalAveragePool", ["c"], "p"), Self.node("Flatten", ["p"], "y"),
            ] + more, input: [rows, .known(8), .known(128), .known(128)],
            constants: ["w": try Self.numbers([8, 8, 3, 3])])
        return Model(graph: graph, opsets: ["": 17])
    }

    @Test func aBatchGoesThroughInPartsAndGivesTheSame() throws {
        let model = try picture()
        let batch = try Self.numbers([6, 8, 128, 128])
        let types = ["x": TensorType(.float32, extents: [6, 8, 128, 128])]
        let parted = try BatchModel(model, inputs: types)
        #expect(parted.partCount == 6)
        #expect(parted.compiled.inputs.first?.type?.extents?.first == 1)
        let whole = try CompiledModel(model, inputs: types)
        #expect(parted.compiled.arenaByteCount * 4 < whole.arenaByteCount)
        let found = try BatchModel.Run(parted).execute(["x": batch])
        let wanted = try whole.execute(["x": batch])
        expectClose(try #require(found["y"]), try #require(wanted["y"]), tolerance: 1e-5)
        // It can be stopped in any part.
        var left = parted.compiled.stepCount + 1
        let stopped = #expect(throws: ModelError.self) {
            try BatchModel.Run(parted).execute(["x": batch]) {
                left -= 1
                return left == 0
            }
        }
        #expect(stopped?.code == .stopped)
    }

    @Test func aBatchStaysWholeWhereItHasTo() throws {
        let types = ["x": TensorType(.float32, extents: [6, 8, 128, 128])]
        // The file has it so; who runs it says so; its rows are compared.
        #expect(try BatchModel(picture(.known(6)), inputs: types).partCount == 1)
        #expect(try BatchModel(picture(), extents: ["batch": 6], inputs: types).partCount == 1)
        let compared = try picture(.symbol("batch"), [Self.node("Softmax", ["y"], "z", ["axis": .int(0)])])
        #expect(try BatchModel(compared, inputs: types).partCount == 1)
        let one = ["x": TensorType(.float32, extents: [1, 8, 128, 128])]
        #expect(try BatchModel(picture(), inputs: one).partCount == 1)
    }

    @Test func theNumberOfRowsIsOpenPossibleOrRefused() throws {
        #expect(try picture().fixedRows() == nil && picture(.known(4)).fixedRows() == 4)
        // What old exporters write for an open one.
        #expect(try picture(.known(0)).withExtents([:]).fixedRows() == nil)
        #expect(try picture().withExtents(["batch": 3]).fixedRows() == 3)
        for model in [try picture(.known(1 << 40)), try picture().withExtents(["batch": .max])] {
            let error = #expect(throws: ModelError.self) { try model.fixedRows() }
            #expect(error?.code == .wrongInput)
        }
        #expect(RowBatches(most: 8, fewest: 8, atOnce: .max).ranges(of: 100, share: 16, limit: 2) == [0..<100])
    }

    @Test func outputsAreOfRowsWhereTheirFirstExtentIsThatOfTheBatch() throws {
        func model(_ nodes: [Node]) -> Model {
            Model(graph: Self.graph(nodes, input: [.symbol("batch"), .known(6), .known(5)]), opsets: ["": 17])
        }
        let single = ["x": TensorType(.float32, extents: [1, 6, 5])]
        let kept = model([Self.node("Relu", ["x"], "y")])
        #expect(kept.givesRows(for: single, atOnce: 6) && kept.rowOutputs(single) == ["y"])
        // Its six rows are none of a batch of six.
        let turned = model([Self.node("Transpose", ["x"], "y", ["perm": .ints([1, 0, 2])])])
        #expect(!turned.givesRows(for: single, atOnce: 6) && turned.rowOutputs(single).isEmpty)
        // As many rows as are found, unless the file knows better.
        var found = model([
            Self.node("NonZero", ["x"], "n"), Self.node("Transpose", ["n"], "y", ["perm": .ints([1, 0])]),
        ])
        #expect(!found.givesRows(for: single, atOnce: 6) && found.rowOutputs(single).isEmpty)
        found.graph.outputs[0].type = TensorType(.int64, [.symbol("batch"), .known(3)])
        #expect(!found.givesRows(for: single, atOnce: 6) && found.rowOutputs(single) == ["y"])
    }

    @Test func rowsFollowTheLengthOfTextsUnlessTheyAreMadeOne() {
        let tokens: [Dimension] = [.symbol("batch"), .symbol("tokens")]
        let each = Model(graph: Self.graph([Self.node("Relu", ["x"], "y")], input: tokens), opsets: ["": 17])
        #expect(each.rowsFollowLength(32, 64))
        let mean = Self.node("ReduceMean", ["x"], "y", ["axes": .ints([1])])
        #expect(!Model(graph: Self.graph([mean], input: tokens), opsets: ["": 17]).rowsFollowLength(32, 64))
    }

    /// Weights that are fetched for few places each are worth the more rows the more they are.
    @Test(arguments: [(8, 1), (4096, 8)]) func weightsThatAreFetchedServeSeveralRows(width: Int, atOnce: Int) throws {
        let graph = Self.graph(
            [
                Self.node("Conv", ["x", "w"], "c", ["pads": .ints([1, 1, 1, 1])]),
                Self.node("GlobalAveragePool", ["c"], "p"), Self.node("Flatten", ["p"], "f"),
                Self.node("MatMul", ["f", "m"], "a"), Self.node("MatMul", ["a", "n"], "y"),
            ], input: [.symbol("batch"), .known(8), .known(128), .known(128)],
            constants: [
                "w": try Self.numbers([8, 8, 3, 3]), "m": try Self.numbers([8, width]),
                "n": try Self.numbers([width, 100]),
            ])
        let single = ["x": TensorType(.float32, extents: [1, 8, 128, 128])]
        #expect(try Model(graph: graph, opsets: ["": 17]).rowsAtOnce(inputs: single, most: 8) == atOnce)
    }

    /// A graph that was traced for four rows has no shapes for one, and is run for all four at once.
    @Test func aGraphThatWasTracedForTheGivenRowsIsRunWhole() throws {
        let graph = Self.graph(
            [Self.node("Reshape", ["x", "traced"], "r"), Self.node("Relu", ["r"], "y")],
            input: [.symbol("n"), .known(6)],
            constants: ["traced": try Self.indices([4, 2, 3])])
        let model = Model(graph: graph, opsets: ["": 17])
        let x = try Self.numbers([4, 6])
        let batch = try BatchModel(model, inputs: ["x": TensorType(.float32, extents: [4, 6])])
        #expect(batch.partCount == 1)
        let found = try #require(try BatchModel.Run(batch).execute(["x": x])["y"])
        #expect(found.shape == [4, 2, 3] && found.doubles() == x.doubles().map { max($0, 0) })
        let error = #expect(throws: ModelError.self) {
            try BatchModel(model, inputs: ["x": TensorType(.float32, extents: [3, 6])])
        }
        #expect(error?.code == .damaged)
    }
}
