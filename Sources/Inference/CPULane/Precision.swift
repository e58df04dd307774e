/// In what numbers convolutions, and products with constant weights, take their operands. They add up in float32 and give
/// float32 in any case, and everything else is computed in float32.
package enum Precision: Sendable {
    case float32
    /// 8 bits of significand. Refused as `unsupported` on processors without instructions for it.
    case bfloat16
    /// bfloat16 where the processor has it and the outputs of all samples differ from those of float32 by no more than
    /// `tolerance`, as a share of the largest element of an output; else, and without samples, float32.
    case automatic(tolerance: Double, samples: [[String: Tensor]])
}

extension CompiledModel {
    /// The largest difference of any output of any sample, as a share of that output's largest element by magnitude.
    /// Infinite where one is not a number, and where there is nothing to compare, as with outputs of integers.
    ///
    /// - Throws: As ``Run/execute(_:profile:shouldStop:)``.
    package func largestDifference(
        from other: CompiledModel, on samples: [[String: Tensor]]
    ) throws(ModelError) -> Double {
        let (own, reference) = (try Run(self), try Run(other))
        var worst: Double?
        for sample in samples {
            let (found, wanted) = (try own.execute(sample), try reference.execute(sample))
            for (name, tensor) in wanted where tensor.elementType.isFloat {
                guard let values = found[name]?.doubles(), values.count == tensor.count else { return .infinity }
                let expected = tensor.doubles()
                let scale = expected.reduce(Double.leastNormalMagnitude) { max($0, abs($1)) }
                for (value, exact) in zip(values, expected) {
                    let difference = abs(value - exact) / scale
                    guard !difference.isNaN else { return .infinity }
                    worst = max(worst ?? 0, difference)
                }
            }
        }
        return worst ?? .infinity
    }
}
