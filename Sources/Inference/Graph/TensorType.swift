/// One extent of a shape that need not be known yet.
package enum Dimension: Hashable, Sendable, CustomStringConvertible {
    case known(Int)
    /// The same name is the same extent throughout the model, e.g. `batch`.
    case symbol(String)
    case unknown

    package var extent: Int? {
        if case .known(let extent) = self { extent } else { nil }
    }

    /// What an open extent of an input is called that has no name in the file, e.g. `pixels:0` for its first axis.
    package static func name(of axis: Int, of input: String) -> String { "\(input):\(axis)" }

    package var description: String {
        switch self {
        case .known(let extent): "\(extent)"
        case .symbol(let name): name
        case .unknown: "?"
        }
    }
}

/// What is known of a value before it is computed.
package struct TensorType: Hashable, Sendable, CustomStringConvertible {
    package var elementType: ElementType
    /// Nil where not even the number of axes is known.
    package var shape: [Dimension]?

    package init(_ elementType: ElementType, _ shape: [Dimension]?) {
        self.elementType = elementType
        self.shape = shape
    }

    package init(_ elementType: ElementType, extents: [Int]) {
        self.init(elementType, extents.map { .known($0) })
    }

    /// The extents where all are known.
    package var extents: [Int]? {
        guard let shape else { return nil }
        let known = shape.compactMap(\.extent)
        return known.count == shape.count ? known : nil
    }

    /// The same with another first extent, where it has one.
    package func withRows(_ rows: Int) -> TensorType {
        guard let shape, !shape.isEmpty else { return self }
        return TensorType(elementType, [.known(rows)] + shape.dropFirst())
    }

    package var description: String {
        "\(elementType.rawValue)\(shape.map { "[\($0.map(\.description).joined(separator: ", "))]" } ?? "[...]")"
    }

    /// Whether a tensor of this element type and shape may be one of this type.
    package func permits(_ elementType: ElementType, _ extents: [Int]) -> Bool {
        guard self.elementType == elementType else { return false }
        guard let shape else { return true }
        return shape.count == extents.count
            && zip(shape, extents).allSatisfy { dimension, extent in dimension.extent.map { $0 == extent } ?? true }
    }
}
