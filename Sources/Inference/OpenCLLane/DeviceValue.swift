/// Where the elements of a value are on the device.
enum DevicePlace: Hashable, Sendable {
    /// A buffer of the arena, by number.
    case arena(Int)
    /// A constant among the weights, by number.
    case constant(Int)
}

/// A value of numbers on the device, read with strides: slices, transpositions and repetitions are other readings of the same
/// elements.
struct DeviceValue: Sendable {
    var place: DevicePlace
    /// Of the first element, in elements.
    var offset = 0
    var shape: [Int]
    /// Elements from one position of an axis to the next; 0 where it is repeated.
    var strides: [Int]

    /// Row-major.
    init(_ place: DevicePlace, shape: [Int]) {
        self.place = place
        self.shape = shape
        strides = Extents.strides(shape)
    }

    var count: Int { shape.reduce(1, *) }

    /// Whether the elements lie in row-major order without gaps.
    var isPlain: Bool {
        let plain = Extents.strides(shape)
        return shape.indices.allSatisfy { shape[$0] == 1 || strides[$0] == plain[$0] }
    }

    /// The same elements under another shape with as many of them; the value is plain.
    func reshaped(_ shape: [Int]) -> DeviceValue {
        var value = DeviceValue(place, shape: shape)
        value.offset = offset
        return value
    }

    func permuted(_ order: [Int]) -> DeviceValue {
        var value = self
        value.shape = order.map { shape[$0] }
        value.strides = order.map { strides[$0] }
        return value
    }

    /// Repeated along axes of 1 and along new axes in front; nil where it does not broadcast.
    func broadcast(to target: [Int]) -> DeviceValue? {
        guard target.count >= shape.count else { return nil }
        let shift = target.count - shape.count
        var value = self
        value.shape = target
        value.strides = Array(repeating: 0, count: target.count)
        for axis in shape.indices where shape[axis] != 1 {
            guard shape[axis] == target[axis + shift] else { return nil }
            value.strides[axis + shift] = strides[axis]
        }
        return value
    }

    /// One stride for each group of neighbouring axes, where each group is read like a single axis; nil where one is not.
    func strides(over groups: [Range<Int>]) -> [Int]? {
        var result: [Int] = []
        for group in groups {
            var stride = 0
            var next: Int?
            for axis in group.reversed() where shape[axis] != 1 {
                if let next {
                    guard strides[axis] == next else { return nil }
                } else {
                    stride = strides[axis]
                }
                next = strides[axis] * shape[axis]
            }
            result.append(stride)
        }
        return result
    }
}
