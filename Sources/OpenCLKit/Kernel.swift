import COpenCL

/// One kernel of a program with its arguments. Used by one thread, for one launch at a time.
package final class Kernel {
    let handle: cl_kernel
    let program: Program
    package let name: String
    /// Most work-items in a group of this kernel on its device.
    package let maxWorkGroupSize: Int
    /// Buffers set as arguments, kept alive: the driver holds no reference of its own until a launch.
    private var buffers: [Int: Buffer] = [:]

    private var functions: bg_opencl_functions { program.context.functions }

    package init(_ name: String, in program: Program) throws(OpenCLError) {
        let functions = program.context.functions
        var status: cl_int = 0
        let raw = functions.clCreateKernel(program.handle, name, &status)
        let handle = try created(raw, status, "clCreateKernel", detail: name)
        var size = 0
        let infoStatus = functions.clGetKernelWorkGroupInfo(
            handle, program.context.device.handle, cl_kernel_work_group_info(CL_KERNEL_WORK_GROUP_SIZE),
            MemoryLayout<Int>.size, &size, nil)
        guard infoStatus == CL_SUCCESS else {
            _ = functions.clReleaseKernel(handle)
            throw OpenCLError(status: infoStatus, function: "clGetKernelWorkGroupInfo", detail: name)
        }
        self.handle = handle
        self.program = program
        self.name = name
        self.maxWorkGroupSize = size
    }

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = functions.clReleaseKernel(handle)
    }

    package func setArgument(_ index: Int, _ buffer: Buffer) throws(OpenCLError) {
        var memory: cl_mem? = buffer.handle
        try set(index, MemoryLayout<cl_mem?>.size, &memory)
        buffers[index] = buffer
    }

    /// A number, a vector or a whole parameter struct, laid out as the kernel's C type is.
    package func setArgument<Value: BitwiseCopyable>(_ index: Int, value: Value) throws(OpenCLError) {
        var value = value
        // A C struct is as long as its stride; Swift's size leaves the padding at the end out.
        try set(index, MemoryLayout<Value>.stride, &value)
    }

    /// A parameter struct as its bytes.
    package func setArgument(_ index: Int, bytes: [UInt8]) throws(OpenCLError) {
        try bytes.withUnsafeBufferPointer { pointer throws(OpenCLError) in
            try set(index, pointer.count, pointer.baseAddress)
        }
    }

    /// Local memory of `byteCount` bytes for each work-group.
    package func setArgument(_ index: Int, localByteCount byteCount: Int) throws(OpenCLError) {
        let limit = program.context.device.info.localMemoryBytes
        guard byteCount <= limit else {
            // Checked here because some drivers abort the process instead of refusing.
            throw OpenCLError(
                status: OpenCLError.outOfResources, function: "clSetKernelArg",
                detail: "\(byteCount) bytes of local memory asked for, the device has \(limit)")
        }
        try set(index, byteCount, nil)
    }

    private func set(_ index: Int, _ byteCount: Int, _ value: UnsafeRawPointer?) throws(OpenCLError) {
        try check(
            functions.clSetKernelArg(handle, cl_uint(index), byteCount, value), "clSetKernelArg",
            detail: "\(name), argument \(index)")
    }
}
