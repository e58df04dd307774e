import OneDNNKit

extension StepBuilder {
    /// The largest or mean element under a window, or of a whole plane.
    mutating func addPooling(_ node: Node) throws(OneDNNError) -> Bool {
        guard let shape = self.shape(of: node.result), node.hasOneUsedOutput(uses),
            let input = self.shape(of: node.inputs[0]), (3...5).contains(input.count)
        else { return false }
        let spatial = Array(input[2...])
        let isGlobal = node.operatorName.hasPrefix("Global")
        let isMaximum = node.operatorName.hasSuffix("MaxPool")
        let kernel = isGlobal ? spatial : node.ints("kernel_shape") ?? []
        let countsPadding = node.int("count_include_pad") == 1
        var window = Window(strides: spatial.map { _ in 1 })
        if !isGlobal {
            guard let geometry = try? WindowGeometry(node, input: spatial, kernel: kernel), geometry.isSmall else {
                return false
            }
            // oneDNN would divide by whole windows.
            if countsPadding, geometry.hasCutWindows(input: spatial) { return false }
            window = Window(geometry)
            for axis in kernel.indices {
                let reach = (kernel[axis] - 1) * window.dilations[axis] + 1
                // What a size that is rounded up needs.
                let needed =
                    (geometry.output[axis] - 1) * window.strides[axis] + reach - spatial[axis]
                    - window.paddingBefore[axis]
                window.paddingAfter[axis] = max(window.paddingAfter[axis], needed)
                // A window that sees padding only has no mean and no largest element.
                guard window.paddingBefore[axis] < reach, window.paddingAfter[axis] < reach else { return false }
            }
        }
        let kind: Pooling.Kind =
            isMaximum ? .maximum : countsPadding ? .averageWithPadding : .averageWithoutPadding
        if isMaximum,
            try attempt({ (builder) throws(OneDNNError) in
                try builder.addQuantisedMaximum(node, kernel: kernel, window, shape: shape)
            })
        {
            return true
        }
        for isPlain in [false, true] {
            guard let source = try isPlain ? plain(node.inputs[0]) : form(node.inputs[0]),
                let primitive = try self.primitive(
                    Pooling(
                        kind, source.descriptor,
                        destination: try MemoryDescriptor(shape, .float32, .chosenByPrimitive), kernel: kernel,
                        window: window)),
                isPlain || !primitive.isReference
            else { continue }
            try append(primitive, [self.input(.source, source, of: primitive)], result: node.result)
            if isMaximum { begins(with: -.greatestFiniteMagnitude) }
            return true
        }
        return false
    }
}
