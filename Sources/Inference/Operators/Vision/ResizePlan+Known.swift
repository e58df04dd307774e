extension ResizePlan {
    /// Of Resize or Upsample before a run; nil where the sizes depend on values that `known` does not have, or where what
    /// lies outside the input has a value of its own.
    init?(_ node: Node, input: [Int], known: (String) -> Tensor?) {
        func numbers(_ place: Int) -> [Double]? {
            node.inputs.count > place && !node.inputs[place].isEmpty ? known(node.inputs[place])?.doubles() : nil
        }
        let isUpsample = node.operatorName == "Upsample"
        let isOld = node.opset < 11
        let scales = isUpsample ? node.floats("scales") ?? numbers(1) : numbers(isOld ? 1 : 2)
        let sizes = isUpsample || isOld ? nil : numbers(3)?.map { Int($0) }
        guard scales != nil || sizes != nil,
            let plan = try? ResizePlan(node, input: input, scales: scales, sizes: sizes), !plan.isCropped
        else { return nil }
        self = plan
        if isUpsample || isOld { mode.useVersion10() }
    }
}
