import Inference
import SeededNumbers
import Testing

/// Convolutions of random sizes against the sum that defines them, written out.
@Suite struct ConvolutionTests {
    @Test(arguments: 1...60) func convolutionIsTheSumThatDefinesIt(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let axes = pick(1...3)
        let (batch, group) = (pick(1...2), pick(1...3))
        let (channels, filters) = (pick(1...3), pick(1...3) * group)
        let extents = (0..<axes).map { _ in pick(1...7) }
        let kernel = (0..<axes).map { _ in pick(1...3) }
        let strides = (0..<axes).map { _ in pick(1...3) }
        let dilations = (0..<axes).map { _ in pick(1...2) }
        // Pads that make room for the window on every axis.
        let after = (0..<axes).map { _ in pick(0...2) }
        var before: [Int] = []
        var output: [Int] = []
        for axis in 0..<axes {
            let reach: Int = (kernel[axis] - 1) * dilations[axis] + 1
            before.append(pick(0...2) + max(reach - extents[axis], 0))
            let span: Int = extents[axis] + before[axis] + after[axis] - reach
            output.append(span / strides[axis] + 1)
        }
        let x = try tensor([batch, channels * group] + extents, &random)
        let w = try tensor([filters, channels] + kernel, &random)
        let b = try tensor([filters], &random)
        let node = Node(
            "Conv", opset: 17, inputs: ["x", "w", "b"], outputs: ["y"],
            attributes: [
                "strides": .ints(strides), "dilations": .ints(dilations), "pads": .ints(before + after),
                "group": .int(group),
            ])
        let ports = ["x", "w", "b"].map { Graph.Port($0, nil) }
        let graph = Graph(inputs: ports, outputs: [Graph.Port("y", nil)], nodes: [node])
        let y = try ReferenceRunner().run(Model(graph: graph, opsets: ["": 17]), inputs: ["x": x, "w": w, "b": b])[0]

        #expect(y.shape == [batch, filters] + output)
        let (xs, ws, bs, ys) = (x.doubles(), w.doubles(), b.doubles(), y.doubles())
        let (plane, taps, places) = (extents.reduce(1, *), kernel.reduce(1, *), output.reduce(1, *))
        for number in ys.indices {
            let n = number / places / filters
            let m = number / places % filters
            let position = split(number % places, output)
            var sum: Double = bs[m]
            for tap in 0..<taps {
                let reach = split(tap, kernel)
                var offset = 0
                var isInside = true
                for axis in 0..<axes {
                    let at: Int = position[axis] * strides[axis] + reach[axis] * dilations[axis] - before[axis]
                    isInside = isInside && at >= 0 && at < extents[axis]
                    offset = offset * extents[axis] + at
                }
                guard isInside else { continue }
                for c in 0..<channels {
                    let channel: Int = m / (filters / group) * channels + c
                    let factor: Double = ws[(m * channels + c) * taps + tap]
                    sum += factor * xs[(n * channels * group + channel) * plane + offset]
                }
            }
            let isClose: Bool = abs(ys[number] - sum) <= 1e-6 * max(abs(sum), 1)
            #expect(isClose, "element \(number)")
        }
    }

    private func tensor(_ shape: [Int], _ random: inout SeededGenerator) throws -> Tensor {
        let values = (0..<shape.reduce(1, *)).map { _ in Double.random(in: -1...1, using: &random) }
        return try Tensor(.float32, shape: shape, doubles: values)
    }

    private func split(_ number: Int, _ extents: [Int]) -> [Int] {
        var rest = number
        return extents.reversed().map { extent in
            defer { rest /= extent }
            return rest % extent
        }.reversed()
    }
}
