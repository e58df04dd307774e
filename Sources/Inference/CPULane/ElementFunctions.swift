import OneDNNKit

/// A node that computes each element for itself, as functions that oneDNN has, one after the other.
///
/// Softplus is missing: oneDNN takes the logarithm of `1 + exp(x)`, which has no digits left where x is far below zero.
struct ElementFunctions {
    let list: [ElementFunction]

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
        default: return nil
        }
    }
}
