import Foundation
import Glibc
import Inference
import OpenCLKit

/// The same model on the CPU lane and on an OpenCL device, run by run in turn.
struct LaneComparison {
    /// Of several rounds.
    struct Figures {
        /// Seconds of processor time of a run, of all threads.
        var cpuLane: Double
        var openCL: Double
        /// OpenCL divided by the CPU lane, the median of the rounds' ratios.
        var ratio: Double
        /// The largest difference of an element, relative to the largest element.
        var difference: Double
        var plainNodes: Int
    }

    private let model: Model
    private let inputs: [String: Tensor]
    private let run: CompiledModel.Run
    private let onDevice: OpenCLModel

    init(_ model: Model, inputs: [String: Tensor], device: InferenceDevice) throws {
        self.model = model
        self.inputs = inputs
        let types = inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
        run = try CompiledModel.Run(CompiledModel(model, inputs: types))
        onDevice = try OpenCLModel(model, on: device, inputs: types)
    }

    /// Each lane runs in each round, for at least `slice` seconds of processor time.
    func measured(rounds: Int, slice: Double) throws -> Figures {
        let difference = try self.difference()
        // The first run of each has compiled and touched everything.
        let counts = [
            max(1, Int(slice / max(try seconds(1) { _ = try run.execute(inputs) }, 1e-6))),
            max(1, Int(slice / max(try seconds(1) { _ = try onDevice.execute(inputs) }, 1e-6))),
        ]
        var times: [[Double]] = [[], []]
        for _ in 0..<rounds {
            times[0].append(try seconds(counts[0]) { _ = try run.execute(inputs) })
            times[1].append(try seconds(counts[1]) { _ = try onDevice.execute(inputs) })
        }
        func median(_ list: [Double]) -> Double { list.sorted()[list.count / 2] }
        return Figures(
            cpuLane: median(times[0]), openCL: median(times[1]), ratio: median(zip(times[1], times[0]).map { $0 / $1 }),
            difference: difference, plainNodes: onDevice.plainNodes.count)
    }

    private func difference() throws -> Double {
        let name = model.graph.outputs[0].name
        let (own, other) = (try onDevice.execute(inputs)[name], try run.execute(inputs)[name])
        let (found, wanted) = (own?.doubles() ?? [], other?.doubles() ?? [])
        let scale = wanted.reduce(1e-30) { max($0, abs($1)) }
        return zip(found, wanted).reduce(0) { max($0, abs($1.0 - $1.1)) } / scale
    }

    /// Processor time of the process a run, however busy the machine is.
    private func seconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let start = now()
        for _ in 0..<count { try body() }
        return (now() - start) / Double(count)
    }
}

/// A layer as a model of one node with its activation, or of several such one behind the other.
struct LaneLayer {
    let name: String
    /// Of all nodes.
    let multiplyAdds: Int
    let model: Model
    let inputs: [String: Tensor]

    static func all() throws -> [LaneLayer] {
        var layers = [try convolution(3, 64, size: 224, kernel: 7, stride: 2)]
        for (inputs, outputs, size, kernel, stride) in [
            (64, 64, 56, 1, 1), (64, 64, 56, 3, 1), (64, 256, 56, 1, 1), (256, 128, 56, 1, 1), (128, 128, 56, 3, 2),
            (128, 128, 28, 3, 1), (128, 512, 28, 1, 1), (256, 512, 56, 1, 2), (256, 256, 14, 3, 1),
            (256, 1_024, 14, 1, 1), (1_024, 256, 14, 1, 1), (512, 512, 7, 3, 1), (512, 2_048, 7, 1, 1),
        ] {
            layers.append(try convolution(inputs, outputs, size: size, kernel: kernel, stride: stride))
        }
        for (channels, size, stride) in [(144, 56, 1), (144, 56, 2), (576, 14, 1)] {
            layers.append(try convolution(channels, channels, size: size, kernel: 3, stride: stride, groups: channels))
        }
        layers.append(try product(128, 384, 1_536))
        layers.append(try product(197, 768, 768))
        return layers
    }

