import COneDNN

/// A function of one element x.
package enum ElementFunction: Hashable, Sendable {
    /// `x` where positive, else `slope * x`.
    case relu(slope: Float = 0)
    /// Between both bounds; relu6 is `clip(0, 6)`.
    case clip(Float, Float)
    /// `1 / (1 + exp(-x))`.
    case sigmoid
    case tanh
    /// `x / 2 * (1 + erf(x / sqrt(2)))`.
    case geluErf
    /// `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.
    case geluTanh
    /// `x / (1 + exp(-slope * x))`; SiLU with slope 1.
    case swish(slope: Float = 1)
    /// `x * min(max(x + 3, 0), 6) / 6`.
    case hardSwish
    /// `x * tanh(log(1 + exp(x)))`.
    case mish
    /// `x` where positive, else `alpha * (exp(x) - 1)`.
    case elu(alpha: Float = 1)
    /// `log(1 + exp(x))`.
    case softPlus
    case exp
    /// The natural logarithm.
    case log
    case sqrt
    case abs
    case square
    /// To the nearest integer, ties to even.
    case round
    /// `scale * x + shift`.
    case linear(scale: Float, shift: Float)
    /// `scale * x^exponent`.
    case power(scale: Float = 1, exponent: Float)

    /// oneDNN's algorithm with its two parameters.
    var raw: (dnnl_alg_kind_t, Float, Float) {
        switch self {
        case .relu(let slope): (dnnl_eltwise_relu, slope, 0)
        case .clip(let low, let high): (dnnl_eltwise_clip, low, high)
        case .sigmoid: (dnnl_eltwise_logistic, 0, 0)
        case .tanh: (dnnl_eltwise_tanh, 0, 0)
        case .geluErf: (dnnl_eltwise_gelu_erf, 0, 0)
        case .geluTanh: (dnnl_eltwise_gelu_tanh, 0, 0)
        case .swish(let slope): (dnnl_eltwise_swish, slope, 0)
        case .hardSwish: (dnnl_eltwise_hardswish, 0, 0)
        case .mish: (dnnl_eltwise_mish, 0, 0)
        case .elu(let alpha): (dnnl_eltwise_elu, alpha, 0)
        case .softPlus: (dnnl_eltwise_soft_relu, 0, 0)
        case .exp: (dnnl_eltwise_exp, 0, 0)
        case .log: (dnnl_eltwise_log, 0, 0)
        case .sqrt: (dnnl_eltwise_sqrt, 0, 0)
        case .abs: (dnnl_eltwise_abs, 0, 0)
        case .square: (dnnl_eltwise_square, 0, 0)
        case .round: (dnnl_eltwise_round, 0, 0)
        case .linear(let scale, let shift): (dnnl_eltwise_linear, scale, shift)
        case .power(let scale, let exponent): (dnnl_eltwise_pow, scale, exponent)
        }
    }
}
