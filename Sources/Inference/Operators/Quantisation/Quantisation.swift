extension Operators {
    static let quantisation: [OperatorDefinition] =
        [quantizeLinear, dequantizeLinear, dynamicQuantizeLinear] + quantisedProducts

    private static let quantised: Set<ElementType> = [.int8, .uint8, .int16, .uint16]

    /// The range of an integer type of at most 32 bits.
    static func limits(of type: ElementType) -> ClosedRange<Double> {
        let bits = type.byteCount * 8
        let steps = Double(sign: .plus, exponent: bits, significand: 1)
        return ElementType.unsigned.contains(type) ? 0...(steps - 1) : (-steps / 2)...(steps / 2 - 1)
    }

    /// Rounds half to even, adds the zero point, and keeps to the range of `type`. The quotient is one of float32, as the
    /// standard has it: that decides where a half is met.
    static func quantise(_ value: Double, scale: Double, zero: Double, _ type: ElementType) -> Double {
        let range = limits(of: type)
        let rounded = Double((Float(value) / Float(scale)).rounded(.toNearestOrEven)) + zero
        return min(max(rounded, range.lowerBound), range.upperBound)
    }

    // MARK: Scales

    private static let attributes: [String: Attribute.Kind] = [
        "axis": .int, "saturate": .int, "block_size": .int, "output_dtype": .int, "precision": .int,
    ]

    /// Scale and zero point are one for all, by position of an axis, or by block along it.
    private static func checkScale(_ call: ShapeCall) throws(ModelError) {
        guard let shape = call.shape(), let scale = call.shape(1) else { return }
        // ONNX Runtime's quantisation writes one as a scalar and the other as a list of one.
        if call.has(2), let zero = call.shape(2), !(scale + zero).allSatisfy({ $0 == .known(1) }) {
            guard zero.count == scale.count else { throw .damaged("scale and zero point differ in shape") }
            for (one, other) in zip(scale, zero) { try Shapes.same(one, other, "scale and zero point") }
        }
        let blocks = call.node.int("block_size") ?? 0
        guard blocks >= 0 else { throw .damaged("its block_size is \(blocks)") }
        if scale.isEmpty || scale == [.known(1)] && blocks == 0 { return }
        let axis = try call.axis(call.node.int("axis") ?? 1, rank: shape.count)
        if blocks == 0 {
            guard scale.count == 1 else { throw .damaged("its scale has \(scale.count) axes") }
            try Shapes.same(scale[0], shape[axis], "scale and axis \(axis)")
            return
        }
        guard scale.count == shape.count else { throw .damaged("its scale has \(scale.count) axes") }
        for other in shape.indices where other != axis { try Shapes.same(scale[other], shape[other], "scale and data") }
        if let extent = shape[axis].extent, let count = scale[axis].extent {
            let (whole, overflow) = count.multipliedReportingOverflow(by: blocks)
            guard !overflow, whole >= extent, extent > whole - blocks else {
                throw .damaged("\(extent) places are not \(count) blocks of \(blocks)")
            }
        }
    }

    /// Elements of the data that have a scale in common, one run after the other, with the number of that scale.
    private static func forEachRun(_ call: OperatorCall, _ body: (Range<Int>, Int) -> Void) {
        let (shape, count) = (call.tensor(0).shape, call.tensor(0).count)
        if call.tensor(1).count == 1 { return body(0..<count, 0) }
        let axis = call.axis(default: 1)
        let blocks = call.node.int("block_size") ?? 0
        let (extent, inner) = (shape[axis], Extents.strides(shape)[axis])
        guard blocks > 0 else {
            for run in 0..<(count / max(inner, 1)) { body((run * inner)..<((run + 1) * inner), run % extent) }
            return
        }
        let rows = call.tensor(1).shape[axis]
        for element in 0..<count {
            let (outer, place) = (element / inner / extent, element / inner % extent)
            body(element..<(element + 1), (outer * rows + place / blocks) * inner + element % inner)
        }
    }

    private static let quantizeLinear = OperatorDefinition(
        "QuantizeLinear", versions: [10, 13, 19, 21], inputs: 2...3,
        types: [
            ElementRule(types: [.float32, .float16, .bfloat16, .int32]), .floats, ElementRule(types: quantised),
        ], attributes: attributes,
        infer: { call throws(ModelError) in
            try checkScale(call)
            var type = call.has(2) ? call.elementType(2) : ElementType.uint8
            if let number = call.node.int("output_dtype"), number != 0 {
                let named = try elementType(number)
                guard !call.has(2) || named == type else { throw .damaged("output_dtype and zero point differ") }
                guard quantised.contains(named) else { throw .unsupported(["quantisation to \(named.rawValue)"]) }
                type = named
            }
            // Quotients are those of float32, which is what the type of the scale asks for mostly.
            if let number = call.node.int("precision"), number != 0 {
                let named = try elementType(number)
                guard named == .float32 || named == call.elementType(1) else {
                    throw .unsupported(["precision \(named.rawValue) of QuantizeLinear"])
                }
            }
            return [TensorType(type, call.shape())]
        }
    ) { call throws(ModelError) in
        let (scales, zeros) = (call.tensor(1).doubles(), call.optional(2)?.doubles())
        var values = call.tensor().doubles()
        forEachRun(call) { run, number in
            let (scale, zero) = (scales[number], zeros?[number] ?? 0)
            for place in run { values[place] = quantise(values[place], scale: scale, zero: zero, call.elementType) }
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: values)]
    }

    private static let dequantizeLinear = OperatorDefinition(
        "DequantizeLinear", versions: [10, 13, 19, 21], inputs: 2...3,
        types: [ElementRule(types: quantised.union([.int32])), .floats, .first], attributes: attributes,
        infer: { call throws(ModelError) in
            try checkScale(call)
            if let number = call.node.int("output_dtype"), number != 0 {
                let named = try elementType(number)
                guard named == call.elementType(1) else {
                    throw .unsupported(["output_dtype \(named.rawValue) of DequantizeLinear beside another scale"])
                }
            }
            return [TensorType(call.elementType(1), call.shape())]
        }
    ) { call throws(ModelError) in
        switch (call.elementType, call.tensor().elementType) {
        case (.float32, .int8): return [try dequantised(call, Int8.self)]
        case (.float32, .uint8): return [try dequantised(call, UInt8.self)]
        default: break
        }
        let (scales, zeros) = (call.tensor(1).doubles(), call.optional(2)?.doubles())
        var values = call.tensor().doubles()
        forEachRun(call) { run, number in
            let (scale, zero) = (scales[number], zeros?[number] ?? 0)
            for place in run { values[place] = (values[place] - zero) * scale }
        }
        return [try Tensor(call.elementType, shape: call.shape(), doubles: values)]
    }

    /// The weights of a model: many elements. Differences of 8-bit integers are exact in float32.
    private static func dequantised<Element: FixedWidthInteger & BitwiseCopyable>(
        _ call: OperatorCall, _ type: Element.Type
    ) throws(ModelError) -> Tensor {
        let scales = call.tensor(1).elements(as: Float.self)
        let zeros = call.optional(2)?.doubles().map { Float($0) }
        return try Tensor(.float32, shape: call.shape()) { (bytes) throws(ModelError) in
            let results = bytes.bindMemory(to: Float.self)
            try call.tensor().withBytes { (bytes) throws(ModelError) in
                let values = bytes.bindMemory(to: Element.self)
                forEachRun(call) { run, number in
                    let (scale, zero) = (scales[number], zeros?[number] ?? 0)
                    for place in run { results[place] = (Float(values[place]) - zero) * scale }
                }
            }
        }
    }

    /// To `uint8` with the scale that the values need, zero included; computed in float32 as the standard has it.
    private static let dynamicQuantizeLinear = OperatorDefinition(
        "DynamicQuantizeLinear", versions: [11], outputs: 3...3, types: [.only(.float32)],
        infer: { call in
            [TensorType(.uint8, call.shape()), TensorType(.float32, []), TensorType(.uint8, [])]
        }
    ) { call throws(ModelError) in
        let values = call.tensor().elements(as: Float.self)
        let (low, high) = (min(values.min() ?? 0, 0), max(values.max() ?? 0, 0))
        let scale = (high - low) / 255
        let zero = scale == 0 ? 0 : min(max((-low / scale).rounded(.toNearestOrEven), 0), 255)
        let results = values.map {
            scale == 0 ? 0 : Double(min(max(($0 / scale).rounded(.toNearestOrEven) + zero, 0), 255))
        }
        return [
            try Tensor(.uint8, shape: call.shape(), doubles: results),
            try Tensor(.float32, shape: [], elements: [scale]), try Tensor(.uint8, shape: [], doubles: [Double(zero)]),
        ]
    }
}
