import CChecksum
import COneDNN

/// Weights as a primitive wants them, with whatever oneDNN appends to them, or as a kernel does.
///
/// `@unchecked Sendable` is true because the bytes are not written to once they are made.
package struct PackedWeights: @unchecked Sendable {
    package let descriptor: MemoryDescriptor
    let buffer: AlignedBuffer

    package var byteCount: Int { descriptor.byteCount }

    /// The bytes, while this is held.
    package var heldBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer.bytes).prefix(byteCount))
    }

    /// Lays weights out.
    ///
    /// - Parameters:
    ///   - weights: The bytes, as `source` describes them.
    ///   - source: How they lie; float32 may become bfloat16 on the way.
    ///   - target: How a primitive wants them.
    ///   - stream: Where the work is done.
    /// - Throws: ``OneDNNError``, above all when the dimensions differ from the target's.
    package init(
        packing weights: UnsafeRawBufferPointer, _ source: MemoryDescriptor, as target: MemoryDescriptor,
        on stream: CPUStream
    ) throws(OneDNNError) {
        let buffer = AlignedBuffer(byteCount: target.byteCount)
        let reorder = try Primitive(Reorder(source, to: target), on: stream.engine)
        try stream.execute(reorder, [.input(.source, weights), .output(buffer)])
        self.init(buffer, target)
    }

    /// Weights that somebody else lays out.
    ///
    /// - Parameters:
    ///   - target: How they lie then.
    ///   - lay: Writes all of the bytes.
    package init(as target: MemoryDescriptor, _ lay: (UnsafeMutableRawBufferPointer) -> Void) {
        let buffer = AlignedBuffer(byteCount: target.byteCount)
        lay(buffer.bytes)
        self.init(buffer, target)
    }

    /// Weights that are laid out already and lie somewhere else.
    ///
    /// - Parameters:
    ///   - bytes: As many as the target has, at a multiple of 64. What they are is the caller's word.
    ///   - owner: Keeps them there, unchanged.
    ///   - target: How they lie.
    /// - Throws: ``OneDNNError/Code/weightsForeign`` for other bytes.
    package init(
        lying bytes: UnsafeRawBufferPointer, in owner: AnyObject, as target: MemoryDescriptor
    ) throws(OneDNNError) {
        guard bytes.count == target.byteCount, let buffer = AlignedBuffer(lying: bytes, in: owner) else {
            throw OneDNNError(.weightsForeign, "\(target)")
        }
        self.init(buffer, target)
    }

    private init(_ buffer: AlignedBuffer, _ descriptor: MemoryDescriptor) {
        self.buffer = buffer
        self.descriptor = descriptor
    }

    /// What bytes with that descriptor mean something to: oneDNN's version, the instruction set and the layout. It says
    /// nothing about which weights they are.
    package static func key(_ descriptor: MemoryDescriptor, on engine: CPUEngine) -> String {
        "oneDNN \(engine.version); \(engine.instructionSet); \(descriptor); \(descriptor.layoutDetails)"
    }
}

extension MemoryDescriptor {
    /// Everything that the short form leaves out, as text.
    fileprivate var layoutDetails: String {
        func numbers(_ values: dnnl_dims_t, _ count: Int32) -> String {
            withUnsafeBytes(of: values) {
                $0.bindMemory(to: Int64.self).prefix(Int(count)).map(String.init).joined(separator: ",")
            }
        }
        let extra = raw.extra
        var parts = [
            "padded \(numbers(raw.padded_dims, raw.ndims))", "offsets \(numbers(raw.padded_offsets, raw.ndims))",
            "from \(raw.offset0)",
            "extra \(extra.flags) \(extra.compensation_mask) \(extra.scale_adjust) \(extra.asymm_compensation_mask)",
        ]
        if raw.format_kind == dnnl_blocked {
            let blocking = raw.format_desc.blocking
            parts += [
                "strides \(numbers(blocking.strides, raw.ndims))",
                "blocks \(numbers(blocking.inner_blks, blocking.inner_nblks))",
                "of \(numbers(blocking.inner_idxs, blocking.inner_nblks))",
            ]
        } else {
            let format = withUnsafeBytes(of: raw.format_desc) { bg_xxh3_64($0.baseAddress, $0.count) }
            parts.append("format \(raw.format_kind.rawValue) \(format)")
        }
        return parts.joined(separator: "; ")
    }
}
