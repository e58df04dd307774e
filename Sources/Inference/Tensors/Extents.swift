/// Arithmetic on shapes: lists of extents, outermost first; an empty list is a scalar.
package enum Extents {
    /// Number of elements.
    ///
    /// - Throws: `damaged` for a negative extent, `tooLarge` where the product of the non-zero extents leaves `Int`.
    package static func count(_ shape: [Int]) throws(ModelError) -> Int {
        var count = 1
        var isEmpty = false
        for extent in shape {
            if extent < 0 { throw .damaged("the shape \(shape) has a negative extent") }
            if extent == 0 {
                isEmpty = true
                continue
            }
            let (product, overflow) = count.multipliedReportingOverflow(by: extent)
            if overflow { throw .tooLarge("the shape \(shape) has more elements than can be counted") }
            count = product
        }
        return isEmpty ? 0 : count
    }

    /// Elements from one position of an axis to the next, in row-major order.
    static func strides(_ shape: [Int]) -> [Int] {
        var strides = [Int](repeating: 1, count: shape.count)
        for axis in stride(from: shape.count - 2, through: 0, by: -1) {
            strides[axis] = strides[axis + 1] &* shape[axis + 1]
        }
        return strides
    }

    /// Strides with which a tensor of `shape` is read as one of `target`: 0 along axes that are repeated.
    static func broadcastStrides(_ shape: [Int], to target: [Int]) -> [Int] {
        let own = strides(shape)
        let shift = target.count - shape.count
        return target.indices.map { axis in
            axis < shift || shape[axis - shift] == 1 ? 0 : own[axis - shift]
        }
    }

    /// Calls `body` with the offset of each position of `shape` in row-major order. Strides of axes with one position may
    /// be anything.
    static func forEachOffset(_ shape: [Int], strides: [Int], start: Int = 0, _ body: (Int) -> Void) {
        guard !shape.contains(0) else { return }
        guard let innerExtent = shape.last, let innerStride = strides.last else { return body(start) }
        let outer = shape.count - 1
        var position = [Int](repeating: 0, count: outer)
        var offset = start
        while true {
            for inner in 0..<innerExtent { body(offset &+ inner &* innerStride) }
            var axis = outer - 1
            while axis >= 0 {
                position[axis] += 1
                offset &+= strides[axis]
                if position[axis] < shape[axis] { break }
                offset &-= strides[axis] &* shape[axis]
                position[axis] = 0
                axis -= 1
            }
            if axis < 0 { return }
        }
    }

    /// Offsets of all positions of `shape` in row-major order.
    static func offsets(_ shape: [Int], strides: [Int], start: Int = 0) -> [Int] {
        var offsets: [Int] = []
        forEachOffset(shape, strides: strides, start: start) { offsets.append($0) }
        return offsets
    }

    /// Extents before `axis`, at it, and behind it, multiplied.
    static func split(_ shape: [Int], at axis: Int) -> (outer: Int, extent: Int, inner: Int) {
        (shape[..<axis].reduce(1, *), shape[axis], shape[(axis + 1)...].reduce(1, *))
    }

    /// Positions of `shape` by their row-major number.
    static func position(_ number: Int, in shape: [Int]) -> [Int] {
        var rest = number
        var position = [Int](repeating: 0, count: shape.count)
        for axis in shape.indices.reversed() {
            position[axis] = rest % shape[axis]
            rest /= shape[axis]
        }
        return position
    }

    /// Neighbouring axes that all readings have like a single one become one.
    static func merged(_ shape: [Int], _ readings: [[Int]]) -> (shape: [Int], readings: [[Int]]) {
        var (extents, strides) = ([Int](), readings.map { _ in [Int]() })
        for axis in shape.indices where shape[axis] != 1 {
            if let last = extents.last,
                zip(strides, readings).allSatisfy({ $0[$0.count - 1] == $1[axis] * shape[axis] })
            {
                extents[extents.count - 1] = last * shape[axis]
                for index in strides.indices { strides[index][strides[index].count - 1] = readings[index][axis] }
            } else {
                extents.append(shape[axis])
                for index in strides.indices { strides[index].append(readings[index][axis]) }
            }
        }
        return extents.isEmpty ? ([1], readings.map { _ in [1] }) : (extents, strides)
    }
}
