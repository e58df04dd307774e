extension Operators {
    static let casts: [OperatorDefinition] = [
        OperatorDefinition(
            "Cast", versions: [6, 9, 13, 19, 21], types: [.fixedSize],
            // The others than `to` say how types are rounded to that are not implemented.
            attributes: ["to": .int, "round_mode": .string, "saturate": .int],
            infer: { call throws(ModelError) in
                guard let number = call.node.int("to") else { throw .damaged("it does not say to which type") }
                return [TensorType(try elementType(number), call.shape())]
            }, extents: { $0.extents(0) }
        ) { call throws(ModelError) in [try cast(call.tensor(), to: call.elementType)] },
        OperatorDefinition(
            "CastLike", versions: [15, 19, 21], inputs: 2...2, types: [.fixedSize, .fixedSize],
            attributes: ["round_mode": .string, "saturate": .int],
            infer: { call in [TensorType(call.elementType(1), call.shape())] }, extents: { $0.extents(0) }
        ) { call throws(ModelError) in [try cast(call.tensor(), to: call.elementType)] },
    ]

    /// The element type of a number that an attribute gives.
    static func elementType(_ number: Int) throws(ModelError) -> ElementType {
        let narrow = Int32(truncatingIfNeeded: number)
        if let type = ElementType(onnxNumber: narrow), type != .string { return type }
        if narrow == 8 { throw .unsupported(["conversion to string"]) }
        if let name = ElementType.foreignName(onnxNumber: narrow) { throw .unsupported(["element type \(name)"]) }
        throw .damaged("there is no element type \(number)")
    }

    static func cast(_ tensor: Tensor, to type: ElementType) throws(ModelError) -> Tensor {
        if tensor.elementType == type { return tensor }
        // Inputs and outputs of models: many elements.
        if tensor.elementType.isNarrowFloat && type == .float32 { return try tensor.widened() }
        if tensor.elementType == .float32 && type.isNarrowFloat { return try tensor.narrowed(to: type) }
        if tensor.elementType.isFloat || tensor.elementType == .uint64 && type.isFloat {
            return try Tensor(type, shape: tensor.shape, doubles: tensor.doubles())
        }
        return try Tensor(type, shape: tensor.shape, integers: tensor.integers())
    }
}
