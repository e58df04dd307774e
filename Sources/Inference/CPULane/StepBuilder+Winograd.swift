import OneDNNKit

extension StepBuilder {
    /// The convolution in Winograd's form, where that is faster; nil elsewhere.
    func winograd(
        _ geometry: WindowGeometry, _ source: Form, _ weights: Form, output: [Int]
    ) throws(OneDNNError) -> WinogradConvolution? {
        // It is of float32 alone, and faster than the direct form of bfloat16 where that has no AMX.
        guard !takesNonFinite, operandType == .float32 || !engine.instructionSet.hasAMX, case .constant = weights.place
        else {
            return nil
        }
        return try WinogradConvolution(
            geometry, source.descriptor, weights: weights.descriptor.dimensions, output: output, on: engine)
    }

    /// - Returns: False where a follower is none that the kernel knows. It costs less apart than the direct form does.
    mutating func addWinograd(
        _ convolution: WinogradConvolution, _ node: Node, _ followers: [Node], _ source: Form, _ weights: Form,
        _ bias: Form?
    ) throws(OneDNNError) -> Bool {
        var convolution = convolution
        let shape = convolution.destination.dimensions
        var result = node.result
        var residual: Form?
        for follower in followers {
            if let functions = ElementFunctions(follower, initialisers) {
                for function in functions.list {
                    guard let end = convolution.end.followed(by: function) else { return false }
                    convolution.end = end
                }
            } else if BinaryFunction(follower) == .add, let end = convolution.end.followedByResidual() {
                let other = follower.inputs[0] == result ? follower.inputs[1] : follower.inputs[0]
                guard self.shape(of: other) == shape, let form = try form(other) else { return false }
                (residual, convolution.end) = (form, end)
            } else {
                return false
            }
            result = follower.result
        }
        // What fills up the last block of channels is to stay 0.
        guard convolution.end.keepsZero || shape[1].isMultiple(of: engine.channelBlock) else { return false }
        guard
            let weights = try packed(
                weights, as: convolution.weights,
                { (taps) throws(OneDNNError) in convolution.packed(taps) }),
            let bias = if let bias { bias } else { try constant([Double](repeating: 0, count: shape[1]), [shape[1]]) }
        else { return false }
        var operands = [
            (Argument.source, try moved(source, to: convolution.source)),
            (.weights, Form(place: weights, descriptor: convolution.weights)), (.bias, bias),
        ]
        if let residual { operands.append((.secondSource, try moved(residual, to: convolution.destination))) }
        append(
            convolution, operands.map { StepInput(argument: $0, place: $1.place, offset: $1.offset) }, result: result)
        return true
    }
}

extension WinogradConvolution.End {
    fileprivate var keepsZero: Bool { low <= 0 && high >= 0 }
    private var changesNothing: Bool { slope == 1 && low == -.infinity && high == .infinity }

    /// Nil where the kernel does not have the function behind what it does already.
    fileprivate func followed(by function: ElementFunction) -> Self? {
        guard changesNothing else { return nil }
        var end = self
        switch function {
        case .relu(slope: 0): end.low = 0
        case .relu(let slope) where (0...1).contains(slope): end.slope = slope
        case .clip(let low, let high) where low <= high: (end.low, end.high) = (low, high)
        default: return nil
        }
        return end
    }

    fileprivate func followedByResidual() -> Self? {
        guard changesNothing, !addsResidual else { return nil }
        var end = self
        end.addsResidual = true
        return end
    }
}
