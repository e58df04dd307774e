import Kernels

extension DeviceBuilder {
    /// The largest or mean element under a window.
    mutating func addPooling(_ node: Node) -> Bool {
        guard let shape = self.shape(of: node.result), node.hasOneUsedOutput(uses), (3...5).contains(shape.count),
            let source = plain(node.inputs[0]), let kernel = node.ints("kernel_shape")
        else { return false }
        let input = Array(source.shape[2...])
        guard let geometry = try? WindowGeometry(node, input: input, kernel: kernel), geometry.isSmall else {
            return false
        }
        let isMean = node.operatorName == "AveragePool"
        let countsPadding = node.int("count_include_pad") == 1
        // The kernel would divide by whole windows.
        if countsPadding, geometry.hasCutWindows(input: input) { return false }
        if kernel == input, (geometry.padsBefore + geometry.padsAfter).allSatisfy({ $0 == 0 }) {
            addPlanes(source, isMean: isMean, to: newValue(node.result, shape: shape))
            return true
        }
        guard
            let plan = resultPlan(node, [], shape: shape, groups: [0..<1, 1..<1, 1..<2, 2..<shape.count])
        else { return false }
        let window = DeviceWindow(
            input: input, output: geometry.output, kernel: kernel, strides: geometry.strides,
            spread: kernel.map { _ in 1 },
            steps: geometry.dilations, starts: geometry.padsBefore.map { -$0 })
        addWindow(
            isMean ? "mean_in_window" : "largest_in_window", source, shape, window,
            countsPadding: countsPadding, plan)
        return true
    }

    /// The largest or mean element of each plane.
    mutating func addGlobalPooling(_ node: Node) -> Bool {
        guard let source = plain(node.inputs[0]), source.shape.count > 2, let shape = self.shape(of: node.result) else {
            return false
        }
        addPlanes(
            source, isMean: node.operatorName == "GlobalAveragePool", to: newValue(node.result, shape: shape))
        return true
    }

    private mutating func addPlanes(_ source: DeviceValue, isMean: Bool, to target: DeviceValue) {
        let plane = source.shape[2...].reduce(1, *)
        addReduction(
            source, outer: source.count / plane, length: plane, inner: 1, isMean ? BG_REDUCE_SUM : BG_REDUCE_LARGEST,
            factor: isMean ? 1 / Float(plane) : 1, to: target)
    }
}
