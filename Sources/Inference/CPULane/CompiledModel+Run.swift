import OneDNNKit

extension CompiledModel {
    /// Memory to run a compiled model in, for one thread at a time.
    package final class Run {
        private let model: CompiledModel
        private let stream: CPUStream
        private let memory: AlignedBuffer
        /// By step; nil for those that are no primitive.
        private let prepared: [Prepared?]
        /// By step.
        private let briefs: [Brief]
        /// The inputs as the file declares them, and as they were compiled for.
        private let ports: [Graph]

        /// A primitive with the buffers that are the same in each run, and the inputs that are not.
        private struct Prepared {
            var execution: PreparedExecution
            var varying: [StepInput]
        }

        /// All that most steps need: nothing here is counted by reference, since caches have forgotten the counts while the
        /// step before computed.
        private struct Brief {
            /// For a primitive whose operands are the same in each run.
            var call: PreparedExecution.Call?
            var releases: Bool
            var firstChoice: Float?
        }

        /// - Throws: `engine`.
        package init(_ model: CompiledModel) throws(ModelError) {
            self.model = model
            ports = [model.declared, model.inputs].map { Graph(inputs: $0, outputs: [], nodes: []) }
            let memory = AlignedBuffer(byteCount: model.arenaByteCount)
            self.memory = memory
            do throws(OneDNNError) {
                let stream = try CPUStream(on: model.engine)
                self.stream = stream
                stream.reserveScratchpad(byteCount: model.scratchpadByteCount)
                // The arena lives as long as the run does.
                let prepared = try memory.withUnsafeMutableBytes { (arena) throws(OneDNNError) in
                    try model.steps.map { (step) throws(OneDNNError) in
                        try Self.prepared(step, model, arena, stream)
                    }
                }
                self.prepared = prepared
                briefs = zip(model.steps, prepared).map { step, prepared in
                    Brief(
                        call: prepared.flatMap { $0.varying.isEmpty ? $0.execution.call : nil },
                        releases: !step.released.isEmpty, firstChoice: step.firstChoice)
                }
            } catch {
                throw .engine("\(error)")
            }
        }

        private static func prepared(
            _ step: Step, _ model: CompiledModel, _ arena: UnsafeMutableRawBufferPointer, _ stream: CPUStream
        ) throws(OneDNNError) -> Prepared? {
            guard case .execute(let primitive, let inputs, let buffer) = step.action else { return nil }
            var varying: [StepInput] = []
            var operands = [Operand.output(model.part(buffer, of: arena))]
            for input in inputs {
                switch input.place {
                case .tensor: varying.append(input)
                case .arena(let number):
                    operands.append(
                        .input(input.argument, rest(UnsafeRawBufferPointer(model.part(number, of: arena)), input)))
                case .constant(let number):
                    if case .packed(let weights) = model.constants[number] {
                        operands.append(.input(input.argument, weights))
                    } else {
                        operands.append(.input(input.argument, rest(model.bytes(ofConstant: number), input)))
                    }
                }
            }
            return Prepared(execution: try PreparedExecution(primitive, operands, on: stream), varying: varying)
        }

        /// The same for one who does not want to know where the run is.
        package func execute(
            _ inputs: [String: Tensor], profile: RunProfile? = nil, shouldStop: () -> Bool = { false }
        ) throws(ModelError) -> [String: Tensor] {
            try execute(inputs, profile: profile, shouldStopAt: { _ in shouldStop() })
        }

        /// - Parameters:
        ///   - inputs: One tensor for each input, by name, of the types that the model was compiled for.
        ///   - profile: Is told how long each step takes.
        ///   - shouldStopAt: Is asked before each step, and before each run of a subgraph within one.
        /// - Returns: The outputs by name.
        /// - Throws: `wrongInput` where inputs are missing or do not fit, `stopped`, `engine`, and what plain evaluations
        ///   throw: `wrongValue`, `tooLarge`, `unsupported`.
        package func execute(
            _ inputs: [String: Tensor], profile: RunProfile? = nil, shouldStopAt: (RunPoint) -> Bool
        ) throws(ModelError) -> [String: Tensor] {
            for graph in ports { try model.runner.check(inputs, of: graph) }
            var tensors = model.scope.merging(inputs) { $1 }
            var needsOther = false
            InvalidOperations.forget()
            for number in briefs.indices {
                if shouldStopAt(.step) {
                    throw ModelError(
                        code: .stopped, sentence: "the run was told to stop before \(model.steps[number].place)")
                }
                let brief = briefs[number]
                do throws(ModelError) {
                    if let profile {
                        try profile.measure(number) { () throws(ModelError) in
                            try perform(number, &tensors, shouldStopAt)
                        }
                    } else if let outcome = brief.call?.compute() {
                        if !outcome.isGood {
                            try engine { () throws(OneDNNError) in try primitive(number).execution.check(outcome) }
                        }
                    } else {
                        try perform(number, &tensors, shouldStopAt)
                    }
                } catch {
                    throw error.at(model.steps[number].place)
                }
                if let choice = brief.firstChoice, !needsOther {
                    needsOther = Self.has(choice, in: result(ofStep: number))
                }
                if brief.releases {
                    for name in model.steps[number].released { tensors[name] = nil }
                }
            }
            if let nonFinite = model.nonFinite, needsOther || InvalidOperations.haveOccurred {
                return try Run(nonFinite.model()).execute(inputs, shouldStopAt: shouldStopAt)
            }
            var outputs: [String: Tensor] = [:]
            for name in model.outputs {
                guard let tensor = tensors[name] else { throw .damaged("the output \"\(name)\" was not made") }
                outputs[name] = tensor
            }
            return outputs
        }

        private func perform(
            _ number: Int, _ tensors: inout [String: Tensor], _ shouldStopAt: (RunPoint) -> Bool
        ) throws(ModelError) {
            switch model.steps[number].action {
            case .evaluate(let node):
                let haveOccurred = InvalidOperations.haveOccurred
                try model.runner.evaluate(node, &tensors, shouldStopAt: shouldStopAt)
                // Plain results are right, whatever flags they raised.
                if !haveOccurred { InvalidOperations.forget() }
            case .execute:
                let prepared = primitive(number)
                for input in prepared.varying {
                    let bytes = try bytes(input, tensors)
                    try engine { () throws(OneDNNError) in
                        try prepared.execution.pass(.input(input.argument, bytes))
                    }
                }
                try engine { () throws(OneDNNError) in try prepared.execution.execute() }
                // What varying operands point into is held by the run until here.
                withExtendedLifetime(tensors) {}
            case .convolve(let convolution, let inputs, let buffer):
                let operands = try inputs.map { input throws(ModelError) in try bytes(input, tensors) }
                try memory.withUnsafeMutableBytes { (arena) throws(ModelError) in
                    try convolution.compute(
                        operands, to: model.part(buffer, of: arena), in: stream.scratchpad)
                }
                withExtendedLifetime(tensors) {}
            case .gather(let gather, let input, let indices, let buffer):
                guard let indices = tensors[indices] else { throw .damaged("its indices were not made") }
                let source = try bytes(input, tensors)
                try memory.withUnsafeMutableBytes { (arena) throws(ModelError) in
                    try gather.copy(source, indices, to: model.part(buffer, of: arena))
                }
                withExtendedLifetime(tensors) {}
            case .map(let map, let input, let buffer):
                let source = try bytes(input, tensors)
                try memory.withUnsafeMutableBytes { (arena) throws(ModelError) in
                    try map.apply(source, to: model.part(buffer, of: arena))
                }
                withExtendedLifetime(tensors) {}
            case .choose(let choice, let condition, let first, let second, let buffer):
                guard let flags = tensors[condition] else { throw .damaged("its condition was not made") }
                let (one, other) = (try bytes(first, tensors), try bytes(second, tensors))
                try memory.withUnsafeMutableBytes { (arena) throws(ModelError) in
                    try choice.choose(flags.heldBytes, one, other, to: model.part(buffer, of: arena))
                }
                withExtendedLifetime(tensors) {}
            case .hold(let input, let name, let type, let shape):
                let source = try bytes(input, tensors)
                tensors[name] = try Tensor(unset: type, shape: shape) { target throws(ModelError) in
                    guard source.count >= target.count else {
                        throw .damaged("\"\(name)\" has \(source.count) bytes, not \(target.count)")
                    }
                    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(target.count)))
                }
            }
        }

        /// The float32 that a primitive has just made.
        private func result(ofStep number: Int) -> UnsafeRawBufferPointer {
            guard case .execute(_, _, let buffer) = model.steps[number].action else {
                preconditionFailure("only primitives choose")
            }
            return memory.withUnsafeMutableBytes { UnsafeRawBufferPointer(model.part(buffer, of: $0)) }
        }

        private static func has(_ number: Float, in bytes: UnsafeRawBufferPointer) -> Bool {
            let lanes = 16
            let count = bytes.count / 4, whole = count / lanes * lanes
            var found = SIMDMask<SIMD16<Int32>>(repeating: false)
            for place in stride(from: 0, to: whole, by: lanes) {
                found .|= bytes.loadUnaligned(fromByteOffset: 4 * place, as: SIMD16<Float>.self) .== number
            }
            return any(found)
                || (whole..<count).contains { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) == number }
        }

        private func primitive(_ number: Int) -> Prepared {
            guard let prepared = prepared[number] else { preconditionFailure("primitives are prepared") }
            return prepared
        }

        private func engine(_ body: () throws(OneDNNError) -> Void) throws(ModelError) {
            do throws(OneDNNError) {
                try body()
            } catch {
                throw .engine("\(error)")
            }
        }

        /// To be used while the run and the tensors are held.
        private func bytes(_ input: StepInput, _ tensors: [String: Tensor]) throws(ModelError) -> UnsafeRawBufferPointer
        {
            switch input.place {
            case .arena(let number):
                return memory.withUnsafeMutableBytes {
                    Self.rest(UnsafeRawBufferPointer(model.part(number, of: $0)), input)
                }
            case .tensor(let name):
                guard let tensor = tensors[name] else { throw .damaged("its input \"\(name)\" was not made") }
                return Self.rest(tensor.heldBytes, input)
            case .constant(let number):
                return Self.rest(model.bytes(ofConstant: number), input)
            }
        }

        private static func rest(_ bytes: UnsafeRawBufferPointer, _ input: StepInput) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes.dropFirst(input.offset))
        }
    }

    /// The bytes of a constant, while the model is held.
    fileprivate func bytes(ofConstant number: Int) -> UnsafeRawBufferPointer {
        switch constants[number] {
        case .packed(let weights): weights.heldBytes
        case .tensor(let tensor): tensor.heldBytes
        case .unused: preconditionFailure("constants are kept while they are read")
        }
    }

    /// A buffer of the arena.
    fileprivate func part(_ number: Int, of arena: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        let offset = self.arena.offsets[number]
        return UnsafeMutableRawBufferPointer(rebasing: arena[offset..<(offset + buffers[number])])
    }
}

extension CompiledModel {
    /// Looks whether this machine has what computes.
    ///
    /// - Throws: `engine` where oneDNN is missing or does not suit the processor.
    package static func checkEngine() throws(ModelError) {
        do throws(OneDNNError) {
            _ = try CPUEngine()
        } catch {
            throw .engine("\(error)")
        }
    }
}
