extension Operators {
    static let control: [OperatorDefinition] = [branch, loop, scan]

    // MARK: If

    private static let branch = OperatorDefinition(
        "If", versions: [1, 11, 13, 16, 19, 21], outputs: 1...Int.max, types: [.bool],
        attributes: ["then_branch": .graph, "else_branch": .graph],
        infer: { call throws(ModelError) in
            let (first, second) = try branches(call.node)
            let facts = (try call.inferSubgraph(first, []), try call.inferSubgraph(second, []))
            var types: [TensorType] = []
            for (one, other) in zip(facts.0, facts.1) {
                guard let one = one?.type, let other = other?.type else { return [] }
                guard one.elementType == other.elementType else { return [] }
                types.append(common(one, other))
            }
            return types
        }
    ) { call throws(ModelError) in
        guard call.tensor().count == 1, let flag = call.tensor().flags().first else {
            throw .wrongValue("its condition has \(call.tensor().count) elements")
        }
        let (first, second) = try branches(call.node)
        return try call.runSubgraph(flag ? first : second, [])
    }

    private static func branches(_ node: Node) throws(ModelError) -> (Graph, Graph) {
        guard let first = node.graph("then_branch"), let second = node.graph("else_branch") else {
            throw .damaged("a branch is missing")
        }
        for graph in [first, second] {
            guard graph.outputs.count == node.outputs.count, graph.inputs.isEmpty else {
                throw .damaged("a branch has \(graph.inputs.count) inputs and \(graph.outputs.count) outputs")
            }
        }
        return (first, second)
    }

    /// What holds for both.
    private static func common(_ one: TensorType, _ other: TensorType) -> TensorType {
        guard let first = one.shape, let second = other.shape, first.count == second.count else {
            return TensorType(one.elementType, nil)
        }
        return TensorType(one.elementType, zip(first, second).map { $0 == $1 ? $0 : .unknown })
    }

    // MARK: Loop

    /// Inputs: the most iterations, a condition, carried values. Outputs: the carried values, then one stack for each
    /// further output of the body.
    private static let loop = OperatorDefinition(
        "Loop", versions: [1, 11, 13, 16, 19, 21], inputs: 2...Int.max, optionalInputs: [0, 1], outputs: 1...Int.max,
        types: [.int64, .bool, .all],
        attributes: ["body": .graph],
        infer: { call throws(ModelError) in
            let carried = call.facts.count - 2
            let body = try loopBody(call.node, carried: carried)
            var given: [Fact?] = [Fact(TensorType(.int64, [])), Fact(TensorType(.bool, []))]
            // Shapes may change from one iteration to the next.
            for fact in call.facts.dropFirst(2) {
                given.append(fact.map { Fact(TensorType($0.type.elementType, nil)) })
            }
            let results = try call.inferSubgraph(body, given)
            var types: [TensorType] = []
            for (index, result) in results.dropFirst().enumerated() {
                guard let type = result?.type else { return [] }
                types.append(index < carried ? type : TensorType(type.elementType, type.shape.map { [.unknown] + $0 }))
            }
            return types
        }
    ) { call throws(ModelError) in
        let carriedCount = call.inputs.count - 2
        let body = try loopBody(call.node, carried: carriedCount)
        let limit = call.optional(0)?.indices().first ?? Int.max
        var goesOn = call.optional(1)?.flags().first ?? true
        var carried = call.inputs.dropFirst(2).compactMap { $0 }
        var stacks = [[Tensor]](repeating: [], count: body.outputs.count - 1 - carriedCount)
        var iteration = 0
        while goesOn && iteration < limit {
            guard iteration < call.largestIterations else {
                throw .tooLarge("it runs for more than \(call.largestIterations) iterations")
            }
            let condition = try Tensor(shape: [], flags: [goesOn])
            let results = try call.runSubgraph(
                body, [try Tensor(indices: [iteration], shape: []), condition] + carried)
            guard let next = results.first, next.elementType == .bool, let next = next.flags().first else {
                throw .wrongValue("its condition has no element, or is not Boolean")
            }
            goesOn = next
            carried = Array(results[1..<(1 + carriedCount)])
            for (index, value) in results[(1 + carriedCount)...].enumerated() { stacks[index].append(value) }
            iteration += 1
        }
        let ports = body.outputs[(1 + carriedCount)...]
        var outputs = carried
        for (stack, port) in zip(stacks, ports) { outputs.append(try stacked(stack, port)) }
        return outputs
    }

    private static func loopBody(_ node: Node, carried: Int) throws(ModelError) -> Graph {
        guard let body = node.graph("body"), !node.inputs.dropFirst(2).contains("") else {
            throw .damaged("it has no body, or a carried value is missing")
        }
        guard body.inputs.count == carried + 2, body.outputs.count > carried,
            node.outputs.count <= body.outputs.count - 1
        else {
            throw .damaged("its body has \(body.inputs.count) inputs and \(body.outputs.count) outputs")
        }
        return body
    }

    /// Tensors of one shape behind each other along a new first axis.
    private static func stacked(_ tensors: [Tensor], _ port: Graph.Port) throws(ModelError) -> Tensor {
        guard let first = tensors.first else {
            let shape = [0] + (port.type?.shape ?? []).map { $0.extent ?? 0 }
            return try Tensor.empty(port.type?.elementType ?? .float32, shape: shape)
        }
        guard tensors.allSatisfy({ $0.shape == first.shape && $0.elementType == first.elementType }) else {
            throw .wrongValue("what \"\(port.name)\" collects changes its shape on the way")
        }
        return try Tensor.joined(tensors).reshaped([tensors.count] + first.shape)
    }

