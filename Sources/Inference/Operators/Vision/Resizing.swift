extension Operators {
    static let vision: [OperatorDefinition] = [resize, upsample] + sampling + regions

    private static let resize = OperatorDefinition(
        "Resize", versions: [10, 11, 13, 18, 19], inputs: 1...4, types: [.fixedSize, .floats, .floats, .int64],
        attributes: [
            "antialias": .int, "axes": .ints, "coordinate_transformation_mode": .string, "cubic_coeff_a": .float,
            "exclude_outside": .int, "extrapolation_value": .float, "keep_aspect_ratio_policy": .string,
            "mode": .string,
            "nearest_mode": .string,
        ],
        infer: { call throws(ModelError) in
            try ResizePlan.checkModes(call.node)
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            let isOld = call.version == 10
            let (scales, sizes) = (isOld ? 1 : 2, 3)
            guard let extents = try ResizePlan.known(shape), call.isKnownOrAbsent(scales),
                isOld || call.isKnownOrAbsent(sizes)
            else {
                // Axes that keep their extent whatever the others are.
                guard let factors = call.value(scales)?.doubles(), factors.count == shape.count else {
                    return [TensorType(call.elementType(), Shapes.unknown(rank: shape.count))]
                }
                let kept = zip(shape, factors).map { extent, factor in factor == 1 ? extent : .unknown }
                return [TensorType(call.elementType(), kept)]
            }
            let plan = try ResizePlan(
                call.node, input: extents, scales: call.value(scales)?.doubles(),
                sizes: isOld ? nil : call.indices(sizes))
            return [TensorType(call.elementType(), extents: plan.output)]
        }
    ) { call throws(ModelError) in
        let isOld = call.version == 10
        let input = call.tensor()
        var plan = try ResizePlan(
            call.node, input: input.shape, scales: call.optional(isOld ? 1 : 2)?.doubles(),
            sizes: isOld ? nil : call.optional(3)?.indices())
        if isOld { plan.mode.useVersion10() }
        plan.region = try ResizePlan.region(
            call.node, isOld ? nil : call.optional(1)?.doubles(), rank: input.shape.count)
        return [try plan.run(input)]
    }

    private static let upsample = OperatorDefinition(
        "Upsample", versions: [7, 9], inputs: 1...2, types: [.fixedSize, .only(.float32)],
        attributes: ["mode": .string, "scales": .floats],
        infer: { call throws(ModelError) in
            try ResizePlan.checkModes(call.node)
            guard let shape = call.shape() else { return [TensorType(call.elementType(), nil)] }
            guard let extents = try ResizePlan.known(shape),
                let scales = call.node.floats("scales") ?? call.value(1)?.doubles()
            else { return [TensorType(call.elementType(), Shapes.unknown(rank: shape.count))] }
            return [
                TensorType(
                    call.elementType(),
                    extents: try ResizePlan(call.node, input: extents, scales: scales, sizes: nil).output)
            ]
        }
    ) { call throws(ModelError) in
        var plan = try ResizePlan(
            call.node, input: call.tensor().shape,
            scales: call.node.floats("scales") ?? call.optional(1)?.doubles(), sizes: nil)
        plan.mode.useVersion10()
        return [try plan.run(call.tensor())]
    }
}
