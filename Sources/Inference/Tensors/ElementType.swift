/// What the elements of a tensor are.
package enum ElementType: String, Codable, Hashable, Sendable, CaseIterable {
    case float32, float64, float16, bfloat16
    case int8, int16, int32, int64
    case uint8, uint16, uint32, uint64
    case bool, string

    /// Bytes of one element in memory and in a file; 0 for strings, which have no fixed size.
    package var byteCount: Int {
        switch self {
        case .float64, .int64, .uint64: 8
        case .float32, .int32, .uint32: 4
        case .float16, .bfloat16, .int16, .uint16: 2
        case .int8, .uint8, .bool: 1
        case .string: 0
        }
    }

    package var isFloat: Bool { Self.floats.contains(self) }
    /// Signed and unsigned integers, without `bool`.
    package var isInteger: Bool { Self.integers.contains(self) }

    static let floats: Set<ElementType> = [.float32, .float64, .float16, .bfloat16]
    static let signed: Set<ElementType> = [.int8, .int16, .int32, .int64]
    static let unsigned: Set<ElementType> = [.uint8, .uint16, .uint32, .uint64]
    static let integers = signed.union(unsigned)
    static let numeric = floats.union(integers)
    static let fixedSize = numeric.union([.bool])
    static let all = Set(allCases)

    /// Numbers of `TensorProto.DataType` in the ONNX standard.
    private static let numbers: [Int32: ElementType] = [
        1: .float32, 2: .uint8, 3: .int8, 4: .uint16, 5: .int16, 6: .int32, 7: .int64, 8: .string, 9: .bool,
        10: .float16, 11: .float64, 12: .uint32, 13: .uint64, 16: .bfloat16,
    ]
    /// Those of the standard that are not implemented, by number.
    private static let foreign: [Int32: String] = [
        14: "complex64", 15: "complex128", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2",
        20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
        27: "float6e2m3", 28: "float6e3m2",
    ]

    package init?(onnxNumber: Int32) {
        guard let type = Self.numbers[onnxNumber] else { return nil }
        self = type
    }

    /// The standard's name of a number that has no case here, nil where the standard has none either.
    static func foreignName(onnxNumber: Int32) -> String? { foreign[onnxNumber] }
}
