import OneDNNKit

/// 8-bit integers for float32: `x ≈ scale · (q - zeroPoint)`, with one scale and zero point for a whole tensor.
struct AffineQuantisation: Hashable, Sendable {
    let scale: Float
    let zeroPoint: Int32
    let type: DataType

    /// Of QuantizeLinear and DequantizeLinear; nil for other nodes, other integers, and where scale or zero point are
    /// several or not constant.
    init?(_ node: Node, _ initialisers: [String: Tensor]) {
        guard node.isStandard("QuantizeLinear") || node.isStandard("DequantizeLinear"), node.inputs.count == 3,
            node.int("block_size") ?? 0 == 0, node.int("output_dtype") ?? 0 == 0,
            let scales = initialisers[node.inputs[1]], scales.count == 1, scales.elementType == .float32,
            let zeroPoints = initialisers[node.inputs[2]], zeroPoints.count == 1,
            let type = DataType(zeroPoints.elementType), type != .float32,
            let scale = scales.elements(as: Float.self).first, scale.isNormal, scale > 0, (1 / scale).isNormal
        else { return nil }
        self.scale = scale
        zeroPoint = Int32(zeroPoints.integers()[0])
        self.type = type
    }

    /// Whether what is written as such integers is never below zero.
    var startsAtZero: Bool { zeroPoint == (type == .uint8 ? 0 : -128) }
}

extension DataType {
    /// What steps can work on; nil for others.
    init?(_ type: ElementType) {
        switch type {
        case .float32: self = .float32
        case .int8: self = .int8
        case .uint8: self = .uint8
        default: return nil
        }
    }
}
