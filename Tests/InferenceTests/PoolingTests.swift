import Inference
import Testing

/// Means over windows that `ceil_mode` has added.
@Suite struct PoolingTests {
    struct Case: Sendable {
        var kernel: Int
        var stride: Int
        var pads: [Int]
        var dilation = 1
        var input: [Double]
        var output: [Double]
    }

    /// As PyTorch and onnxruntime have it: places behind the padding are no padding, so the last window is divided by fewer.
    private static let cases = [
        Case(kernel: 2, stride: 2, pads: [0, 0], input: [1, 2, 3, 4, 5], output: [1.5, 3.5, 5]),
        Case(kernel: 3, stride: 2, pads: [1, 1], input: [1, 2, 3, 4, 5, 6], output: [1, 3, 5, 3]),
        Case(kernel: 2, stride: 2, pads: [0, 0], dilation: 2, input: [1, 2, 3, 4], output: [2, 3]),
        Case(kernel: 3, stride: 3, pads: [1, 2], dilation: 2, input: [1, 2, 3, 4, 5, 6], output: [2, 8.0 / 3, 3]),
        // Nothing is added here.
        Case(kernel: 3, stride: 2, pads: [1, 1], input: [1, 2, 3, 4, 5], output: [1, 3, 3]),
    ]

    @Test(arguments: cases) func meansCountPaddingAndNothingBehindIt(test: Case) throws {
        var fixture = GraphFixture(seed: 1)
        fixture.inputs["x"] = try Tensor(.float32, shape: [1, 1, test.input.count], doubles: test.input)
        let model = fixture.model([
            node(
                "AveragePool", ["x"], "y",
                [
                    "kernel_shape": .ints([test.kernel]), "strides": .ints([test.stride]), "pads": .ints(test.pads),
                    "dilations": .ints([test.dilation]), "ceil_mode": .int(1), "count_include_pad": .int(1),
                ], opset: 19)
        ])
        let wanted = try Tensor(.float32, shape: [1, 1, test.output.count], doubles: test.output)
        expectClose(try ReferenceRunner().run(model, inputs: fixture.inputs)[0], wanted, tolerance: 1e-6)
        let compiled = try CompiledModel(model).execute(fixture.inputs)
        expectClose(try #require(compiled["y"]), wanted, tolerance: 1e-6, "compiled")
        for form in OpenCLFixture.Form.allCases {
            let found = try OpenCLModel(model, on: OpenCLFixture.device(form)).execute(fixture.inputs)
            expectClose(try #require(found["y"]), wanted, tolerance: 1e-6, "\(form)")
        }
    }
}
