import COpenCL

/// Compiled kernels for one device.
package final class Program {
    let handle: cl_program
    package let context: Context
    /// Names the cached file this program should be kept under; nil when it came from there or is not to be kept.
    var cacheKey: [UInt8]?
    /// Loaded from a binary, not compiled from source.
    package let isFromBinary: Bool

    private init(handle: cl_program, context: Context, isFromBinary: Bool) {
        self.handle = handle
        self.context = context
        self.isFromBinary = isFromBinary
    }

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = context.functions.clReleaseProgram(handle)
    }

    /// Compiles OpenCL C. May take seconds.
    ///
    /// - Throws: ``OpenCLError`` with the compiler's log in ``OpenCLError/detail`` when the source is refused.
    package static func build(source: String, options: String, in context: Context) throws(OpenCLError) -> Program {
        var status: cl_int = 0
        let raw = source.withCString { text in
            var strings: UnsafePointer<CChar>? = text
            return context.functions.clCreateProgramWithSource(context.handle, 1, &strings, nil, &status)
        }
        let program = Program(
            handle: try created(raw, status, "clCreateProgramWithSource"), context: context, isFromBinary: false)
        try program.build(options: options)
        return program
    }

    /// Takes a binary that the same driver gave out earlier. A driver may accept damaged bytes or abort on them, so the
    /// caller has verified a checksum.
    package static func load(binary: [UInt8], options: String, in context: Context) throws(OpenCLError) -> Program {
        var status: cl_int = 0
        var binaryStatus: cl_int = 0
        var device: cl_device_id? = context.device.handle
        var length = binary.count
        let raw = binary.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return context.functions.clCreateProgramWithBinary(
                context.handle, 1, &device, &length, &start, &binaryStatus, &status)
        }
        let handle = try created(raw, status, "clCreateProgramWithBinary")
        let program = Program(handle: handle, context: context, isFromBinary: true)
        try check(binaryStatus, "clCreateProgramWithBinary")
        try program.build(options: options)
        return program
    }

    /// The device's machine code, to be loaded by a later process. Slow on some drivers (up to a second), which compile
    /// every kernel for it: ask when there is time.
    package func binary() throws(OpenCLError) -> [UInt8] {
        let functions = context.functions
        var length = 0
        let sizes = cl_program_info(CL_PROGRAM_BINARY_SIZES)
        try check(functions.clGetProgramInfo(handle, sizes, MemoryLayout<Int>.size, &length, nil), "clGetProgramInfo")
        guard length > 0 else {
            throw OpenCLError(
                status: OpenCLError.invalidBinary, function: "clGetProgramInfo", detail: "the driver gives no binary")
        }
        var bytes = [UInt8](repeating: 0, count: length)
        let status = bytes.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            let pointerSize = MemoryLayout<UnsafeMutablePointer<UInt8>?>.size
            return functions.clGetProgramInfo(
                handle, cl_program_info(CL_PROGRAM_BINARIES), pointerSize, &start, nil)
        }
        try check(status, "clGetProgramInfo")
        return bytes
    }

    private func build(options: String) throws(OpenCLError) {
        var device: cl_device_id? = context.device.handle
        let status = context.functions.clBuildProgram(handle, 1, &device, options, nil, nil)
        guard status == CL_SUCCESS else {
            throw OpenCLError(status: status, function: "clBuildProgram", detail: buildLog())
        }
    }

    /// The compiler's words; empty when the driver keeps them to itself.
    private func buildLog() -> String {
        let functions = context.functions
        let parameter = cl_program_build_info(CL_PROGRAM_BUILD_LOG)
        var length = 0
        guard functions.clGetProgramBuildInfo(handle, context.device.handle, parameter, 0, nil, &length) == CL_SUCCESS,
            length > 0
        else { return "" }
        var bytes = [CChar](repeating: 0, count: length)
        guard
            functions.clGetProgramBuildInfo(handle, context.device.handle, parameter, length, &bytes, nil) == CL_SUCCESS
        else { return "" }
        return text(bytes)
    }
}
