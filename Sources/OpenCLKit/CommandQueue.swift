import COpenCL

/// The order in which one device carries out what it is given. In order: each command sees what those before it wrote.
package final class CommandQueue {
    let handle: cl_command_queue
    package let context: Context

    private var functions: bg_opencl_functions { context.functions }

    package init(context: Context) throws(OpenCLError) {
        var status: cl_int = 0
        let raw = context.functions.clCreateCommandQueue(context.handle, context.device.handle, 0, &status)
        self.handle = try created(raw, status, "clCreateCommandQueue")
        self.context = context
    }

    deinit {
        // What was enqueued may use memory that is given back next; a failing device has nothing left to wait for.
        _ = functions.clFinish(handle)
        _ = functions.clReleaseCommandQueue(handle)
    }

    /// Copies `bytes` to the buffer, and returns when they may be changed again.
    package func write(
        _ bytes: UnsafeRawBufferPointer, to buffer: Buffer, at offset: Int = 0
    ) throws(OpenCLError) {
        precondition(offset >= 0 && bytes.count <= buffer.byteCount - offset, "written past the end of a buffer")
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        try check(
            functions.clEnqueueWriteBuffer(
                handle, buffer.handle, cl_bool(CL_TRUE), offset, bytes.count, start, 0, nil, nil),
            "clEnqueueWriteBuffer")
    }

    /// Waits for what was enqueued before, then fills `bytes` from the buffer.
    package func read(
        into bytes: UnsafeMutableRawBufferPointer, from buffer: Buffer, at offset: Int = 0
    ) throws(OpenCLError) {
        precondition(offset >= 0 && bytes.count <= buffer.byteCount - offset, "read past the end of a buffer")
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        try check(
            functions.clEnqueueReadBuffer(
                handle, buffer.handle, cl_bool(CL_TRUE), offset, bytes.count, start, 0, nil, nil),
            "clEnqueueReadBuffer")
    }

    package struct MapAccess: OptionSet, Sendable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static let read = MapAccess(rawValue: UInt64(CL_MAP_READ))
        package static let write = MapAccess(rawValue: UInt64(CL_MAP_WRITE))
    }

    /// Waits for what was enqueued before and lends the buffer's bytes to `body`, without a copy where the device allows
    /// it. Commands enqueued afterwards see what `body` wrote.
    package func withMapped(
        _ buffer: Buffer, _ access: MapAccess, _ body: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(OpenCLError) {
        var status: cl_int = 0
        let pointer = functions.clEnqueueMapBuffer(
            handle, buffer.handle, cl_bool(CL_TRUE), access.rawValue, 0, buffer.byteCount, 0, nil, nil, &status)
        try check(status, "clEnqueueMapBuffer")
        guard let pointer else {
            throw OpenCLError(status: OpenCLError.outOfResources, function: "clEnqueueMapBuffer")
        }
        body(UnsafeMutableRawBufferPointer(start: pointer, count: buffer.byteCount))
        try check(
            functions.clEnqueueUnmapMemObject(handle, buffer.handle, pointer, 0, nil, nil), "clEnqueueUnmapMemObject")
    }

    /// Starts `kernel` on at least `global` work-items; the count is rounded up to whole work-groups, so the kernel
    /// itself leaves out what lies beyond.
    ///
    /// Keep `local` the same for every launch of a kernel: some drivers compile again for each new size.
    package func enqueue(_ kernel: Kernel, global: Int, local: Int) throws(OpenCLError) {
        try launch(kernel, dimensions: 1, global: (global, 1), local: (local, 1))
    }

    /// The same over `global.x` by `global.y` work-items.
    package func enqueue(
        _ kernel: Kernel, global: (x: Int, y: Int), local: (x: Int, y: Int)
    ) throws(OpenCLError) {
        try launch(kernel, dimensions: 2, global: (global.x, global.y), local: (local.x, local.y))
    }

    /// Nothing here reaches the heap: it runs for each chunk.
    private func launch(
        _ kernel: Kernel, dimensions: cl_uint, global: (Int, Int), local: (Int, Int)
    ) throws(OpenCLError) {
        precondition(global.0 > 0 && global.1 > 0 && local.0 > 0 && local.1 > 0, "a launch has work-items")
        let groupSize = local.0 * local.1
        guard groupSize <= kernel.maxWorkGroupSize else {
            // Checked here because some drivers abort the process instead of refusing.
            throw OpenCLError(
                status: OpenCLError.invalidWorkGroupSize, function: "clEnqueueNDRangeKernel",
                detail: "\(kernel.name) allows \(kernel.maxWorkGroupSize) work-items a group, not \(groupSize)")
        }
        let groups = ((global.0 + local.0 - 1) / local.0, (global.1 + local.1 - 1) / local.1)
        let rounded = (groups.0 * local.0, groups.1 * local.1)
        let status = withUnsafeBytes(of: rounded) { globalBytes in
            withUnsafeBytes(of: local) { localBytes in
                functions.clEnqueueNDRangeKernel(
                    handle, kernel.handle, dimensions, nil, globalBytes.assumingMemoryBound(to: Int.self).baseAddress,
                    localBytes.assumingMemoryBound(to: Int.self).baseAddress, 0, nil, nil)
            }
        }
        try check(status, "clEnqueueNDRangeKernel", detail: kernel.name)
    }

    /// Hands what was enqueued to the device without waiting.
    package func flush() throws(OpenCLError) {
        try check(functions.clFlush(handle), "clFlush")
    }

    /// Blocks until everything enqueued has finished. Never call it on Swift's cooperative threads.
    package func finish() throws(OpenCLError) {
        try check(functions.clFinish(handle), "clFinish")
    }
}
