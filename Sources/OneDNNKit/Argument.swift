import COneDNN

/// The part that a buffer plays in an execution.
package struct Argument: Hashable, Sendable, CustomStringConvertible {
    let index: Int32
    package let description: String

    package static let source = Argument(index: DNNL_ARG_SRC_0, description: "source")
    /// The second operand of ``Binary``.
    package static let secondSource = Argument(index: DNNL_ARG_SRC_1, description: "second source")
    package static let weights = Argument(index: DNNL_ARG_WEIGHTS_0, description: "weights")
    package static let bias = Argument(index: DNNL_ARG_BIAS, description: "bias")
    package static let scale = Argument(index: DNNL_ARG_SCALE, description: "scale")
    package static let shift = Argument(index: DNNL_ARG_SHIFT, description: "shift")
    package static let destination = Argument(index: DNNL_ARG_DST_0, description: "destination")

    /// One of the sources of ``Concatenation`` and ``Sum``.
    package static func source(_ position: Int) -> Argument {
        Argument(index: DNNL_ARG_MULTIPLE_SRC + Int32(position), description: "source \(position)")
    }

    /// The second operand of the binary post-operation at that place among the post-operations.
    package static func postOperation(_ position: Int) -> Argument {
        Argument(
            index: bg_dnnl_post_operation_argument(Int32(position)),
            description: "operand of post-operation \(position)")
    }

    package static func == (one: Argument, other: Argument) -> Bool { one.index == other.index }
    package func hash(into hasher: inout Hasher) { hasher.combine(index) }
}
