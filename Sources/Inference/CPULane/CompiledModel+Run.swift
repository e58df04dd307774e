import OneDNNKit

extension CompiledModel {
    /// Memory to run a compiled model in, for one thread at a time.
    package final class Run {
        private let model: CompiledModel
        private let stream: CPUStream
        private let memory: AlignedBuffer

        /// - Throws: `engine`.
        package init(_ model: CompiledModel) throws(ModelError) {
            self.model = model
            memory = AlignedBuffer(byteCount: model.arenaByteCount)
            do throws(OneDNNError) {
                stream = try CPUStream(on: model.engine)
            } catch {
                throw .engine("\(error)")
            }
            stream.reserveScratchpad(
                for: model.steps.compactMap {
                    if case .execute(let primitive, _, _) = $0.action { primitive } else { nil }
                })
        }

        /// - Parameters:
        ///   - inputs: One tensor for each input, by name, of the types that the model was compiled for.
        ///   - shouldStop: Is asked before each step.
        /// - Returns: The outputs by name.
        /// - Throws: `wrongInput` where inputs are missing or do not fit, `stopped`, `engine`, and what plain evaluations
        ///   throw: `wrongValue`, `tooLarge`, `unsupported`.
        package func execute(
            _ inputs: [String: Tensor], shouldStop: () -> Bool = { false }
        ) throws(ModelError) -> [String: Tensor] {
            for ports in [model.declared, model.inputs] {
                try model.runner.check(inputs, of: Graph(inputs: ports, outputs: [], nodes: []))
            }
            return try memory.withUnsafeMutableBytes { (arena) throws(ModelError) in
                var tensors = model.scope.merging(inputs) { $1 }
                for step in model.steps {
                    if shouldStop() {
                        throw ModelError(code: .stopped, sentence: "the run was told to stop before \(step.place)")
                    }
                    do throws(ModelError) {
                        try perform(step, &tensors, arena)
                    } catch {
                        throw error.at(step.place)
                    }
                    for name in step.released { tensors[name] = nil }
                }
                var outputs: [String: Tensor] = [:]
                for name in model.outputs {
                    guard let tensor = tensors[name] else { throw .damaged("the output \"\(name)\" was not made") }
                    outputs[name] = tensor
                }
                return outputs
            }
        }

        private func perform(
            _ step: Step, _ tensors: inout [String: Tensor], _ arena: UnsafeMutableRawBufferPointer
        ) throws(ModelError) {
            switch step.action {
            case .evaluate(let node): try model.runner.evaluate(node, &tensors)
            case .execute(let primitive, let inputs, let buffer):
                var operands: [Operand] = []
                for input in inputs {
                    if case .constant(let number) = input.place, case .packed(let weights) = model.constants[number] {
                        operands.append(.input(input.argument, weights))
                    } else {
                        operands.append(.input(input.argument, try bytes(input.place, tensors, arena)))
                    }
                }
                operands.append(.output(part(buffer, of: arena)))
                do throws(OneDNNError) {
                    try stream.execute(primitive, operands)
                } catch {
                    throw .engine("\(error)")
                }
                // What operands point into is held by the run until here.
                withExtendedLifetime(tensors) {}
            case .hold(let place, let name, let shape):
                let source = try bytes(place, tensors, arena)
                tensors[name] = try Tensor(.float32, shape: shape) { target throws(ModelError) in
                    guard source.count >= target.count else {
                        throw .damaged("\"\(name)\" has \(source.count) bytes, not \(target.count)")
                    }
                    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(target.count)))
                }
            }
        }

        private func bytes(
            _ place: Place, _ tensors: [String: Tensor], _ arena: UnsafeMutableRawBufferPointer
        ) throws(ModelError) -> UnsafeRawBufferPointer {
            switch place {
            case .arena(let number): return UnsafeRawBufferPointer(part(number, of: arena))
            case .tensor(let name):
                guard let tensor = tensors[name] else { throw .damaged("its input \"\(name)\" was not made") }
                return tensor.heldBytes
            case .constant(let number):
                guard case .tensor(let tensor) = model.constants[number] else {
                    preconditionFailure("packed weights are passed as such, and others are kept while they are read")
                }
                return tensor.heldBytes
            }
        }

        private func part(_ number: Int, of arena: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
            let offset = model.arena.offsets[number]
            return UnsafeMutableRawBufferPointer(rebasing: arena[offset..<(offset + model.buffers[number])])
        }
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
