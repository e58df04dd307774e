extension Operators {
    static let scattering: [OperatorDefinition] = [
        scatterElements("Scatter", [9]), scatterElements("ScatterElements", [11, 13, 16, 18]), scatterND,
    ]

    private static func scatterElements(_ name: String, _ versions: [Int]) -> OperatorDefinition {
        OperatorDefinition(
            name, versions: versions, inputs: 3...3, types: [.all, .index, .first],
            attributes: ["axis": .int, "reduction": .string],
            infer: { call throws(ModelError) in
                try checkReduction(call)
                if let shape = call.shape(0), let indices = call.shape(1), let updates = call.shape(2) {
                    let axis = try call.axis(call.node.int("axis") ?? 0, rank: shape.count)
                    try checkInside(indices, shape, besides: axis)
                    guard indices.count == updates.count else { throw .damaged("indices and updates differ in shape") }
                    for (index, update) in zip(indices, updates) {
                        try Shapes.same(index, update, "indices and updates")
                    }
                }
                return try Shapes.likeFirst(call)
            }
        ) { call throws(ModelError) in
            let (input, indices, updates) = (call.tensor(0), call.tensor(1), call.tensor(2))
            let places = try elementOffsets(indices, axis: call.axis(), in: input.shape)
            return [try scattered(input, places, updates, reduction: call.node.string("reduction"))]
        }
    }

    private static let scatterND = OperatorDefinition(
        "ScatterND", versions: [11, 13, 16, 18], inputs: 3...3, types: [.all, .int64, .first],
        attributes: ["reduction": .string],
        infer: { call throws(ModelError) in
            try checkReduction(call)
            if let shape = call.shape(0), let indices = call.shape(1), let updates = call.shape(2) {
                guard let depth = indices.last?.extent else { return try Shapes.likeFirst(call) }
                guard depth >= 1 && depth <= shape.count else {
                    throw .damaged("indices of \(depth) places choose from \(shape.count) axes")
                }
                let wanted = indices.dropLast() + shape[depth...]
                guard wanted.count == updates.count else { throw .damaged("its updates have \(updates.count) axes") }
                for (one, other) in zip(wanted, updates) { try Shapes.same(one, other, "blocks and updates") }
            }
            return try Shapes.likeFirst(call)
        }
    ) { call throws(ModelError) in
        let input = call.tensor(0)
        let (starts, run) = try blockOffsets(call.tensor(1), in: input.shape, batch: 0)
        let places = starts.flatMap { $0..<($0 + run) }
        return [try scattered(input, places, call.tensor(2), reduction: call.node.string("reduction"))]
    }

    private static func checkReduction(_ call: ShapeCall) throws(ModelError) {
        let reduction = call.node.string("reduction") ?? "none"
        guard ["none", "add", "mul", "max", "min"].contains(reduction) else {
            throw .damaged("there is no reduction \"\(reduction)\"")
        }
        let takesNumbers = reduction == "none" || ElementType.numeric.contains(call.elementType())
        guard takesNumbers else { throw .unsupported(["\(call.elementType().rawValue) in scattering by \(reduction)"]) }
    }

    /// `updates` put into, or combined with, the elements of `input` at `places`, in their order.
    private static func scattered(
        _ input: Tensor, _ places: [Int], _ updates: Tensor, reduction: String?
    ) throws(ModelError) -> Tensor {
        guard let reduction, reduction != "none" else {
            var sources = Array(0..<input.count)
            for (index, place) in places.enumerated() { sources[place] = input.count + index }
            return try Tensor.joined([input, updates]).gathered(sources, shape: input.shape)
        }
        if input.elementType.isFloat {
            var values = input.doubles()
            for (place, update) in zip(places, updates.doubles()) {
                switch reduction {
                case "add": values[place] += update
                case "mul": values[place] *= update
                case "max": values[place] = largest(values[place], update)
                default: values[place] = smallest(values[place], update)
                }
            }
            return try Tensor(input.elementType, shape: input.shape, doubles: values)
        }
        var values = input.integers()
        let isUnsigned = input.elementType == .uint64
        func isLess(_ left: Int64, _ right: Int64) -> Bool {
            isUnsigned ? UInt64(bitPattern: left) < UInt64(bitPattern: right) : left < right
        }
        for (place, update) in zip(places, updates.integers()) {
            switch reduction {
            case "add": values[place] &+= update
            case "mul": values[place] &*= update
            case "max": values[place] = isLess(values[place], update) ? update : values[place]
            default: values[place] = isLess(update, values[place]) ? update : values[place]
            }
        }
        return try Tensor(input.elementType, shape: input.shape, integers: values)
    }
}
