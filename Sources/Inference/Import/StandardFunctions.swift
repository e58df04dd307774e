import ONNXFormat

/// Operators of the standard that are put together of others when a model is read, as the standard itself defines them. Every
/// lane then has them with the fast forms of those.
enum StandardFunctions {
    /// Their names, with the first set that has them.
    static let versions = ["RMSNormalization": 23]

    /// Puts a call together of others.
    ///
    /// - Parameters:
    ///   - call: The call, in the standard's own domain.
    ///   - opset: The version of the standard's operators that holds there.
    ///   - prefix: What no other name in the model begins with.
    /// - Returns: The nodes that it stands for; nil where it is no such call, or says what is not known here.
    static func body(of call: ONNXNode, opset: Int, prefix: String) -> [ONNXNode]? {
        guard let version = versions[call.opType], opset >= version else { return nil }
        var body = Body(call: call, prefix: prefix)
        return body.rootMeanSquareNormalization()
    }

    private struct Body {
        let call: ONNXNode
        let prefix: String
        private var nodes: [ONNXNode] = []

        init(call: ONNXNode, prefix: String) {
            self.call = call
            self.prefix = prefix
        }

        /// x divided by the root of the mean of its squares over the axes from `axis` on, times a scale (Zhang and Sennrich,
        /// Root Mean Square Layer Normalization).
        mutating func rootMeanSquareNormalization() -> [ONNXNode]? {
            guard call.input.count == 2, !call.input.contains(""), call.output.count == 1,
                let axis = int("axis", -1), axis >= -64, let type = int("stash_type", 1),
                let epsilon = float("epsilon", 1e-5),
                call.attribute.allSatisfy({ ["axis", "epsilon", "stash_type"].contains($0.name) })
            else { return nil }
            let input = call.input[0]
            let wide = add("Cast", [input], "wide", [("to", .int(type))])
            let squares = add("Mul", [wide, wide], "squares")
            let mean = add("ReduceMean", [squares, axes(from: axis, of: input)], "mean")
            let shifted = add(
                "Add", [mean, add("Cast", [constant("epsilon", epsilon)], "e", [("to", .int(type))])], "sum")
            let normalised = add("Div", [wide, add("Sqrt", [shifted], "root")], "normalised")
            let narrow = add("CastLike", [normalised, input], "narrow")
            _ = add("Mul", [narrow, call.input[1]], call.output[0], isOutput: true)
            return nodes
        }

        /// The axes from one on; for one that is counted from the front, the number of axes is needed.
        private mutating func axes(from axis: Int64, of input: String) -> String {
            if axis < 0 { return add("Constant", [], "axes", [("value_ints", .ints(Array(axis ... -1)))]) }
            let first = add("Constant", [], "first", [("value_int", .int(axis))])
            let one = add("Constant", [], "one", [("value_int", .int(1))])
            let rank = add("Size", [add("Shape", [input], "shape")], "rank")
            return add("Range", [first, rank, one], "axes")
        }

        private mutating func constant(_ name: String, _ value: Float) -> String {
            add("Constant", [], name, [("value_float", .float(value))])
        }

        // MARK: Messages

        private enum Value {
            case int(Int64)
            case ints([Int64])
            case float(Float)
        }

        /// - Returns: The name of the result.
        private mutating func add(
            _ type: String, _ inputs: [String], _ output: String, _ attributes: [(name: String, value: Value)] = [],
            isOutput: Bool = false
        ) -> String {
            var node = ONNXNode()
            node.opType = type
            node.name = prefix + output
            node.input = inputs
            node.output = [isOutput ? output : prefix + output]
            node.attribute = attributes.map { name, value in
                var attribute = ONNXAttribute()
                attribute.name = name
                switch value {
                case .int(let value): (attribute.type, attribute.i) = (.int, value)
                case .ints(let values): (attribute.type, attribute.ints) = (.ints, values)
                case .float(let value): (attribute.type, attribute.f) = (.float, value)
                }
                return attribute
            }
            nodes.append(node)
            return node.output[0]
        }

        /// Nil for an attribute of another kind.
        private func int(_ name: String, _ standard: Int64) -> Int64? {
            guard let attribute = call.attribute.first(where: { $0.name == name }) else { return standard }
            return attribute.type == .int ? attribute.i : nil
        }

        private func float(_ name: String, _ standard: Float) -> Float? {
            guard let attribute = call.attribute.first(where: { $0.name == name }) else { return standard }
            return attribute.type == .float ? attribute.f : nil
        }
    }
}