    // MARK: Scan

    /// Inputs: carried values, then those that are walked through along an axis.
    private static let scan = OperatorDefinition(
        "Scan", versions: [9, 11, 16, 19, 21], inputs: 1...Int.max, outputs: 1...Int.max, types: [.fixedSize],
        attributes: [
            "body": .graph, "num_scan_inputs": .int, "scan_input_axes": .ints, "scan_input_directions": .ints,
            "scan_output_axes": .ints, "scan_output_directions": .ints,
        ],
        infer: { call throws(ModelError) in
            let plan = try ScanPlan(call.node)
            var given: [Fact?] = []
            var length: Dimension = .unknown
            for (index, fact) in call.facts.enumerated() {
                guard let type = fact?.type, index >= plan.carried, var shape = type.shape else {
                    given.append(
                        fact.map { Fact(TensorType($0.type.elementType, index < plan.carried ? nil : $0.type.shape)) })
                    continue
                }
                let axis = try call.axis(plan.inputAxes[index - plan.carried], rank: shape.count)
                length = try Shapes.same(length, shape.remove(at: axis), "lengths of what is walked through")
                given.append(Fact(TensorType(type.elementType, shape)))
            }
            var types: [TensorType] = []
            for (index, result) in try call.inferSubgraph(plan.body, given).enumerated() {
                guard var type = result?.type else { return [] }
                if index >= plan.carried, var shape = type.shape {
                    let axis = try call.axis(plan.outputAxes[index - plan.carried], rank: shape.count + 1)
                    shape.insert(length, at: axis)
                    type.shape = shape
                }
                types.append(type)
            }
            return types
        }
    ) { call throws(ModelError) in
        let plan = try ScanPlan(call.node)
        let tensors = call.given
        var carried = Array(tensors[..<plan.carried])
        let walked = Array(tensors[plan.carried...])
        let axes = zip(plan.inputAxes, walked).map { $0 < 0 ? $0 + $1.shape.count : $0 }
        guard let length = zip(walked, axes).map({ $0.shape[$1] }).first,
            zip(walked, axes).allSatisfy({ $0.shape[$1] == length })
        else { throw .wrongValue("what it walks through differs in length") }
        // What has no elements may be of any length.
        let isEmpty = walked.contains { $0.count == 0 }
        guard length <= min(call.largestIterations, isEmpty ? longestEmptyScan : .max) else {
            throw .tooLarge("it walks through \(length) parts\(isEmpty ? " without elements" : "")")
        }
        var stacks = [[Tensor]](repeating: [], count: plan.body.outputs.count - plan.carried)
        for step in 0..<length {
            var given = carried
            for (index, tensor) in walked.enumerated() {
                let place = plan.inputDirections[index] == 1 ? length - 1 - step : step
                var shape = tensor.shape
                shape.remove(at: axes[index])
                var strides = Extents.strides(tensor.shape)
                let start = place * strides.remove(at: axes[index])
                given.append(try tensor.gathered(Extents.offsets(shape, strides: strides, start: start), shape: shape))
            }
            let results = try call.runSubgraph(plan.body, given)
            carried = Array(results[..<plan.carried])
            for (index, value) in results[plan.carried...].enumerated() { stacks[index].append(value) }
        }
        var outputs = carried
        for (index, stack) in stacks.enumerated() {
            let ordered = plan.outputDirections[index] == 1 ? stack.reversed() : stack
            let joined = try stacked(ordered, plan.body.outputs[plan.carried + index])
            let rank = joined.shape.count
            let axis = plan.outputAxes[index] < 0 ? plan.outputAxes[index] + rank : plan.outputAxes[index]
            guard axis >= 0 && axis < rank else { throw .wrongValue("there is no axis \(axis)") }
            var order = Array(1..<rank)
            order.insert(0, at: axis)
            outputs.append(try joined.transposed(order))
        }
        return outputs
    }

    /// Parts without elements that are walked through at most.
    private static let longestEmptyScan = 1 << 16

    private struct ScanPlan {
        var body: Graph
        var carried: Int
        var inputAxes: [Int]
        var inputDirections: [Int]
        var outputAxes: [Int]
        var outputDirections: [Int]

        init(_ node: Node) throws(ModelError) {
            guard let body = node.graph("body"), let walked = node.int("num_scan_inputs"), !node.inputs.contains(""),
                walked > 0, walked <= node.inputs.count
            else { throw .damaged("it has no body, or nothing to walk through") }
            self.body = body
            carried = node.inputs.count - walked
            guard body.inputs.count == node.inputs.count, body.outputs.count >= carried,
                body.outputs.count == node.outputs.count
            else { throw .damaged("its body has \(body.inputs.count) inputs and \(body.outputs.count) outputs") }
            let stacks = body.outputs.count - carried
            inputAxes = node.ints("scan_input_axes") ?? Array(repeating: 0, count: walked)
            inputDirections = node.ints("scan_input_directions") ?? Array(repeating: 0, count: walked)
            outputAxes = node.ints("scan_output_axes") ?? Array(repeating: 0, count: stacks)
            outputDirections = node.ints("scan_output_directions") ?? Array(repeating: 0, count: stacks)
            guard inputAxes.count == walked, inputDirections.count == walked, outputAxes.count == stacks,
                outputDirections.count == stacks
            else { throw .damaged("its axes or directions are not as many as its inputs and outputs") }
        }
    }
}
