import COpenCL

/// Memory on a device, given back when the object goes away.
package final class Buffer {
    /// Where the bytes live.
    package enum Kind {
        /// Wherever the driver likes best.
        case device
        /// Memory the host maps cheaply: pinned on a GPU, shared on a CPU device.
        case hostAccessible
        /// The caller's own memory, used in place by CPU devices. It must outlive the buffer and is read or written by
        /// the host only inside ``CommandQueue/withMapped(_:_:_:)``.
        case shared(UnsafeMutableRawBufferPointer)
    }

    let handle: cl_mem
    let context: Context
    package let byteCount: Int

    /// - Throws: ``OpenCLError`` when the device cannot reserve `byteCount` bytes in one piece. Some drivers only find
    ///   out at the first use, so an enqueue can throw the same status.
    package init(byteCount: Int, kind: Kind = .device, in context: Context) throws(OpenCLError) {
        precondition(byteCount > 0, "an OpenCL buffer has at least one byte")
        let limit = context.device.info.maxAllocationBytes
        guard byteCount <= limit else {
            // Some drivers accept what they cannot keep, so the limit is held here.
            throw OpenCLError(
                status: OpenCLError.invalidBufferSize, function: "clCreateBuffer",
                detail: "\(byteCount) bytes asked for, the device allows \(limit) in one buffer")
        }
        var flags = cl_mem_flags(CL_MEM_READ_WRITE)
        var hostPointer: UnsafeMutableRawPointer?
        switch kind {
        case .device: break
        case .hostAccessible: flags |= cl_mem_flags(CL_MEM_ALLOC_HOST_PTR)
        case .shared(let memory):
            precondition(memory.count >= byteCount, "the shared memory is smaller than the buffer")
            flags |= cl_mem_flags(CL_MEM_USE_HOST_PTR)
            hostPointer = memory.baseAddress
        }
        var status: cl_int = 0
        let raw = context.functions.clCreateBuffer(context.handle, flags, byteCount, hostPointer, &status)
        self.handle = try created(raw, status, "clCreateBuffer", detail: "\(byteCount) bytes")
        self.context = context
        self.byteCount = byteCount
    }

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = context.functions.clReleaseMemObject(handle)
    }
}
