extension ElementType {
    /// A float of 16 bits. All of its values are values of float32.
    var isNarrowFloat: Bool { self == .float16 || self == .bfloat16 }
}

extension Tensor {
    /// The elements of float16 or bfloat16 as float32.
    ///
    /// - Throws: `tooLarge` where the bytes leave `Int`.
    func widened() throws(ModelError) -> Tensor {
        try Tensor(unset: .float32, shape: shape) { widen(into: $0) }
    }

    /// The same, made when somebody looks at them, so that weights which lie in a file are not read before, and those which
    /// are laid out and then forgotten take no memory. Small ones are made at once.
    ///
    /// - Throws: As ``widened()``.
    func widenedWhenRead() throws(ModelError) -> Tensor {
        guard byteCount >= Self.fewestBytesLater else { return try widened() }
        return try Tensor(deferred: .float32, shape: shape) { widen(into: $0) }
    }

    private static var fewestBytesLater: Int { 1 << 12 }

    private func widen(into target: UnsafeMutableRawBufferPointer) {
        precondition(elementType.isNarrowFloat, "\(elementType) is not widened")
        let values = target.bindMemory(to: Float.self)
        let isBFloat16 = elementType == .bfloat16
        withPassingBytes(in: ScratchBytes()) { bytes in
            let patterns = bytes.bindMemory(to: UInt16.self)
            precondition(patterns.count == values.count, "\(values.count) values of \(patterns.count)")
            if isBFloat16 {
                for place in patterns.indices { values[place] = BFloat16(bitPattern: patterns[place]).float }
            } else {
                for place in patterns.indices { values[place] = Float(float16Pattern: patterns[place]) }
            }
        }
    }

    /// The elements of float32 as float16 or bfloat16, each rounded once.
    ///
    /// - Throws: As ``widened()``.
    func narrowed(to type: ElementType) throws(ModelError) -> Tensor {
        precondition(elementType == .float32 && type.isNarrowFloat, "\(elementType) is not narrowed to \(type)")
        return try Tensor(unset: type, shape: shape) { target throws(ModelError) in
            let patterns = target.bindMemory(to: UInt16.self)
            try withBytes { bytes in
                let values = bytes.bindMemory(to: Float.self)
                if type == .bfloat16 {
                    for place in values.indices { patterns[place] = BFloat16(values[place]).bitPattern }
                } else {
                    for place in values.indices { patterns[place] = Float16(values[place]).bitPattern }
                }
            }
        }
    }
}

extension Float {
    /// The value with the bits of a float16 (IEEE 754 binary16), in operations that vectors have, other than a call for each
    /// element: exponents are 112 apart, and infinities and what is no number have the largest one in both types.
    init(float16Pattern pattern: UInt16) {
        let magnitude = Float(bitPattern: UInt32(pattern & 0x7FFF) << 13) * 0x1p112
        let largestExponent: UInt32 = magnitude >= 0x1p16 ? 0x7F80_0000 : 0
        self.init(bitPattern: UInt32(pattern & 0x8000) << 16 | magnitude.bitPattern | largestExponent)
    }
}
