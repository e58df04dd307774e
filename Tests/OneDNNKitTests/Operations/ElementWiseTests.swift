import Foundation
import OneDNNKit
import Testing

extension ElementFunction {
    /// The same in double precision.
    func callAsFunction(_ x: Double) -> Double {
        switch self {
        case .relu(let slope): x > 0 ? x : Double(slope) * x
        case .clip(let low, let high): min(max(x, Double(low)), Double(high))
        case .sigmoid: 1 / (1 + Foundation.exp(-x))
        case .tanh: Foundation.tanh(x)
        case .geluErf: x / 2 * (1 + erf(x / 2.0.squareRoot()))
        case .geluTanh: x / 2 * (1 + Foundation.tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
        case .swish(let slope): x / (1 + Foundation.exp(-Double(slope) * x))
        case .hardSwish: x * min(max(x + 3, 0), 6) / 6
        case .mish: x * Foundation.tanh(log1p(Foundation.exp(x)))
        case .elu(let alpha): x > 0 ? x : Double(alpha) * expm1(x)
        case .softPlus: log1p(Foundation.exp(x))
        case .exp: Foundation.exp(x)
        case .log: Foundation.log(x)
        case .sqrt: x.squareRoot()
        case .abs: Swift.abs(x)
        case .square: x * x
        case .round: x.rounded(.toNearestOrEven)
        case .linear(let scale, let shift): Double(scale) * x + Double(shift)
        case .power(let scale, let exponent): Double(scale) * pow(x, Double(exponent))
        }
    }

    /// Every case with parameters that are not the usual ones.
    static let all: [ElementFunction] = [
        .relu(), .relu(slope: 0.25), .clip(0, 6), .clip(-0.5, 0.75), .sigmoid, .tanh, .geluErf, .geluTanh, .swish(),
        .swish(slope: 1.75), .hardSwish, .mish, .elu(), .elu(alpha: 0.5), .softPlus, .exp, .log, .sqrt, .abs, .square,
        .round, .linear(scale: -1.5, shift: 0.25), .power(scale: 2, exponent: 1.5), .power(exponent: -1),
    ]

    /// Where it is defined and does not overflow.
    var range: ClosedRange<Double> {
        switch self {
        case .log, .sqrt, .power: 0.01...20
        default: -8...8
        }
    }
}

@Suite struct ElementWiseTests {
    /// oneDNN computes the transcendental functions by polynomials and tables in float32; its error is absolute near
    /// zeros of the function and relative elsewhere, at most some units of 2^-20.
    static let tolerance = 0x1p-18

    @Test(arguments: ElementFunction.all) func everyFunctionIsItsFormula(function: ElementFunction) throws {
        var fixture = try Fixture(seed: 1)
        for layout in [MemoryDescriptor.Layout.plain, .channelsLast] {
            let source = Tensor.random([2, 19, 5, 7], in: function.range, using: &fixture.generator)
            let operation = ElementWise(function, try MemoryDescriptor(source.dimensions, .float32, layout))
            expectClose(
                try fixture.run(operation, [.source: source]), source.values.map { function($0) },
                tolerance: Self.tolerance, "\(operation)")
        }
    }

    @Test(.needsBF16) func bfloat16IsTheSameWithinItsRounding() throws {
        var fixture = try Fixture(seed: 2)
        for function in [ElementFunction.relu(), .geluErf, .sigmoid, .hardSwish, .swish()] {
            let source = Tensor.random([3, 50], .bfloat16, in: -4...4, using: &fixture.generator)
            let operation = ElementWise(function, try MemoryDescriptor(source.dimensions, .bfloat16))
            // Half a unit in the last of 8 bits, 2^-9, and as much again for the function's own error.
            expectClose(
                try fixture.run(operation, [.source: source]), source.values.map { function($0) }, tolerance: 0x1p-8,
                "\(operation)")
        }
    }

    @Test func theDestinationMayBeTheSource() throws {
        var fixture = try Fixture(seed: 3)
        let tensor = Tensor.random([4, 100], using: &fixture.generator)
        let descriptor = try MemoryDescriptor(tensor.dimensions, .float32)
        let primitive = try Primitive(ElementWise(.relu(), descriptor), on: fixture.engine)
        let buffer = tensor.buffer(.float32)
        try fixture.stream.execute(primitive, [.input(.source, buffer), .output(buffer)])
        #expect(Tensor(buffer, tensor.dimensions, .float32).values == tensor.values.map { max($0, 0) })
    }
}
