extension Operators {
    static let slicing: [OperatorDefinition] = [
        OperatorDefinition(
            "Slice", versions: [1, 10, 11, 13], inputs: 1...5, types: [.all, .index],
            attributes: ["starts": .ints, "ends": .ints, "axes": .ints], infer: sliceShape, extents: slicedExtents
        ) { call throws(ModelError) in
            let input = call.tensor()
            let shape = call.shape()
            let strides = Extents.strides(input.shape)
            var steps = strides
            var start = 0
            for cut in try cuts(input.shape.map { .known($0) }, lists(call)) ?? [] {
                start += cut.start * strides[cut.axis]
                steps[cut.axis] = cut.step &* strides[cut.axis]
            }
            return [try input.gathered(Extents.offsets(shape, strides: steps, start: start), shape: shape)]
        },
        centerCropPad,
    ]

    /// What is taken of one axis.
    private struct Cut {
        var axis: Int
        var start: Int
        var step: Int
        var count: Int
    }

    private struct CutLists {
        var starts: [Int]
        var ends: [Int]
        var axes: [Int]?
        var steps: [Int]?
    }

    private static func lists(_ call: OperatorCall) throws(ModelError) -> CutLists {
        guard let starts = call.list("starts", input: 1), let ends = call.list("ends", input: 2) else {
            throw .damaged("it has no start or no end")
        }
        return CutLists(
            starts: starts, ends: ends, axes: call.list("axes", input: 3), steps: call.optional(4)?.indices())
    }

    @Sendable private static func sliceShape(_ call: ShapeCall) throws(ModelError) -> [TensorType] {
        let type = call.elementType()
        guard let shape = call.shape() else { return [TensorType(type, nil)] }
        let (starts, ends) = (call.list("starts", input: 1), call.list("ends", input: 2))
        let (axes, steps) = (call.list("axes", input: 3), call.list("steps", input: 4))
        guard starts.isKnown && starts.list == nil || ends.isKnown && ends.list == nil else {
            guard axes.isKnown else { return [TensorType(type, Shapes.unknown(rank: shape.count))] }
            var result = shape
            // Which axes are cut is known even where it is not known how.
            let count = starts.list?.count ?? ends.list?.count ?? call.shape(1)?.first?.extent
            guard let touched = axes.list ?? count.map({ Array(0..<min(max($0, 0), shape.count)) }) else {
                return [TensorType(type, Shapes.unknown(rank: shape.count))]
            }
            for axis in try call.axes(touched, rank: shape.count) { result[axis] = .unknown }
            guard let from = starts.list, let to = ends.list, steps.isKnown else { return [TensorType(type, result)] }
            let lists = CutLists(starts: from, ends: to, axes: axes.list, steps: steps.list)
            for (axis, extent) in shape.enumerated() {
                // Everything of an axis stays it, even where its extent is not known.
                guard let index = touched.firstIndex(where: { ($0 < 0 ? $0 + shape.count : $0) == axis }),
                    extent.extent == nil, index < from.count, index < to.count
                else { continue }
                if from[index] == 0, to[index] >= Int(Int32.max), (steps.list?[safe: index] ?? 1) == 1 {
                    result[axis] = extent
                }
            }
            for cut in try cuts(shape, lists) ?? [] { result[cut.axis] = .known(cut.count) }
            return [TensorType(type, result)]
        }
        throw .damaged("it has no start or no end")
    }

    /// The cuts along axes of known extent.
    private static func cuts(_ shape: [Dimension], _ lists: CutLists) throws(ModelError) -> [Cut]? {
        let count = lists.starts.count
        let axes = lists.axes ?? Array(0..<count)
        let steps = lists.steps ?? Array(repeating: 1, count: count)
        guard lists.ends.count == count, axes.count == count, steps.count == count else {
            throw .damaged("its starts, ends, axes and steps differ in number")
        }
        var cuts: [Cut] = []
        var seen: Set<Int> = []
        for index in 0..<count {
            let axis = axes[index] < 0 ? axes[index] + shape.count : axes[index]
            guard shape.indices.contains(axis), seen.insert(axis).inserted else {
                throw .damaged("there is no axis \(axes[index]), or it is cut twice")
            }
            guard let extent = shape[axis].extent else { continue }
            let step = steps[index]
            guard step != 0 else { throw .damaged("it has a step of 0") }
            func clamped(_ bound: Int, _ range: ClosedRange<Int>) -> Int {
                min(max(bound < 0 ? bound &+ extent : bound, range.lowerBound), range.upperBound)
            }
            // A negative bound of less than -extent overflows nothing, as extent is not negative. Backwards, the first
            // place is one that there is, and only the end may lie in front of all.
            let start = clamped(lists.starts[index], step > 0 ? 0...extent : min(0, extent - 1)...(extent - 1))
            let end = step > 0 ? clamped(lists.ends[index], 0...extent) : clamped(lists.ends[index], -1...(extent - 1))
            let span = step > 0 ? end - start : start - end
            let stride = Int(clamping: step.magnitude)
            cuts.append(Cut(axis: axis, start: start, step: step, count: span <= 0 ? 0 : (span - 1) / stride + 1))
        }
        return cuts
    }

    /// Slices of lists of extents.
    @Sendable private static func slicedExtents(_ call: ShapeCall) -> [Dimension]? {
        guard call.shape()?.count == 1, let extents = call.extents(0),
            let starts = call.list("starts", input: 1).list, let ends = call.list("ends", input: 2).list,
            let cuts = try? cuts(
                [.known(extents.count)],
                CutLists(
                    starts: starts, ends: ends, axes: call.list("axes", input: 3).list,
                    steps: call.list("steps", input: 4).list)), let cut = cuts.first
        else { return nil }
        return (0..<cut.count).map { extents[cut.start + $0 * cut.step] }
    }

    /// Cuts or pads around the centre.
    private static let centerCropPad = OperatorDefinition(
        "CenterCropPad", versions: [18], inputs: 2...2, types: [.fixedSize, .index], attributes: ["axes": .ints],
        infer: { call throws(ModelError) in
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            let axes = try call.axes(call.node.ints("axes") ?? Array(shape.indices), rank: shape.count)
            var result = shape
            for axis in axes { result[axis] = .unknown }
            if let target = call.indices(1) {
                guard target.count == axes.count, target.allSatisfy({ $0 >= 0 }) else {
                    throw .damaged("\(target) are no extents for \(axes.count) axes")
                }
                for (axis, extent) in zip(axes, target) { result[axis] = .known(extent) }
            }
            return [TensorType(call.elementType(), result)]
        }
    ) { call throws(ModelError) in
        let (input, shape) = (call.tensor(), call.shape())
        let starts = zip(input.shape, shape).map { has, wants in
            has >= wants ? (has - wants) / 2 : -((wants - has) / 2)
        }
        return [try window(of: input, starts: starts, shape: shape)]
    }

    /// The part of a tensor from `starts` on; zero, or `filler`, outside it.
    static func window(
        of input: Tensor, starts: [Int], shape: [Int], filler: Tensor? = nil
    ) throws(ModelError) -> Tensor {
        let strides = Extents.strides(input.shape)
        let sources = (0..<(try Extents.count(shape))).map { number in
            let position = Extents.position(number, in: shape)
            var offset = 0
            for axis in position.indices {
                let place = position[axis] + starts[axis]
                guard place >= 0 && place < input.shape[axis] else { return -1 }
                offset += place * strides[axis]
            }
            return offset
        }
        return try input.gathered(sources, shape: shape, filler: filler)
    }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
