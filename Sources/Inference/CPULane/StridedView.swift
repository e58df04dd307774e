import OneDNNKit

/// Shapes of elements that lie with regular strides: what a change of shape can leave where it is.
package enum StridedView {
    /// Strides of the same elements under another shape with as many; nil where they would have to be moved.
    ///
    /// Axes are taken in groups that have the same number of elements before and after; a group can be split anew where its
    /// axes lie like one.
    package static func strides(_ shape: [Int], _ strides: [Int], as target: [Int]) -> [Int]? {
        let old = shape.indices.filter { shape[$0] != 1 }.map { (extent: shape[$0], stride: strides[$0]) }
        var result = [Int](repeating: 0, count: target.count)
        var (place, axis) = (0, 0)
        while place < old.count {
            var group = [old[place]]
            var count = old[place].extent
            place += 1
            var axes: [Int] = []
            var product = 1
            while product != count {
                if product < count {
                    guard axis < target.count else { return nil }
                    axes.append(axis)
                    product *= target[axis]
                    axis += 1
                } else {
                    guard place < old.count else { return nil }
                    group.append(old[place])
                    count *= old[place].extent
                    place += 1
                }
            }
            for (outer, inner) in zip(group, group.dropFirst()) where outer.stride != inner.extent * inner.stride {
                return nil
            }
            var stride = group[group.count - 1].stride
            for axis in axes.reversed() {
                result[axis] = stride
                stride *= target[axis]
            }
        }
        guard target[axis...].allSatisfy({ $0 == 1 }) else { return nil }
        return filled(target, result)
    }

    /// Strides of axes with one element mean nothing; they become what makes equal layouts equal: that of the row that the
    /// axes behind it make.
    private static func filled(_ shape: [Int], _ strides: [Int]) -> [Int] {
        var result = strides
        var next = 1
        for axis in shape.indices.reversed() {
            if shape[axis] == 1 { result[axis] = next }
            next = result[axis] * shape[axis]
        }
        return result
    }

    /// The axes that make up each axis of the target, which only merges some; nil where it does otherwise.
    package static func mergedAxes(_ shape: [Int], as target: [Int]) -> [[Int]]? {
        var groups: [[Int]] = []
        var axis = 0
        for extent in target {
            var group: [Int] = []
            var product = 1
            while axis < shape.count, product < extent || shape[axis] == 1 && group.isEmpty {
                product *= shape[axis]
                group.append(axis)
                axis += 1
                if product == extent { break }
            }
            guard product == extent else { return nil }
            groups.append(group)
        }
        return axis == shape.count ? groups : nil
    }

    /// Strides in which the axes lie in this order, the last one contiguous.
    static func dense(_ shape: [Int], order: [Int]) -> [Int] {
        var strides = shape
        var step = 1
        for axis in order.reversed() {
            strides[axis] = step
            step *= shape[axis]
        }
        return strides
    }

    /// Whether the elements lie without gaps, with the axes in this order; axes with one element may lie anyhow.
    static func isDense(_ shape: [Int], _ strides: [Int], order: [Int]) -> Bool {
        let wanted = dense(shape, order: order)
        return shape.indices.allSatisfy { shape[$0] == 1 || strides[$0] == wanted[$0] }
    }
}

extension Form {
    /// Whether there are other bytes between the elements.
    var hasGaps: Bool {
        descriptor.strides != nil && descriptor.reachByteCount != descriptor.type.byteCount * descriptor.elementCount
    }

    /// How elements of that type lie in the same order without gaps, row-major where that is no regular one.
    func dense(_ type: DataType) throws(OneDNNError) -> MemoryDescriptor {
        if !hasGaps, let same = try descriptor.retyped(type) { return same }
        return try descriptor.with(.plain, type)
    }

    /// The same elements under another shape; nil where they would have to be moved.
    func reshaped(_ shape: [Int]) throws(OneDNNError) -> Form? {
        if descriptor.dimensions == shape { return self }
        guard let strides = descriptor.strides,
            let result = StridedView.strides(descriptor.dimensions, strides, as: shape)
        else { return nil }
        return try with(shape, result)
    }

    /// The same place read with other strides.
    func with(_ shape: [Int], _ strides: [Int], offset: Int = 0) throws(OneDNNError) -> Form {
        var form = self
        form.descriptor = try MemoryDescriptor(shape, descriptor.type, strides: strides)
        form.offset += descriptor.type.byteCount * offset
        return form
    }
}
