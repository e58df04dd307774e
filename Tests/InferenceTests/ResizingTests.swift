import Inference
import Testing

/// Extents of resized tensors, and the order of their axes.
@Suite struct ResizingTests {
    /// As ONNX's shape inference has it: in float64 the float32 nearest to 0.7 times 10 is less than 7.
    @Test(arguments: [(0.7, 7), (0.9, 9), (1.4, 14), (0.65, 6), (1.0, 10)])
    func extentsAreProductsInFloat32(scale: Double, extent: Int) throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [10])
        fixture.initialisers["scales"] = try Tensor(.float32, shape: [1], doubles: [scale])
        for one in [node("Resize", ["x", "", "scales"], "y"), node("Upsample", ["x", "scales"], "y", opset: 9)] {
            let model = fixture.model([one])
            #expect(try ShapeInference().infer(model.graph).facts["y"]?.type.extents == [extent])
            #expect(try ReferenceRunner().run(model, inputs: fixture.inputs)[0].shape == [extent])
        }
    }

    /// Mode, extent and scale, with what becomes of 1, 2, 3 and so on.
    private static let corners: [(mode: String, extent: Int, scale: Double, values: [Double])] = [
        ("linear", 4, 0.6, [1, 4]), ("linear", 4, 0.9, [1, 2.5, 4]), ("linear", 3, 1.4, [1, 5.0 / 3, 7.0 / 3, 3]),
        ("nearest", 4, 0.6, [1, 4]), ("cubic", 4, 0.6, [1, 4]), ("linear", 5, 0.3, [1]),
    ]

    /// As the standard's text and onnxruntime have it, and PyTorch, where exporters take it from: the resized extent is the
    /// whole number that it became, so the last elements lie on each other.
    @Test(arguments: corners)
    func cornersLieOnEachOtherWhateverTheScale(mode: String, extent: Int, scale: Double, values: [Double]) throws {
        var fixture = GraphFixture(seed: 1)
        fixture.inputs["x"] = try Tensor(
            .float32, shape: [1, 1, 1, extent], doubles: (0..<extent).map { Double($0 + 1) })
        fixture.initialisers["scales"] = try Tensor(.float32, shape: [4], doubles: [1, 1, 1, scale])
        let model = fixture.model([
            node(
                "Resize", ["x", "", "scales"], "y",
                ["coordinate_transformation_mode": .string("align_corners"), "mode": .string(mode)], opset: 19)
        ])
        let wanted = try Tensor(.float32, shape: [1, 1, 1, values.count], doubles: values)
        expectClose(try ReferenceRunner().run(model, inputs: fixture.inputs)[0], wanted, tolerance: 1e-6)
        expectClose(
            try #require(try CompiledModel(model).execute(fixture.inputs)["y"]), wanted, tolerance: 1e-6, "compiled")
        for form in OpenCLFixture.Form.allCases {
            let found = try OpenCLModel(model, on: OpenCLFixture.device(form)).execute(fixture.inputs)
            expectClose(try #require(found["y"]), wanted, tolerance: 1e-6, "\(form)")
        }
    }

    @Test func anExtentBeyondCountingIsTooLarge() throws {
        var fixture = GraphFixture(seed: 1)
        try fixture.input("x", [10])
        fixture.initialisers["scales"] = try Tensor(.float32, shape: [1], doubles: [1e38])
        let model = fixture.model([node("Resize", ["x", "", "scales"], "y")])
        let error = #expect(throws: ModelError.self) { try ReferenceRunner().run(model, inputs: fixture.inputs) }
        #expect(error?.code == .tooLarge)
    }

    /// In the order of the axes there would be 65,000 times as many values in between as at either end.
    @Test(arguments: ["nearest", "linear", "cubic"]) func axesThatShrinkComeFirst(mode: String) throws {
        var fixture = GraphFixture(seed: 2)
        try fixture.input("x", [1, 1, 1, 65_000])
        fixture.initialisers["sizes"] = try Tensor(indices: [1, 1, 65_000, 1])
        let model = fixture.model([node("Resize", ["x", "", "", "sizes"], "y", ["mode": .string(mode)])])
        let result = try ReferenceRunner().run(model, inputs: fixture.inputs)[0]
        #expect(result.shape == [1, 1, 65_000, 1])
        let values = result.doubles()
        #expect(values.allSatisfy { abs($0 - values[0]) < 1e-6 })
    }

    /// The places 0.5, 4.5 and so on, and 5, of which the scale's rounding leaves a little more or less.
    @Test func placesInTheMiddleOfTwoElementsAndOnOneAreMet() throws {
        for (mode, nearest, extent, scale, elements) in [
            ("half_pixel_symmetric", "round_prefer_floor", 14, 0.75, [0, 2, 3, 4, 6, 7, 8, 10, 11, 12]),
            ("asymmetric", "floor", 10, 1.2, [0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9]),
        ] {
            var fixture = GraphFixture(seed: 1)
            fixture.inputs["x"] = try Tensor(
                .float32, shape: [1, 1, extent, 1], doubles: (0..<extent).map { Double($0) })
            fixture.initialisers["scales"] = try Tensor(.float32, shape: [4], doubles: [1, 1, scale, 1])
            let model = fixture.model([
                node(
                    "Resize", ["x", "", "scales"], "y",
                    ["coordinate_transformation_mode": .string(mode), "nearest_mode": .string(nearest)], opset: 19)
            ])
            let found = try ReferenceRunner().run(model, inputs: fixture.inputs)[0]
            #expect(found.doubles() == elements.map { Double($0) }, "\(mode)")
        }
    }

    @Test(arguments: ["nearest", "linear", "cubic"], [0, 1])
    func theOrderOfAxesMakesNoDifference(mode: String, antialias: Int) throws {
        var fixture = GraphFixture(seed: 3)
        try fixture.input("x", [1, 1, 4, 6])
        fixture.initialisers["rows"] = try Tensor(indices: [1, 1, 7, 6])
        fixture.initialisers["both"] = try Tensor(indices: [1, 1, 7, 3])
        let attributes: [String: Attribute] = ["mode": .string(mode), "antialias": .int(antialias)]
        let once = fixture.model([node("Resize", ["x", "", "", "both"], "y", attributes, opset: 18)])
        let apart = fixture.model([
            node("Resize", ["x", "", "", "rows"], "r", attributes, opset: 18),
            node("Resize", ["r", "", "", "both"], "y", attributes, opset: 18),
        ])
        let found = try ReferenceRunner().run(once, inputs: fixture.inputs)[0]
        expectClose(found, try ReferenceRunner().run(apart, inputs: fixture.inputs)[0], tolerance: 1e-6)
    }
}
