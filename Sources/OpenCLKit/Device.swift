import COpenCL

/// One device of one platform.
package struct Device {
    let handle: cl_device_id
    package let platform: Platform
    package let info: DeviceInfo

    var functions: bg_opencl_functions { platform.library.functions }

    init(_ handle: cl_device_id, of platform: Platform) throws(OpenCLError) {
        let query = DeviceQuery(handle: handle, functions: platform.library.functions)
        let bits: cl_device_type = try query.value(CL_DEVICE_TYPE, 0)
        let type = Device.type(of: bits)
        let name = try query.string(CL_DEVICE_NAME)
        let vendor = try query.string(CL_DEVICE_VENDOR)
        self.handle = handle
        self.platform = platform
        self.info = DeviceInfo(
            identity: Device.identity(vendor: vendor, type: type, name: name),
            type: type,
            name: name,
            vendor: vendor,
            driverVersion: try query.string(CL_DRIVER_VERSION),
            openCLVersion: try query.string(CL_DEVICE_VERSION),
            platformName: platform.name,
            platformVersion: platform.version,
            globalMemoryBytes: Int(clamping: try query.value(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong(0))),
            maxAllocationBytes: Int(clamping: try query.value(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong(0))),
            localMemoryBytes: Int(clamping: try query.value(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong(0))),
            computeUnits: Int(try query.value(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint(0))),
            maxWorkGroupSize: try query.value(CL_DEVICE_MAX_WORK_GROUP_SIZE, 0),
            maxClockMHz: Int(try query.value(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint(0))),
            hasUnifiedMemory: try query.value(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool(0)) != 0,
            isLittleEndian: try query.value(CL_DEVICE_ENDIAN_LITTLE, cl_bool(0)) != 0,
            isAvailable: try query.value(CL_DEVICE_AVAILABLE, cl_bool(0)) != 0,
            hasCompiler: try query.value(CL_DEVICE_COMPILER_AVAILABLE, cl_bool(0)) != 0
        )
    }

    /// Types are bits and may be combined with `CL_DEVICE_TYPE_DEFAULT`, so each is tested on its own.
    private static func type(of bits: cl_device_type) -> DeviceType {
        if bits & cl_device_type(CL_DEVICE_TYPE_GPU) != 0 { return .gpu }
        if bits & cl_device_type(CL_DEVICE_TYPE_ACCELERATOR) != 0 { return .accelerator }
        if bits & cl_device_type(CL_DEVICE_TYPE_CPU) != 0 { return .cpu }
        return .custom
    }

    static func identity(vendor: String, type: DeviceType, name: String) -> String {
        "\(plain(vendor)):\(type.rawValue):\(plain(name))"
    }

    /// One line without the separator, and single blanks: drivers pad their names.
    private static func plain(_ field: String) -> String {
        let words = field.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
        return String(words.map { $0 == ":" ? "-" : $0 })
    }
}

/// Typed reads of `clGetDeviceInfo`.
private struct DeviceQuery {
    let handle: cl_device_id
    let functions: bg_opencl_functions

    func value<Value: BitwiseCopyable>(_ parameter: Int32, _ zero: Value) throws(OpenCLError) -> Value {
        var value = zero
        let status = functions.clGetDeviceInfo(
            handle, cl_device_info(parameter), MemoryLayout<Value>.size, &value, nil)
        try check(status, "clGetDeviceInfo")
        return value
    }

    func string(_ parameter: Int32) throws(OpenCLError) -> String {
        var byteCount = 0
        try check(
            functions.clGetDeviceInfo(handle, cl_device_info(parameter), 0, nil, &byteCount), "clGetDeviceInfo")
        var bytes = [CChar](repeating: 0, count: byteCount)
        try check(
            functions.clGetDeviceInfo(handle, cl_device_info(parameter), byteCount, &bytes, nil), "clGetDeviceInfo")
        return text(bytes)
    }
}
