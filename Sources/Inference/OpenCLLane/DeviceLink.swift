import Kernels

/// One function of each element, or arithmetic with another value, behind or instead of a product.
struct DeviceLink: Sendable {
    var kind: bg_link_kind
    var a: Float = 0
    var b: Float = 0
    /// The other value, with a stride for each of the four axes that its kernel counts positions by.
    var operand: (value: DeviceValue, strides: [Int])?

    func encoded(_ locations: Locations) -> bg_link {
        var link = bg_link()
        link.kind = Int32(kind.rawValue)
        (link.a, link.b) = (a, b)
        if let operand {
            link.place = locations(operand.value)
            link.strides = quadruple(operand.strides)
        }
        return link
    }
}

/// A node that computes each element for itself, as links.
struct ElementLinks {
    let list: [DeviceLink]

    /// Nil for other nodes, and where a parameter is not constant.
    init?(_ node: Node, _ initialisers: [String: Tensor]) {
        guard node.domain.isEmpty, node.followers.isEmpty else { return nil }
        func setting(_ name: String, _ standard: Double) -> Float { Float(node.float(name) ?? standard) }
        func link(_ kind: bg_link_kind, _ a: Float = 0, _ b: Float = 0) -> DeviceLink {
            DeviceLink(kind: kind, a: a, b: b)
        }
        switch node.operatorName {
        case "Relu": list = [link(BG_LINK_RELU)]
        case "LeakyRelu": list = [link(BG_LINK_RELU, setting("alpha", 0.01))]
        case "Elu": list = [link(BG_LINK_ELU, setting("alpha", 1), 1)]
        case "Selu":
            list = [
                link(
                    BG_LINK_ELU, setting("alpha", 1.67326319217681884765625),
                    setting("gamma", 1.05070102214813232421875))
            ]
        case "Sigmoid": list = [link(BG_LINK_SIGMOID)]
        case "Tanh": list = [link(BG_LINK_TANH)]
        case "HardSwish": list = [link(BG_LINK_HARD_SWISH)]
        case "Swish": list = [link(BG_LINK_SWISH, setting("alpha", 1))]
        case "Mish": list = [link(BG_LINK_MISH)]
        case "Gelu": list = [link(node.string("approximate") == "tanh" ? BG_LINK_GELU_TANH : BG_LINK_GELU_ERF)]
        case "Exp": list = [link(BG_LINK_EXP)]
        case "Log": list = [link(BG_LINK_LOG)]
        case "Sqrt": list = [link(BG_LINK_SQRT)]
        case "Abs": list = [link(BG_LINK_ABS)]
        case "Neg": list = [link(BG_LINK_LINEAR, -1)]
        case "Erf": list = [link(BG_LINK_ERF)]
        case "Reciprocal": list = [link(BG_LINK_RECIPROCAL)]
        case "Floor": list = [link(BG_LINK_FLOOR)]
        case "Ceil": list = [link(BG_LINK_CEIL)]
        case "Round": list = [link(BG_LINK_ROUND)]
        case "Sin": list = [link(BG_LINK_SIN)]
        case "Cos": list = [link(BG_LINK_COS)]
        case "Sign": list = [link(BG_LINK_SIGN)]
        case "Softplus": list = [link(BG_LINK_SOFTPLUS)]
        case "Softsign": list = [link(BG_LINK_SOFTSIGN)]
        case "HardSigmoid":
            list = [
                link(BG_LINK_LINEAR, setting("alpha", Double(Float(0.2))), setting("beta", 0.5)),
                link(BG_LINK_CLIP, 0, 1),
            ]
        case "Clip":
            guard let bounds = ClipBounds(node, initialisers) else { return nil }
            list = [link(BG_LINK_CLIP, Float(bounds.low), Float(bounds.high))]
        case "Pow":
            guard node.opset >= 7, node.inputs.count == 2, let exponent = initialisers[node.inputs[1]],
                exponent.count == 1, exponent.shape.allSatisfy({ $0 == 1 }), let power = exponent.doubles().first,
                exponent.shape.isEmpty
            else { return nil }
            list = [power == 0.5 ? link(BG_LINK_SQRT) : link(BG_LINK_POWER, Float(power))]
        default: return nil
        }
    }
}

extension bg_link_kind {
    /// Arithmetic of two values that broadcast; `isSecond` where the value that is there already is the second.
    init?(_ node: Node, isSecond: Bool = false) {
        guard node.domain.isEmpty else { return nil }
        switch (node.operatorName, node.opset) {
        case ("Add", 7...), ("Sum", 8...): self = BG_LINK_ADD
        case ("Sub", 7...): self = isSecond ? BG_LINK_SUBTRACT_FROM : BG_LINK_SUBTRACT
        case ("Mul", 7...): self = BG_LINK_MULTIPLY
        case ("Div", 7...): self = isSecond ? BG_LINK_DIVIDE_INTO : BG_LINK_DIVIDE
        case ("Max", 8...): self = BG_LINK_MAXIMUM
        case ("Min", 8...): self = BG_LINK_MINIMUM
        case ("Pow", 7...): self = isSecond ? BG_LINK_RAISE_FROM : BG_LINK_RAISE
        default: return nil
        }
    }
}

// MARK: C arrays

func pair(_ list: [Int]) -> (Int32, Int32) { (Int32(list[0]), Int32(list[1])) }
func triple(_ list: [Int]) -> (Int32, Int32, Int32) { (Int32(list[0]), Int32(list[1]), Int32(list[2])) }
func quadruple(_ list: [Int]) -> (Int32, Int32, Int32, Int32) {
    (Int32(list[0]), Int32(list[1]), Int32(list[2]), Int32(list[3]))
}
func sextuple(_ list: [Int]) -> (Int32, Int32, Int32, Int32, Int32, Int32) {
    (Int32(list[0]), Int32(list[1]), Int32(list[2]), Int32(list[3]), Int32(list[4]), Int32(list[5]))
}
