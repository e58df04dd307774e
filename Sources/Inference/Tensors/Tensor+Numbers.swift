extension Tensor {
    /// The elements as float64: exact but for integers beyond 2^53; `bool` as 0 and 1.
    package func doubles() -> [Double] {
        switch elementType {
        case .float32: elements(as: Float.self).map { Double($0) }
        case .float64: elements(as: Double.self)
        case .float16: elements(as: Float16.self).map { Double($0) }
        case .bfloat16: elements(as: BFloat16.self).map { Double($0.float) }
        case .uint64: elements(as: UInt64.self).map { Double($0) }
        default: integers().map { Double($0) }
        }
    }

    /// The elements as 64-bit integers: `uint64` keeps its bits, fractions are cut off, what does not fit is clamped.
    package func integers() -> [Int64] {
        switch elementType {
        case .int8: elements(as: Int8.self).map { Int64($0) }
        case .int16: elements(as: Int16.self).map { Int64($0) }
        case .int32: elements(as: Int32.self).map { Int64($0) }
        case .int64: elements(as: Int64.self)
        case .uint8: elements(as: UInt8.self).map { Int64($0) }
        case .uint16: elements(as: UInt16.self).map { Int64($0) }
        case .uint32: elements(as: UInt32.self).map { Int64($0) }
        case .uint64: elements(as: UInt64.self).map { Int64(bitPattern: $0) }
        case .bool: elements(as: UInt8.self).map { $0 == 0 ? 0 : 1 }
        default: doubles().map(Int64.init(clampingTruncated:))
        }
    }

    /// The elements of an integer tensor as `Int`.
    package func indices() -> [Int] { integers().map { Int($0) } }

    /// Whether each element differs from zero.
    package func flags() -> [Bool] {
        elementType.isFloat ? doubles().map { $0 != 0 } : integers().map { $0 != 0 }
    }

    /// Rounds each value once to `type`. For integers the fraction is cut off, 64 bits are clamped to, and narrower types
    /// keep the lowest bits of these; `bool` is "not zero".
    package init(_ type: ElementType, shape: [Int], doubles: [Double]) throws(ModelError) {
        switch type {
        case .float32: try self.init(type, shape: shape, values: doubles) { Float($0) }
        case .float64: try self.init(type, shape: shape, values: doubles) { $0 }
        case .float16: try self.init(type, shape: shape, values: doubles) { Float16($0) }
        case .bfloat16: try self.init(type, shape: shape, values: doubles) { BFloat16(Float($0)) }
        case .bool: try self.init(type, shape: shape, values: doubles) { UInt8($0 == 0 ? 0 : 1) }
        case .uint64: try self.init(type, shape: shape, values: doubles) { UInt64(clampingTruncated: $0) }
        default: try self.init(type, shape: shape, integers: doubles.map(Int64.init(clampingTruncated:)))
        }
    }

    /// Integers keep their lowest bits in narrower types, as addition and multiplication of those would have them.
    package init(_ type: ElementType, shape: [Int], integers: [Int64]) throws(ModelError) {
        switch type {
        case .int8, .uint8: try self.init(type, shape: shape, values: integers) { UInt8(truncatingIfNeeded: $0) }
        case .int16, .uint16: try self.init(type, shape: shape, values: integers) { UInt16(truncatingIfNeeded: $0) }
        case .int32, .uint32: try self.init(type, shape: shape, values: integers) { UInt32(truncatingIfNeeded: $0) }
        case .int64, .uint64: try self.init(type, shape: shape, values: integers) { $0 }
        case .bool: try self.init(type, shape: shape, values: integers) { UInt8($0 == 0 ? 0 : 1) }
        case .string: throw .unsupported(["texts made of numbers"])
        default: try self.init(type, shape: shape, doubles: integers.map { Double($0) })
        }
    }

    package init(shape: [Int], flags: [Bool]) throws(ModelError) {
        try self.init(.bool, shape: shape, values: flags) { UInt8($0 ? 1 : 0) }
    }

    /// A list of sizes or positions, as shape arithmetic has them.
    package init(indices: [Int], shape: [Int]? = nil) throws(ModelError) {
        try self.init(.int64, shape: shape ?? [indices.count], integers: indices.map { Int64($0) })
    }

    /// `elements` stored as they are.
    package init<Element: BitwiseCopyable>(
        _ type: ElementType, shape: [Int], elements: [Element]
    ) throws(ModelError) {
        precondition(MemoryLayout<Element>.stride == type.byteCount, "\(Element.self) is not \(type)")
        try self.init(type, shape: shape, values: elements) { $0 }
    }

    private init<Value, Element: BitwiseCopyable>(
        _ type: ElementType, shape: [Int], values: [Value], _ convert: (Value) -> Element
    ) throws(ModelError) {
        try self.init(type, shape: shape) { bytes in
            let elements = bytes.bindMemory(to: Element.self)
            precondition(elements.count == values.count, "\(values.count) values for the shape \(shape)")
            for index in elements.indices { elements[index] = convert(values[index]) }
        }
    }
}

extension FixedWidthInteger {
    /// The value without its fraction, or the nearest that fits; 0 for NaN.
    init(clampingTruncated value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }
}
