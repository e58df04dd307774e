import COpenCL

/// Everything made for one device: queues, buffers and programs belong to a context and keep it alive.
///
/// Not `Sendable`, like all that is made from it: the thread that made it uses it.
package final class Context {
    let handle: cl_context
    package let device: Device

    var functions: bg_opencl_functions { device.functions }

    package init(device: Device) throws(OpenCLError) {
        var status: cl_int = 0
        var identifier: cl_device_id? = device.handle
        let raw = device.functions.clCreateContext(nil, 1, &identifier, nil, nil, &status)
        self.handle = try created(raw, status, "clCreateContext", detail: device.info.identity)
        self.device = device
    }

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = functions.clReleaseContext(handle)
    }
}
