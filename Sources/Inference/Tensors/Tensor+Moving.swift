extension Tensor {
    /// Element `sources[i]` of this tensor at each place `i`; negative numbers take the first element of `filler`, or
    /// zero.
    func gathered(_ sources: [Int], shape: [Int], filler: Tensor? = nil) throws(ModelError) -> Tensor {
        if elementType == .string {
            let own = strings
            let rest = filler?.strings.first ?? ""
            return try Tensor(strings: sources.map { $0 < 0 ? rest : own[$0] }, shape: shape)
        }
        return switch elementType.byteCount {
        case 1: try moved(UInt8.self, sources, shape, filler)
        case 2: try moved(UInt16.self, sources, shape, filler)
        case 4: try moved(UInt32.self, sources, shape, filler)
        default: try moved(UInt64.self, sources, shape, filler)
        }
    }

    private func moved<Element: BitwiseCopyable & ExpressibleByIntegerLiteral>(
        _: Element.Type, _ sources: [Int], _ shape: [Int], _ filler: Tensor?
    ) throws(ModelError) -> Tensor {
        let own = elements(as: Element.self)
        let rest = filler?.elements(as: Element.self).first ?? 0
        return try Tensor(elementType, shape: shape, elements: sources.map { $0 < 0 ? rest : own[$0] })
    }

    /// All elements of `tensors`, which have one type, behind each other.
    static func joined(_ tensors: [Tensor]) throws(ModelError) -> Tensor {
        guard let first = tensors.first else { preconditionFailure("nothing to join") }
        let count = tensors.reduce(0) { $0 + $1.count }
        if first.elementType == .string { return try Tensor(strings: tensors.flatMap(\.strings), shape: [count]) }
        return try Tensor(first.elementType, shape: [count]) { bytes throws(ModelError) in
            var offset = 0
            for tensor in tensors where tensor.count > 0 {
                try tensor.withBytes { source in
                    bytes[offset..<(offset + source.count)].copyBytes(from: source)
                    offset += source.count
                }
            }
        }
    }

    /// The elements read as a tensor of `target`, to which the shape must broadcast.
    func broadcast(to target: [Int]) throws(ModelError) -> Tensor {
        if shape == target { return self }
        guard isBroadcastable(to: target) else { throw .wrongValue("\(shape) does not broadcast to \(target)") }
        return try gathered(
            Extents.offsets(target, strides: Extents.broadcastStrides(shape, to: target)), shape: target)
    }

    func isBroadcastable(to target: [Int]) -> Bool {
        shape.count <= target.count && zip(shape.reversed(), target.reversed()).allSatisfy { $0 == 1 || $0 == $1 }
    }

    /// The axes in another order: axis `i` of the result is axis `order[i]` of this tensor.
    func transposed(_ order: [Int]) throws(ModelError) -> Tensor {
        let strides = Extents.strides(shape)
        let target = order.map { shape[$0] }
        return try gathered(Extents.offsets(target, strides: order.map { strides[$0] }), shape: target)
    }

    /// A tensor of a shape without elements.
    static func empty(_ elementType: ElementType, shape: [Int]) throws(ModelError) -> Tensor {
        elementType == .string ? try Tensor(strings: [], shape: shape) : try Tensor(elementType, shape: shape)
    }

    /// Each element at its own place.
    static func filled(with element: Tensor, shape: [Int]) throws(ModelError) -> Tensor {
        try element.reshaped([]).broadcast(to: shape)
    }
}
