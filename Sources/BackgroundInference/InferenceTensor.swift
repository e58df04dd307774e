import Inference

/// Numbers in rows, as a model takes and gives them.
public struct InferenceTensor: Sendable {
    /// What the numbers are.
    public enum ElementType: String, Sendable, CaseIterable {
        case float32, float64, float16, bfloat16
        case int8, int16, int32, int64
        case uint8, uint16, uint32, uint64
        case bool
    }

    /// Extents, the slowest axis first; empty for a single number.
    public var shape: [Int] { tensor.shape }
    public let elementType: ElementType

    let tensor: Tensor

    /// - Parameters:
    ///   - values: Row by row.
    ///   - shape: Its extents multiply to the number of values.
    ///   - elementType: Each value is rounded once to it; integers lose their fraction.
    /// - Throws: `wrongInput` where the number of values is another.
    public init(
        _ values: [Float], shape: [Int], as elementType: ElementType = .float32
    ) throws(InferenceError) {
        try self.init(count: values.count, shape: shape, elementType) { type throws(ModelError) in
            elementType == .float32
                ? try Tensor(type, shape: shape, elements: values)
                : try Tensor(type, shape: shape, doubles: values.map { Double($0) })
        }
    }

    /// The same of whole numbers, e.g. tokens.
    public init(_ values: [Int64], shape: [Int], as elementType: ElementType = .int64) throws(InferenceError) {
        try self.init(count: values.count, shape: shape, elementType) { type throws(ModelError) in
            try Tensor(type, shape: shape, integers: values)
        }
    }

    private init(
        count: Int, shape: [Int], _ elementType: ElementType,
        _ make: (Inference.ElementType) throws(ModelError) -> Tensor
    ) throws(InferenceError) {
        guard let type = Inference.ElementType(rawValue: elementType.rawValue) else {
            preconditionFailure("the names of element types are the same in both rooms")
        }
        do throws(ModelError) {
            guard try Extents.count(shape) == count else {
                throw ModelError.wrongInput("\(count) values do not fill the shape \(shape)")
            }
            tensor = try make(type)
        } catch {
            throw InferenceError(error)
        }
        self.elementType = elementType
    }

    /// - Returns: nil for strings.
    init?(_ tensor: Tensor) {
        guard let type = ElementType(rawValue: tensor.elementType.rawValue) else { return nil }
        elementType = type
        self.tensor = tensor
    }

    /// The values row by row, rounded once to float32.
    public var floats: [Float] {
        elementType == .float32 ? tensor.elements(as: Float.self) : tensor.doubles().map { Float($0) }
    }

    /// The values row by row without their fractions.
    public var integers: [Int64] { tensor.integers() }
}
