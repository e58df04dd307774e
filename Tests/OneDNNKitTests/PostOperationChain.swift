import OneDNNKit

/// Random post-operations, their operands, and the same in double precision.
struct PostOperationChain {
    private(set) var attributes = Attributes()
    private(set) var inputs: [Argument: Tensor] = [:]
    /// The results when the chain is done.
    private(set) var values: [Double]

    /// - Parameters:
    ///   - values: Results before the chain, row-major.
    ///   - dimensions: The destination's.
    ///   - channels: Which of them has an operand's numbers for each channel.
    ///   - residual: What stands in the destination.
    ///   - fixture: Random choices.
    /// - Throws: What descriptors do.
    init(
        _ values: [Double], _ dimensions: [Int], channels: Int, residual: Tensor, _ fixture: inout Fixture
    ) throws {
        self.values = values
        let target = Tensor(dimensions) { _ in 0 }
        for step in 0..<fixture.pick(1...4) {
            switch fixture.pick(0...2) {
            case 0 where inputs[.destination] == nil:
                let scale = fixture.pick([Float(1), 0.5])
                attributes.postOperations.append(.sum(scale: scale))
                inputs[.destination] = residual
                self.values = zip(self.values, residual.values).map { $0 + Double(scale) * $1 }
            case 1:
                // Functions whose slope is at most 1.13, so that errors stay what they are.
                let function = fixture.pick([
                    ElementFunction.relu(), .relu(slope: 0.25), .clip(0, 6), .hardSwish, .swish(), .geluErf, .sigmoid,
                ])
                attributes.postOperations.append(.elementWise(function))
                self.values = self.values.map { function($0) }
            default:
                let function = fixture.pick([BinaryFunction.add, .subtract, .multiply, .maximum])
                var shape = dimensions.map { _ in 1 }
                shape[channels] = dimensions[channels]
                shape = fixture.pick([dimensions, shape, dimensions.map { _ in 1 }])
                let operand = Tensor.random(shape, using: &fixture.generator)
                let layout: MemoryDescriptor.Layout = shape == dimensions ? .chosenByPrimitive : .plain
                attributes.postOperations.append(.binary(function, try MemoryDescriptor(shape, .float32, layout)))
                inputs[.postOperation(step)] = operand
                self.values = self.values.indices.map {
                    function(self.values[$0], operand.repeating(target.indices($0)))
                }
            }
        }
    }
}
