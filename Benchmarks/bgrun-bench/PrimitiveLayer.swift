import OneDNNKit

/// A layer of a network, in whatever type and layout is to be measured.
struct PrimitiveLayer {
    let network: String
    let name: String
    private let shape: Shape

    private enum Shape {
        /// Channels in and out, size of source, kernel, stride, groups; square, padded so that size / stride comes out.
        case convolution(Int, Int, size: Int, kernel: Int, stride: Int, groups: Int)
        case product(batch: [Int], Int, Int, Int, transposed: Bool, gelu: Bool)
        case softmax([Int])
        case normalization([Int])
    }

    /// The operation in a type, or nil where that makes no sense.
    ///
    /// - Parameters:
    ///   - type: Of the sources; uint8 has weights of int8.
    ///   - layout: Of the activations; weights are always the primitive's choice.
    /// - Returns: What to measure, with what follows it in the network.
    /// - Throws: What descriptors do.
    func operation(
        _ type: DataType, _ layout: MemoryDescriptor.Layout
    ) throws(OneDNNError) -> (any PrimitiveOperation, Attributes)? {
        let weightsType = type == .uint8 ? .int8 : type
        var attributes = Attributes()
        if type == .uint8 { attributes.outputScale = .common(0.001) }
        switch shape {
        case .convolution(let inputs, let outputs, let size, let kernel, let stride, let groups):
            let before = (kernel - 1) / 2
            let window = Window(strides: [stride, stride], paddingBefore: [before, before])
            let target = window.outputSize([size, size], kernel: [kernel, kernel])
            let weights = [outputs / groups, inputs / groups, kernel, kernel]
            attributes.postOperations = [.elementWise(.relu())]
            return (
                Convolution(
                    try MemoryDescriptor([1, inputs, size, size], type, layout),
                    weights: try MemoryDescriptor(
                        groups > 1 ? [groups] + weights : weights, weightsType, .chosenByPrimitive),
                    bias: try MemoryDescriptor([outputs], .float32),
                    destination: try MemoryDescriptor([1, outputs] + target, type, layout), window: window), attributes
            )
        case .product(let batch, let rows, let inner, let columns, let transposed, let gelu):
            if gelu { attributes.postOperations = [.elementWise(.geluErf)] }
            // The second operand of attention is an activation: it lies as it comes.
            let weights =
                batch.isEmpty
                ? try MemoryDescriptor([inner, columns], weightsType, .chosenByPrimitive)
                : transposed
                    ? try MemoryDescriptor(batch + [columns, inner], weightsType).transposed()
                    : try MemoryDescriptor(batch + [inner, columns], weightsType)
            return (
                MatrixProduct(
                    try MemoryDescriptor(batch + [rows, inner], type),
                    weights: weights, destination: try MemoryDescriptor(batch + [rows, columns], type)), attributes
            )
        case .softmax(let dimensions):
            guard type != .uint8 else { return nil }
            return (Softmax(try MemoryDescriptor(dimensions, type), axis: dimensions.count - 1), attributes)
        case .normalization(let dimensions):
            guard type != .uint8 else { return nil }
            return (LayerNormalization(try MemoryDescriptor(dimensions, type), epsilon: 1e-5), attributes)
        }
    }

    /// A convolution of a network; its name tells channels, size and kernel.
    private static func convolution(
        _ network: String, _ inputs: Int, _ outputs: Int, size: Int, kernel: Int, stride: Int = 1, groups: Int = 1
    ) -> PrimitiveLayer {
        let channels = groups > 1 ? "depthwise \(inputs)" : "\(inputs) to \(outputs)"
        let step = stride > 1 ? " stride \(stride)" : ""
        return PrimitiveLayer(
            network: network, name: "\(kernel)x\(kernel)\(step), \(channels), \(size)x\(size)",
            shape: .convolution(inputs, outputs, size: size, kernel: kernel, stride: stride, groups: groups))
    }

    private static func depthwise(_ channels: Int, size: Int, stride: Int = 1) -> PrimitiveLayer {
        convolution("MobileNetV2", channels, channels, size: size, kernel: 3, stride: stride, groups: channels)
    }

    private static func product(
        _ network: String, _ name: String, batch: [Int] = [], _ rows: Int, _ inner: Int, _ columns: Int,
        transposed: Bool = false, gelu: Bool = false
    ) -> PrimitiveLayer {
        PrimitiveLayer(
            network: network,
            name: "\(name), \((batch + [rows, inner, columns]).map(String.init).joined(separator: "x"))",
            shape: .product(batch: batch, rows, inner, columns, transposed: transposed, gelu: gelu))
    }

    /// Batch 1. Shapes: He et al. 2016 (ResNet-50), Sandler et al. 2018 (MobileNetV2), Dosovitskiy et al. 2021 (ViT-B/16
    /// at 224 pixels: 197 tokens, 12 heads of 64); the last is large enough to show what the machine does at best.
    static let all: [PrimitiveLayer] = [
        convolution("ResNet-50", 3, 64, size: 224, kernel: 7, stride: 2),
        convolution("ResNet-50", 64, 64, size: 56, kernel: 1),
        convolution("ResNet-50", 64, 64, size: 56, kernel: 3),
        convolution("ResNet-50", 64, 256, size: 56, kernel: 1),
        convolution("ResNet-50", 128, 128, size: 56, kernel: 3, stride: 2),
        convolution("ResNet-50", 128, 128, size: 28, kernel: 3),
        convolution("ResNet-50", 512, 128, size: 28, kernel: 1),
        convolution("ResNet-50", 256, 256, size: 14, kernel: 3),
        convolution("ResNet-50", 1024, 256, size: 14, kernel: 1),
        convolution("ResNet-50", 512, 512, size: 7, kernel: 3),
        convolution("ResNet-50", 512, 2048, size: 7, kernel: 1),
        product("ResNet-50", "classifier", 1, 2048, 1000),
        convolution("MobileNetV2", 3, 32, size: 224, kernel: 3, stride: 2),
        depthwise(32, size: 112),
        convolution("MobileNetV2", 16, 96, size: 112, kernel: 1),
        depthwise(96, size: 112, stride: 2),
        convolution("MobileNetV2", 24, 144, size: 56, kernel: 1),
        depthwise(144, size: 56),
        convolution("MobileNetV2", 144, 24, size: 56, kernel: 1),
        depthwise(384, size: 14),
        convolution("MobileNetV2", 384, 64, size: 14, kernel: 1),
        depthwise(960, size: 7),
        convolution("MobileNetV2", 320, 1280, size: 7, kernel: 1),
        PrimitiveLayer(network: "ViT-B", name: "layer normalisation, 197x768", shape: .normalization([197, 768])),
        product("ViT-B", "queries, keys, values", 197, 768, 2304),
        product("ViT-B", "attention scores", batch: [12], 197, 64, 197, transposed: true),
        PrimitiveLayer(network: "ViT-B", name: "softmax, 12x197x197", shape: .softmax([12, 197, 197])),
        product("ViT-B", "attention values", batch: [12], 197, 197, 64),
        product("ViT-B", "projection", 197, 768, 768),
        product("ViT-B", "up with gelu", 197, 768, 3072, gelu: true),
        product("ViT-B", "down", 197, 3072, 768),
        product("large", "product", 1024, 1024, 1024),
    ]
}
