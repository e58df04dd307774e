/// The standard's operator sets 22 to 28, as onnx 1.23 defines them (`onnx.defs.get_all_schemas_with_history`).
extension Operators {
    /// The newest set of the standard's operators that is known here.
    package static let newestOpset = 28

    /// Operators that are new in these sets, with their versions, whether or not they are implemented.
    private static let new: [String: [Int]] = [
        "Attention": [23, 24, 25], "BitCast": [26], "CausalConvWithState": [27], "CumProd": [26],
        "LinearAttention": [27], "RMSNormalization": [23], "RotaryEmbedding": [23], "SwiGLU": [28], "Swish": [24],
        "TensorScatter": [24],
    ]

    /// The version of an operator that is new in these sets, as far as a set has it.
    static func newVersion(of name: String, in opset: Int) -> Int? { new[name]?.last { $0 <= opset } }

    /// Versions of implemented operators. Most of them allow other element types and change nothing else; what the others
    /// added is implemented: signs in BitShift, `round_mode` of casts to types that are refused, `output_dtype` of
    /// DequantizeLinear, floor division of floats in Mod, `precision` of QuantizeLinear, `stash_type` of Range, `mode` of
    /// SpaceToDepth.
    private static let later: [(versions: [Int], names: Set<String>)] = [
        (
            [22],
            [
                "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "AveragePool", "Conv", "ConvTranspose", "Cos",
                "Cosh",
                "DeformConv", "Det", "Dropout", "Elu", "EyeLike", "GRU", "GlobalAveragePool", "GlobalLpPool",
                "GlobalMaxPool", "GridSample", "HardSigmoid", "HardSwish", "InstanceNormalization", "LSTM",
                "LpNormalization", "LpPool", "MaxPool", "MaxUnpool", "Mish", "NegativeLogLikelihoodLoss", "RNN",
                "RoiAlign", "Round", "Selu", "Sin", "Sinh", "Softplus", "Softsign", "Tan", "ThresholdedRelu",
            ]
        ),
        (
            [23, 24, 25],
            [
                "Cast", "CastLike", "Constant", "ConstantOfShape", "DequantizeLinear", "Flatten", "Identity", "If",
                "Loop",
                "Pad", "QuantizeLinear", "Reshape", "Scan", "Shape", "Size", "Squeeze", "Transpose", "Unsqueeze",
            ]
        ),
        ([24], ["TopK"]),
        ([27], ["Range"]),
        (
            [28],
            [
                "BitShift", "Cast", "Celu", "Compress", "DepthToSpace", "DequantizeLinear", "Einsum", "Mod", "OneHot",
                "QuantizeLinear", "ReduceLogSum", "ReduceLogSumExp", "ReverseSequence", "SpaceToDepth", "Unique",
            ]
        ),
    ]

    /// The operators with their later versions.
    static func withLaterVersions(_ definitions: [OperatorDefinition]) -> [OperatorDefinition] {
        definitions.map { definition in
            var definition = definition
            guard definition.domain.isEmpty else { return definition }
            for (versions, names) in later where names.contains(definition.name) { definition.versions += versions }
            return definition
        }
    }
}