    /// Layers whose results have the shape of their inputs, `times` of each one behind the other.
    static func chains(batch: Int, times: Int) throws -> [LaneLayer] {
        let convolutions = [
            (64, 56, 3, 1), (128, 28, 3, 1), (256, 14, 3, 1), (512, 7, 3, 1), (256, 56, 1, 1), (1_024, 14, 1, 1),
            (144, 56, 3, 144),
        ]
        return try convolutions.map { channels, size, kernel, groups in
            try convolution(
                channels, channels, size: size, kernel: kernel, stride: 1, groups: groups, batch: batch, times: times)
        }
            + [(1_024, 1_024), (4_096, 4_096), (6_304, 768)].map { rows, columns in
                try product(rows, columns, columns, times: times)
            }
    }

    /// A whole model, with inputs from a seed.
    init(_ path: String, batch: Int) throws {
        model = try ModelImporter().load(path: path)
        inputs = try SampleInputs.tensors(model, batch: batch)
        name = (path as NSString).lastPathComponent
        let open = model.graph.inputs.flatMap { $0.type?.shape ?? [] }.compactMap { extent -> (String, Int)? in
            if case .symbol(let name) = extent { (name, batch) } else { nil }
        }
        let summary = try ModelSummary(model, extents: Dictionary(open) { first, _ in first })
        multiplyAdds = summary.multiplyAdds ?? 0
    }

    private init(name: String, multiplyAdds: Int, model: Model, inputs: [String: Tensor]) {
        self.name = name
        self.multiplyAdds = multiplyAdds
        self.model = model
        self.inputs = inputs
    }

    private static func convolution(
        _ inputs: Int, _ outputs: Int, size: Int, kernel: Int, stride: Int, groups: Int = 1, batch: Int = 1,
        times: Int = 1
    ) throws -> LaneLayer {
        let pad = (kernel - 1) / 2
        let conv = Node(
            "Conv", opset: 11, inputs: ["x", "w", "b"], outputs: ["c"],
            attributes: [
                "pads": .ints([pad, pad, pad, pad]), "strides": .ints([stride, stride]), "group": .int(groups),
            ])
        let name =
            "\(kernel)x\(kernel)\(stride > 1 ? " stride \(stride)" : ""), "
            + (groups > 1 ? "depthwise \(inputs)" : "\(inputs) to \(outputs)") + ", \(size)x\(size)"
        let side = size / stride
        return try layer(
            name, multiplyAdds: batch * side * side * outputs * inputs / groups * kernel * kernel, conv,
            input: [batch, inputs, size, size],
            constants: ["w": [outputs, inputs / groups, kernel, kernel], "b": [outputs]], times: times)
    }

    private static func product(_ rows: Int, _ depth: Int, _ columns: Int, times: Int = 1) throws -> LaneLayer {
        try layer(
            "product \(rows) x \(depth) x \(columns)", multiplyAdds: rows * depth * columns,
            Node("MatMul", opset: 13, inputs: ["x", "w"], outputs: ["c"]), input: [rows, depth],
            constants: ["w": [depth, columns]], times: times)
    }

    private static func layer(
        _ name: String, multiplyAdds: Int, _ node: Node, input: [Int], constants: [String: [Int]], times: Int
    ) throws -> LaneLayer {
        let nodes = (0..<times).flatMap { place -> [Node] in
            var layer = node
            layer.inputs[0] = place == 0 ? "x" : "y\(place)"
            layer.outputs = ["c\(place)"]
            let output = place == times - 1 ? "y" : "y\(place + 1)"
            return [layer, Node("Relu", opset: 13, inputs: ["c\(place)"], outputs: [output])]
        }
        let graph = Graph(
            inputs: [Graph.Port("x", TensorType(.float32, extents: input))], outputs: [Graph.Port("y", nil)],
            initialisers: try constants.mapValues { try tensor($0) },
            nodes: nodes)
        return LaneLayer(
            name: name, multiplyAdds: multiplyAdds * times, model: Model(graph: graph, opsets: ["": 13]),
            inputs: ["x": try tensor(input)])
    }

    /// Small numbers of both signs.
    private static func tensor(_ shape: [Int]) throws -> Tensor {
        let count = shape.reduce(1, *)
        return try Tensor(.float32, shape: shape, elements: (0..<count).map { Float(($0 * 37) % 101) / 101 - 0.5 })
    }
}
