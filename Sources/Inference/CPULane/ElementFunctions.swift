import OneDNNKit

/// A node that computes each element for itself, as functions that oneDNN has, one after the other.
///
/// Softplus is missing: oneDNN takes the logarithm of `1 + exp(x)`, which has no digits left where x is far below zero.
struct ElementFunctions {
    let list: [ElementFunction]
    /// Which of the node's inputs has the elements.
    private(set) var input = 0

    /// Nil for other nodes, and where a parameter is not constant.
    init?(_ node: Node, _ initialisers: [String: Tensor]) {
        guard node.domain.isEmpty, node.followers.isEmpty else { return nil }
        func setting(_ name: String, _ standard: Double) -> Float { Float(node.float(name) ?? standard) }
        switch node.operatorName {
        case "Relu": list = [.relu()]
        case "LeakyRelu": list = [.relu(slope: setting("alpha", 0.01))]
        case "Elu": list = [.elu(alpha: setting("alpha", 1))]
        case "Sigmoid": list = [.sigmoid]
        case "Tanh": list = [.tanh]
        case "HardSwish": list = [.hardSwish]
        case "Swish": list = [.swish(slope: setting("alpha", 1))]
        case "Mish": list = [.mish]
        case "Gelu": list = [node.string("approximate") == "tanh" ? .geluTanh : .geluErf]
        case "Exp": list = [.exp]
        case "Sqrt": list = [.sqrt]
        case "Abs": list = [.abs]
        case "HardSigmoid":
            list = [
                .linear(scale: setting("alpha", Double(Float(0.2))), shift: setting("beta", 0.5)), .clip(0, 1),
            ]
        case "Clip":
            guard let bounds = ClipBounds(node, initialisers) else { return nil }
            list = [.clip(Float(bounds.low), Float(bounds.high))]
        case "Add", "Sub", "Mul", "Div":
            guard let line = Line(node, initialisers) else { return nil }
            (list, input) = ([.linear(scale: line.scale, shift: line.shift)], line.input)
        default: return nil
        }
    }
}

/// Arithmetic with one constant number as `scale · x + shift`.
private struct Line {
    let scale: Float
    let shift: Float
    let input: Int

    init?(_ node: Node, _ initialisers: [String: Tensor]) {
        guard node.opset >= 7, node.inputs.count == 2,
            let place = [1, 0].first(where: { initialisers[node.inputs[$0]]?.count == 1 }),
            let tensor = initialisers[node.inputs[place]], tensor.elementType == .float32,
            let number = tensor.elements(as: Float.self).first, number.isFinite
        else { return nil }
        input = 1 - place
        switch (node.operatorName, place) {
        case ("Add", _): (scale, shift) = (1, number)
        case ("Sub", 1): (scale, shift) = (1, -number)
        case ("Sub", _): (scale, shift) = (-1, number)
        case ("Mul", _): (scale, shift) = (number, 0)
        case ("Div", 1) where (1 / number).isNormal: (scale, shift) = (1 / number, 0)
        default: return nil
        }
    }
}
