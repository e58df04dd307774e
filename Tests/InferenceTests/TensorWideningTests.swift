import Inference
import Testing

/// Float16 and bfloat16 from and to float32, as Cast has it.
@Suite struct TensorWideningTests {
    private let patterns = Array(0...UInt16.max)

    private func cast(_ tensor: Tensor, to number: Int) throws -> Tensor {
        let graph = Graph(
            inputs: [Graph.Port("x", nil)], outputs: [Graph.Port("y", nil)],
            nodes: [node("Cast", ["x"], "y", ["to": .int(number)])])
        return try ReferenceRunner().run(Model(graph: graph, opsets: ["": 17]), inputs: ["x": tensor])[0]
    }

    /// Subnormal numbers, infinities and what is no number are among them.
    @Test func everyFloat16IsWidenedExactlyAndBack() throws {
        let wide = try cast(Tensor(.float16, shape: [patterns.count], elements: patterns), to: 1)
        let wrong = zip(patterns, wide.elements(as: Float.self)).first { pattern, value in
            let exact = Float(Float16(bitPattern: pattern))
            return exact.isNaN ? !value.isNaN : value.bitPattern != exact.bitPattern
        }
        #expect(wrong == nil)
        let narrow = try cast(wide, to: 10)
        let changed = zip(patterns, narrow.elements(as: UInt16.self)).first { pattern, back in
            Float16(bitPattern: pattern).isNaN ? !Float16(bitPattern: back).isNaN : back != pattern
        }
        #expect(changed == nil)
    }

    @Test func everyBFloat16IsWidenedExactlyAndBack() throws {
        let wide = try cast(Tensor(.bfloat16, shape: [patterns.count], elements: patterns), to: 1)
        #expect(wide.elements(as: UInt32.self) == patterns.map { UInt32($0) << 16 })
        let narrow = try cast(wide, to: 16)
        let changed = zip(patterns, narrow.elements(as: UInt16.self)).first { pattern, back in
            let isNaN = Float(bitPattern: UInt32(pattern) << 16).isNaN
            return isNaN ? !Float(bitPattern: UInt32(back) << 16).isNaN : back != pattern
        }
        #expect(changed == nil)
    }

    /// Ties go to the even one, also at both ends of the range.
    @Test func whatLiesBetweenIsRoundedToTheNearest() throws {
        let values: [Float] = [1 + 0x1p-11, 65_519, 65_520, 0x1p-25, 0x1.8p-25, -0x1p-24]
        let narrow = try cast(Tensor(.float32, shape: [values.count], elements: values), to: 10)
        #expect(narrow.elements(as: UInt16.self) == [0x3C00, 0x7BFF, 0x7C00, 0x0000, 0x0001, 0x8001])
    }
}
