import COpenCL

/// An OpenCL call that did not return `CL_SUCCESS`.
package struct OpenCLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status as the driver gave it; compare with the named constants below.
    package let status: Int32
    /// The C function that failed, e.g. `clCreateBuffer`.
    package let function: String
    /// What else is known: the build log of a program, the name of a kernel.
    package let detail: String

    package init(status: Int32, function: String, detail: String = "") {
        self.status = status
        self.function = function
        self.detail = detail
    }

    package static let deviceNotFound: Int32 = -1
    package static let memoryAllocationFailure: Int32 = -4
    package static let outOfResources: Int32 = -5
    package static let buildProgramFailure: Int32 = -11
    package static let invalidCommandQueue: Int32 = -36
    package static let invalidBinary: Int32 = -42
    package static let invalidWorkGroupSize: Int32 = -54
    package static let invalidBufferSize: Int32 = -61
    /// The loader found no driver at all.
    package static let platformNotFound: Int32 = -1001

    /// The context is of no more use: everything has to be made anew, best in a new process.
    package var isDeviceLost: Bool {
        status == OpenCLError.outOfResources || status == OpenCLError.invalidCommandQueue
    }

    package var description: String {
        let name = OpenCLError.names[status].map { " (\($0))" } ?? ""
        let detail = detail.isEmpty ? "" : ": \(detail)"
        return "\(function) failed with OpenCL status \(status)\(name)\(detail)"
    }

    /// Names of the statuses a driver is likely to return, from the OpenCL 1.2 header.
    private static let names: [Int32: String] = [
        -1: "CL_DEVICE_NOT_FOUND", -2: "CL_DEVICE_NOT_AVAILABLE", -3: "CL_COMPILER_NOT_AVAILABLE",
        -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -5: "CL_OUT_OF_RESOURCES", -6: "CL_OUT_OF_HOST_MEMORY",
        -11: "CL_BUILD_PROGRAM_FAILURE", -12: "CL_MAP_FAILURE",
        -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -30: "CL_INVALID_VALUE", -33: "CL_INVALID_DEVICE",
        -34: "CL_INVALID_CONTEXT", -36: "CL_INVALID_COMMAND_QUEUE", -38: "CL_INVALID_MEM_OBJECT",
        -42: "CL_INVALID_BINARY", -43: "CL_INVALID_BUILD_OPTIONS", -44: "CL_INVALID_PROGRAM",
        -45: "CL_INVALID_PROGRAM_EXECUTABLE", -46: "CL_INVALID_KERNEL_NAME", -48: "CL_INVALID_KERNEL",
        -49: "CL_INVALID_ARG_INDEX", -50: "CL_INVALID_ARG_VALUE", -51: "CL_INVALID_ARG_SIZE",
        -52: "CL_INVALID_KERNEL_ARGS", -53: "CL_INVALID_WORK_DIMENSION", -54: "CL_INVALID_WORK_GROUP_SIZE",
        -55: "CL_INVALID_WORK_ITEM_SIZE", -61: "CL_INVALID_BUFFER_SIZE", -63: "CL_INVALID_GLOBAL_WORK_SIZE",
        -1001: "CL_PLATFORM_NOT_FOUND_KHR",
    ]
}

/// Turns a C status into a Swift error.
func check(
    _ status: cl_int, _ function: StaticString, detail: @autoclosure () -> String = ""
) throws(OpenCLError) {
    guard status == CL_SUCCESS else {
        throw OpenCLError(status: status, function: "\(function)", detail: detail())
    }
}

/// A created handle, or the error of the call that should have made it. Some drivers return null without a status.
func created(
    _ handle: OpaquePointer?, _ status: cl_int, _ function: StaticString, detail: @autoclosure () -> String = ""
) throws(OpenCLError) -> OpaquePointer {
    try check(status, function, detail: detail())
    guard let handle else {
        throw OpenCLError(status: OpenCLError.outOfResources, function: "\(function)", detail: detail())
    }
    return handle
}
