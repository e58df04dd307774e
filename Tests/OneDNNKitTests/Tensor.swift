import OneDNNKit
import SeededNumbers

/// Row-major numbers in double precision, each one that its element type can hold.
struct Tensor: Equatable {
    let dimensions: [Int]
    var values: [Double]

    init(_ dimensions: [Int], _ values: [Double]) {
        precondition(values.count == dimensions.reduce(1, *))
        self.dimensions = dimensions
        self.values = values
    }

    init(_ dimensions: [Int], value: (Int) -> Double) {
        self.init(dimensions, (0..<dimensions.reduce(1, *)).map(value))
    }

    /// Uniform in a range, -1 to 1 for floating point, ±100 (0 to 200) for integers when none is given.
    static func random(
        _ dimensions: [Int], _ type: DataType = .float32, in range: ClosedRange<Double>? = nil,
        using generator: inout SeededGenerator
    ) -> Tensor {
        let range =
            range
            ?? {
                switch type {
                case .float32, .bfloat16: -1...1
                case .int8, .int32: -100...100
                case .uint8: 0...200
                }
            }()
        return Tensor(dimensions) { _ in Tensor.rounded(Double.random(in: range, using: &generator), to: type) }
    }

    /// The nearest number of that type, ties to even; integers saturate.
    static func rounded(_ value: Double, to type: DataType) -> Double {
        switch type {
        case .float32: return Double(Float(value))
        case .bfloat16:
            let bits = Float(value).bitPattern
            return Double(Float(bitPattern: (bits &+ 0x7FFF &+ (bits >> 16 & 1)) & 0xFFFF_0000))
        case .int32: return max(-2_147_483_648, min(2_147_483_647, value.rounded(.toNearestOrEven)))
        case .int8: return max(-128, min(127, value.rounded(.toNearestOrEven)))
        case .uint8: return max(0, min(255, value.rounded(.toNearestOrEven)))
        }
    }

    func buffer(_ type: DataType) -> AlignedBuffer {
        let buffer = AlignedBuffer(byteCount: values.count * type.byteCount)
        for (i, value) in values.enumerated() {
            buffer.withUnsafeMutableBytes { bytes in
                switch type {
                case .float32: bytes.storeBytes(of: Float(value), toByteOffset: 4 * i, as: Float.self)
                case .bfloat16:
                    let bits = UInt16(Float(value).bitPattern >> 16)
                    bytes.storeBytes(of: bits, toByteOffset: 2 * i, as: UInt16.self)
                case .int32: bytes.storeBytes(of: Int32(value), toByteOffset: 4 * i, as: Int32.self)
                case .int8: bytes.storeBytes(of: Int8(value), toByteOffset: i, as: Int8.self)
                case .uint8: bytes.storeBytes(of: UInt8(value), toByteOffset: i, as: UInt8.self)
                }
            }
        }
        return buffer
    }

    init(_ buffer: AlignedBuffer, _ dimensions: [Int], _ type: DataType) {
        let values = buffer.withUnsafeBytes { bytes in
            (0..<dimensions.reduce(1, *)).map { i in
                switch type {
                case .float32: Double(bytes.load(fromByteOffset: 4 * i, as: Float.self))
                case .bfloat16:
                    Double(Float(bitPattern: UInt32(bytes.load(fromByteOffset: 2 * i, as: UInt16.self)) << 16))
                case .int32: Double(bytes.load(fromByteOffset: 4 * i, as: Int32.self))
                case .int8: Double(bytes.load(fromByteOffset: i, as: Int8.self))
                case .uint8: Double(bytes.load(fromByteOffset: i, as: UInt8.self))
                }
            }
        }
        self.init(dimensions, values)
    }

    /// Elements from one index to the next, for each dimension.
    var strides: [Int] {
        var strides = dimensions
        var step = 1
        for d in dimensions.indices.reversed() {
            strides[d] = step
            step *= dimensions[d]
        }
        return strides
    }

    /// The indices of the element at that place.
    func indices(_ place: Int) -> [Int] {
        zip(dimensions, strides).map { place / $1 % $0 }
    }

    /// The element at those indices; dimensions of 1 are repeated.
    func repeating(_ indices: [Int]) -> Double {
        values[zip(zip(dimensions, strides), indices).reduce(0) { $0 + ($1.0.0 == 1 ? 0 : $1.0.1 * $1.1) }]
    }
}
