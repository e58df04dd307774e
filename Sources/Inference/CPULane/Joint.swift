import OneDNNKit

/// A concatenation whose sources may be made where they stand in its result, so that nothing is left for it to do.
package struct Joint: Sendable {
    /// Of the result.
    var buffer: Int
    var parts: [Part]

    /// Where a buffer of the arena lies within another one.
    package struct Part: Sendable {
        var buffer: Int
        /// Bytes.
        var offset: Int

        package init(buffer: Int, offset: Int) {
            self.buffer = buffer
            self.offset = offset
        }
    }

    package init(buffer: Int, parts: [Part]) {
        self.buffer = buffer
        self.parts = parts
    }

    /// Nil where a source is no whole buffer, is there twice, or does not lie as its part of the result does.
    init?(_ primitive: Primitive, _ inputs: [StepInput], axis: Int, buffer: Int, buffers: [Int]) {
        guard let whole = primitive.descriptor(of: .destination), whole.type == .float32 else { return nil }
        var parts: [Part] = []
        var start = 0
        for input in inputs {
            guard case .arena(let number) = input.place, input.offset == 0,
                !parts.contains(where: { $0.buffer == number }),
                let part = primitive.descriptor(of: input.argument), part.byteCount == buffers[number],
                let offset = whole.byteOffset(of: part, axis: axis, start: start),
                offset % ArenaPlan.alignment == 0, offset + part.byteCount <= whole.byteCount
            else { return nil }
            parts.append(Part(buffer: number, offset: offset))
            start += part.dimensions[axis]
        }
        self.buffer = buffer
        self.parts = parts
    }
}

extension [Step] {
    /// The steps without concatenations, as far as values can lie in their results from the beginning and the arena does not
    /// grow by it; and where everything lies then. `buffers` are their sizes in bytes, by number.
    func joined(_ joints: [Joint], _ buffers: [Int]) -> (steps: [Step], arena: ArenaPlan) {
        var (steps, nesting) = (self, BufferNesting())
        var arena = ArenaPlan(steps.requests(buffers))
        for joint in joints {
            guard let more = nesting.adding(joint) else { continue }
            let fewer = steps.filter { step in
                if case .execute(_, _, joint.buffer) = step.action { false } else { true }
            }
            let plan = ArenaPlan(fewer.requests(buffers, more), more)
            if plan.byteCount <= arena.byteCount { (steps, nesting, arena) = (fewer, more, plan) }
        }
        return (steps, arena)
    }
}
