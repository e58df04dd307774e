import OpenCLKit

extension OpenCLModel {
    /// The same for one who does not want to know where the run is.
    package func execute(
        _ inputs: [String: Tensor], shouldStop: () -> Bool = { false }
    ) throws(ModelError) -> [String: Tensor] {
        try execute(inputs, shouldStopAt: { _ in shouldStop() })
    }

    /// Runs the model.
    ///
    /// - Parameters:
    ///   - inputs: One tensor for each input, by name, of the types that the model was compiled for.
    ///   - shouldStopAt: Is asked before each group of launches, before each step on the host, and before each run of a
    ///     subgraph within one.
    /// - Returns: The outputs by name.
    /// - Throws: `wrongInput` where inputs are missing or do not fit, `stopped` when what was under way has ended, `engine`
    ///   where OpenCL fails, and what plain evaluations throw: `wrongValue`, `tooLarge`, `unsupported`.
    package func execute(
        _ inputs: [String: Tensor], shouldStopAt: (RunPoint) -> Bool
    ) throws(ModelError) -> [String: Tensor] {
        for ports in [declared, self.inputs] {
            try runner.check(inputs, of: Graph(inputs: ports, outputs: [], nodes: []))
        }
        let arena = try arena()
        var pace = LaunchPace(device.tuning)
        var tensors = scope.merging(inputs) { $1 }
        var launches = parameters[...]
        for step in steps {
            if (pace.isAtBoundary || !step.isLaunch) && shouldStopAt(.step) {
                try onDevice { () throws(OpenCLError) in try device.queue.finish() }
                throw ModelError(code: .stopped, sentence: "the run was told to stop before \(step.place)")
            }
            do throws(ModelError) {
                if case .launch(let launch) = step.action {
                    try enqueue(launch, launches.removeFirst(), arena)
                    if pace.launched(launch.multiplyAdds) {
                        try onDevice { () throws(OpenCLError) in try device.queue.finish() }
                    }
                } else {
                    try perform(step.action, &tensors, arena, shouldStopAt)
                    if case .hold = step.action { pace.waited() }
                }
            } catch {
                throw error.at(step.place)
            }
            for name in step.released { tensors[name] = nil }
        }
        var results: [String: Tensor] = [:]
        for name in outputs {
            guard let tensor = tensors[name] else { throw .damaged("the output \"\(name)\" was not made") }
            results[name] = tensor
        }
        return results
    }

    private func enqueue(_ launch: Launch, _ parameters: [UInt8], _ arena: Buffer) throws(ModelError) {
        try onDevice { () throws(OpenCLError) in
            let kernel = try device.kernel(launch.kernel)
            try kernel.setArgument(0, arena)
            try kernel.setArgument(1, weights)
            try kernel.setArgument(2, bytes: parameters)
            try device.queue.enqueue(kernel, global: launch.global, local: launch.local)
        }
    }

    /// A step on the host, or between host and device.
    private func perform(
        _ action: DeviceStep.Action, _ tensors: inout [String: Tensor], _ arena: Buffer,
        _ shouldStopAt: (RunPoint) -> Bool
    ) throws(ModelError) {
        switch action {
        case .launch: preconditionFailure("launches are enqueued")
        case .evaluate(let node): try runner.evaluate(node, &tensors, shouldStopAt: shouldStopAt)
        case .hold(let value, let name): tensors[name] = try read(value, arena)
        case .upload(let name, let buffer):
            try upload(try made(name, tensors), to: arena, at: buffer)
        case .uploadFlags(let name, let buffer):
            let given = try made(name, tensors)
            try upload(
                try Tensor(.float32, shape: given.shape, elements: given.flags().map { $0 ? 1 : 0 as Float }),
                to: arena, at: buffer)
        case .uploadPositions(let name, let extent, let buffer):
            let given = try made(name, tensors)
            let positions = try Operators.positions(given.indices(), extent: extent)
            try onDevice { () throws(OpenCLError) in
                try device.write(words: positions.map { Int32($0) }, to: arena, at: locations.arena[buffer])
            }
        }
    }

    private func made(_ name: String, _ tensors: [String: Tensor]) throws(ModelError) -> Tensor {
        guard let tensor = tensors[name] else { throw .damaged("its input \"\(name)\" was not made") }
        return tensor
    }

    private func upload(_ tensor: Tensor, to arena: Buffer, at number: Int) throws(ModelError) {
        try onDevice { () throws(OpenCLError) in
            try device.write(tensor.heldBytes, to: arena, at: locations.arena[number])
        }
        withExtendedLifetime(tensor) {}
    }

    private func read(_ value: DeviceValue, _ arena: Buffer) throws(ModelError) -> Tensor {
        let (buffer, offset) =
            switch value.place {
            case .arena(let number): (arena, locations.arena[number])
            case .constant(let number): (weights, locations.constants[number])
            }
        return try Tensor(.float32, shape: value.shape) { bytes throws(ModelError) in
            try onDevice { () throws(OpenCLError) in
                try device.read(into: bytes, from: buffer, at: offset + value.offset)
            }
        }
    }
}

/// Calls OpenCL, whose failures are those of an engine.
func onDevice<Answer>(_ body: () throws(OpenCLError) -> Answer) throws(ModelError) -> Answer {
    do throws(OpenCLError) {
        return try body()
    } catch {
        throw .engine("\(error)")
    }
}

/// When a run waits for its device: after so many launches, or so much work, whichever comes first.
struct LaunchPace {
    private let tuning: KernelTuning
    private var launches = 0
    private var multiplyAdds = 0

    init(_ tuning: KernelTuning) { self.tuning = tuning }

    /// Whether nothing is under way.
    var isAtBoundary: Bool { launches == 0 }

    /// - Returns: Whether to wait now.
    mutating func launched(_ work: Int) -> Bool {
        launches += 1
        multiplyAdds += work
        guard launches >= tuning.launchesAtOnce || multiplyAdds >= tuning.multiplyAddsAtOnce else { return false }
        waited()
        return true
    }

    /// The device has caught up.
    mutating func waited() {
        launches = 0
        multiplyAdds = 0
    }
}

extension DeviceStep {
    fileprivate var isLaunch: Bool { if case .launch = action { true } else { false } }
}
