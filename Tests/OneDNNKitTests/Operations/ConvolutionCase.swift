import OneDNNKit

/// A random convolution, and the same in plain loops.
struct ConvolutionCase: CustomStringConvertible {
    var batch = 1
    var groups = 1
    var inputsPerGroup = 1
    var outputsPerGroup = 1
    var size: [Int] = []
    var kernel: [Int] = []
    var window = Window(strides: [])
    var hasBias = false

    init(spatialRank: Int, depthwise: Bool = false, _ fixture: inout Fixture) {
        repeat {
            batch = fixture.pick(1...2)
            groups = depthwise ? fixture.pick(1...40) : fixture.pick([1, 1, 1, 2, 3])
            inputsPerGroup = depthwise ? 1 : fixture.pick([1, 2, 3, 8, 16, 17, 32])
            outputsPerGroup = depthwise ? 1 : fixture.pick([1, 3, 4, 16, 19, 32])
            let range = (0..<spatialRank)
            let largest = [20, 13, 7][spatialRank - 1]
            size = range.map { _ in fixture.pick(1...largest) }
            kernel = range.map { _ in fixture.pick(1...4) }
            window = Window(
                strides: range.map { _ in fixture.pick([1, 1, 2, 3]) },
                dilations: range.map { _ in fixture.pick([1, 1, 1, 2]) },
                paddingBefore: range.map { _ in fixture.pick(0...2) },
                paddingAfter: range.map { _ in fixture.pick(0...2) })
            hasBias = fixture.pick(0...1) == 1
        } while !(0..<spatialRank).allSatisfy(kernelFits)
    }

    private func kernelFits(dimension d: Int) -> Bool {
        let padded = size[d] + window.paddingBefore[d] + window.paddingAfter[d]
        return padded > (kernel[d] - 1) * window.dilations[d]
    }

    var description: String {
        let channels = "\(batch) x \(groups) x \(inputsPerGroup) -> \(outputsPerGroup)"
        return "\(channels), \(size) by \(kernel), \(window), bias \(hasBias)"
    }

    var sourceDimensions: [Int] { [batch, groups * inputsPerGroup] + size }
    var weightsDimensions: [Int] {
        (groups > 1 ? [groups] : []) + [outputsPerGroup, inputsPerGroup] + kernel
    }
    var channels: Int { groups * outputsPerGroup }
    var destinationDimensions: [Int] { [batch, channels] + window.outputSize(size, kernel: kernel) }

    func operation(
        _ types: (source: DataType, weights: DataType, bias: DataType, destination: DataType),
        _ layout: MemoryDescriptor.Layout, weightsLayout: MemoryDescriptor.Layout? = nil
    ) throws -> Convolution {
        Convolution(
            try MemoryDescriptor(sourceDimensions, types.source, layout),
            weights: try MemoryDescriptor(weightsDimensions, types.weights, weightsLayout ?? layout),
            bias: hasBias ? try MemoryDescriptor([channels], types.bias) : nil,
            destination: try MemoryDescriptor(destinationDimensions, types.destination, layout), window: window)
    }

    /// `sum over c and taps of (source - zeroPoint) * weights + bias`.
    func expected(_ source: Tensor, _ weights: Tensor, _ bias: Tensor?, zeroPoint: Double = 0) -> Expected {
        let shape = Tensor(destinationDimensions) { _ in 0 }
        let taps = Tensor(kernel) { _ in 0 }
        var result = Expected(
            dimensions: destinationDimensions, values: [], magnitudes: [], terms: inputsPerGroup * taps.values.count + 1
        )
        for place in shape.values.indices {
            let at = shape.indices(place)
            let group = at[1] / outputsPerGroup
            var (sum, magnitude) = (bias?.values[at[1]] ?? 0, abs(bias?.values[at[1]] ?? 0))
            for c in 0..<inputsPerGroup {
                for tap in taps.values.indices {
                    let offset = taps.indices(tap)
                    let from = offset.indices.map {
                        at[2 + $0] * window.strides[$0] + offset[$0] * window.dilations[$0] - window.paddingBefore[$0]
                    }
                    guard zip(from, size).allSatisfy({ $0 >= 0 && $0 < $1 }) else { continue }
                    let x = source.repeating([at[0], group * inputsPerGroup + c] + from) - zeroPoint
                    let w = weights.values[(at[1] * inputsPerGroup + c) * taps.values.count + tap]
                    sum += x * w
                    magnitude += abs(x * w)
                }
            }
            result.values.append(sum)
            result.magnitudes.append(magnitude)
        }
        return result
    }
}
