import Kernels

extension DeviceBuilder {
    /// Axis by axis, as weighted sums of elements that the plain operator names.
    mutating func addResizing(_ node: Node) throws(ModelError) -> Bool {
        guard let shape = self.shape(of: node.result), let source = plain(node.inputs[0]) else { return false }
        guard let plan = ResizePlan(node, input: source.shape, known: known), plan.output == shape else { return false }
        var value = source
        let axes = plan.changedAxes
        guard !axes.isEmpty else {
            bind(node.result, to: source)
            return true
        }
        for axis in axes {
            let taps = (0..<shape[axis]).map { plan.taps($0, axis).filter { $0.weight != 0 } }
            var starts: [Int32] = [0]
            for list in taps { starts.append(starts[starts.count - 1] + Int32(list.count)) }
            let tables = [
                constant(.integers(starts)), constant(.integers(taps.joined().map { Int32($0.index) })),
                constant(.floats(taps.joined().map { Float($0.weight) })),
            ]
            let (outer, length, inner) = Extents.split(value.shape, at: axis)
            var next = value.shape
            next[axis] = shape[axis]
            let target =
                axis == axes.last
                ? newValue(node.result, shape: shape) : DeviceValue(.arena(newBuffer(next.reduce(1, *))), shape: next)
            let (from, count) = (value, shape[axis])
            launch(
                "resample", items: outer * count * inner.tiles(of: tuning.width), local: device.smallGroup,
                reads: [from.place] + tables, writes: target.place
            ) { at in
                bg_resample_params(
                    source: at(from), target: at(target), starts: at(tables[0]), indices: at(tables[1]),
                    factors: at(tables[2]), outer: Int32(outer), length: Int32(length), count: Int32(count),
                    inner: Int32(inner))
            }
            value = target
        }
        return true
    }
}
