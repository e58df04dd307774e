import COpenCL

/// One driver as OpenCL presents it.
package struct Platform {
    let handle: cl_platform_id
    let library: OpenCLLibrary
    package let name: String
    package let vendor: String
    /// `OpenCL 3.0 ...` with the driver's own words behind it.
    package let version: String

    init(_ handle: cl_platform_id, in library: OpenCLLibrary) throws(OpenCLError) {
        self.handle = handle
        self.library = library
        self.name = try Platform.string(CL_PLATFORM_NAME, of: handle, in: library)
        self.vendor = try Platform.string(CL_PLATFORM_VENDOR, of: handle, in: library)
        self.version = try Platform.string(CL_PLATFORM_VERSION, of: handle, in: library)
    }

    /// Every device of every type; empty when the platform has none.
    package func devices() throws(OpenCLError) -> [Device] {
        let functions = library.functions
        let all = cl_device_type(CL_DEVICE_TYPE_ALL)
        var count: cl_uint = 0
        let status = library.listing { functions.clGetDeviceIDs(handle, all, 0, nil, &count) }
        if status == OpenCLError.deviceNotFound || (status == CL_SUCCESS && count == 0) { return [] }
        try check(status, "clGetDeviceIDs")
        var identifiers = [cl_device_id?](repeating: nil, count: Int(count))
        try check(
            library.listing { functions.clGetDeviceIDs(handle, all, count, &identifiers, nil) }, "clGetDeviceIDs")
        var devices: [Device] = []
        for case let identifier? in identifiers {
            devices.append(try Device(identifier, of: self))
        }
        return devices
    }

    private static func string(
        _ parameter: Int32, of handle: cl_platform_id, in library: OpenCLLibrary
    ) throws(OpenCLError) -> String {
        let functions = library.functions
        var byteCount = 0
        try check(
            functions.clGetPlatformInfo(handle, cl_platform_info(parameter), 0, nil, &byteCount), "clGetPlatformInfo")
        var bytes = [CChar](repeating: 0, count: byteCount)
        try check(
            functions.clGetPlatformInfo(handle, cl_platform_info(parameter), byteCount, &bytes, nil),
            "clGetPlatformInfo")
        return text(bytes)
    }
}
