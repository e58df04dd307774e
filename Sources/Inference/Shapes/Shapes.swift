/// Shape rules that several operators share.
enum Shapes {
    /// The type of the first input.
    @Sendable static func likeFirst(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        [TensorType(call.elementType(), call.shape())]
    }

    /// All inputs broadcast against each other; elements as those of the first.
    @Sendable static func broadcast(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        [TensorType(call.elementType(), try broadcastShape(call))]
    }

    @Sendable static func broadcastToBool(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        [TensorType(.bool, try broadcastShape(call))]
    }

    static func broadcastShape(_ call: ShapeCall, inputs: Range<Int>? = nil) throws(ModelError) -> [Dimension]? {
        var result: [Dimension] = []
        for input in inputs ?? call.facts.indices where call.has(input) {
            guard let shape = call.shape(input) else { return nil }
            result = try broadcast(result, shape)
        }
        return result
    }

    static func broadcast(_ left: [Dimension], _ right: [Dimension]) throws(ModelError) -> [Dimension] {
        let rank = max(left.count, right.count)
        var result: [Dimension] = []
        for axis in 0..<rank {
            let first = axis < rank - left.count ? .known(1) : left[axis - (rank - left.count)]
            let second = axis < rank - right.count ? .known(1) : right[axis - (rank - right.count)]
            switch (first, second) {
            case (.known(1), let other), (let other, .known(1)): result.append(other)
            case (.known(let one), .known(let other)):
                guard one == other else { throw .damaged("the shapes \(left) and \(right) do not broadcast") }
                result.append(first)
            // An extent that is known and not 1 decides.
            case (.known, _): result.append(first)
            case (_, .known): result.append(second)
            default: result.append(first == second ? first : .unknown)
            }
        }
        return result
    }

    /// The product of extents; unknown factors make it unknown.
    static func product(_ dimensions: some Sequence<Dimension>) throws(ModelError) -> Dimension {
        let all = Array(dimensions)
        let unknown = all.filter { $0.extent == nil }
        let known = try Extents.count(all.compactMap(\.extent))
        if known == 0 { return .known(0) }
        if unknown.isEmpty { return .known(known) }
        return unknown.count == 1 && known == 1 ? unknown[0] : .unknown
    }

    /// A shape of `rank` unknown extents.
    static func unknown(rank: Int) -> [Dimension] { Array(repeating: .unknown, count: rank) }

    /// Throws `damaged` where an input is known to have another number of axes.
    static func expect(_ call: ShapeCall, _ input: Int, rank: ClosedRange<Int>) throws(ModelError) {
        if call.has(input), let shape = call.shape(input), !rank.contains(shape.count) {
            throw .damaged("input \(input) has \(shape.count) axes")
        }
    }

    /// Both extents are the same one.
    ///
    /// - Throws: `damaged` where both are known and differ.
    @discardableResult
    static func same(_ left: Dimension, _ right: Dimension, _ what: String) throws(ModelError) -> Dimension {
        if let one = left.extent, let other = right.extent, one != other {
            throw .damaged("\(what): \(one) and \(other) differ")
        }
        return left.extent == nil ? right : left
    }
}
