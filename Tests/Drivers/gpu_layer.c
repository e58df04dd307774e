// An OpenCL layer (OPENCL_LAYERS) under which every CPU device answers that it is a GPU, so that the way of a GPU job
// can be walked without one. The device's name says so: no output made with it can be taken for a real GPU's.
//
// Where BGRUN_TEST_GPU_FAILS is set, the device passes its probe and fails in workers: "status" refuses every kernel,
// "crash" ends the process.
#include <CL/cl_layer.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cl_icd_dispatch *target;
static cl_icd_dispatch layer;

static cl_int CL_API_CALL get_device_ids(
    cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices, cl_uint *count) {
    if (type == CL_DEVICE_TYPE_CPU)
        return CL_DEVICE_NOT_FOUND;
    return target->clGetDeviceIDs(
        platform, type == CL_DEVICE_TYPE_GPU ? CL_DEVICE_TYPE_ALL : type, room, devices, count);
}

static cl_int CL_API_CALL get_device_info(
    cl_device_id device, cl_device_info what, size_t size, void *value, size_t *used) {
    char name[256] = "Test GPU on ";
    const void *answer;
    size_t length;
    cl_device_type type = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT;
    if (what == CL_DEVICE_TYPE) {
        answer = &type;
        length = sizeof type;
    } else if (what == CL_DEVICE_NAME) {
        const size_t prefix = strlen(name);
        const cl_int status = target->clGetDeviceInfo(device, what, sizeof name - prefix, name + prefix, NULL);
        if (status != CL_SUCCESS)
            return status;
        answer = name;
        length = strlen(name) + 1;
    } else {
        return target->clGetDeviceInfo(device, what, size, value, used);
    }
    if (used)
        *used = length;
    if (value && size < length)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, length);
    return CL_SUCCESS;
}

static int is_worker;

// glibc hands the arguments of the program to constructors of libraries too.
__attribute__((constructor)) static void look(int count, char **arguments) {
    is_worker = count > 1 && !strcmp(arguments[1], "worker");
}

static cl_int CL_API_CALL enqueue_kernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
    const size_t *local, cl_uint n, const cl_event *events, cl_event *event) {
    const char *fault = getenv("BGRUN_TEST_GPU_FAILS");
    if (!fault || !is_worker)
        return target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n, events, event);
    if (!strcmp(fault, "crash"))
        abort();
    return CL_OUT_OF_RESOURCES;
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *used) {
    static const char name[] = "bgrun test GPU";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *answer = what == CL_LAYER_NAME ? (const void *)name : (const void *)&version;
    const size_t length = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if (what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION)
        return CL_INVALID_VALUE;
    if (used)
        *used = length;
    if (value && size < length)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, length);
    return CL_SUCCESS;
}

// Entries left null pass straight on to what lies below.
CL_API_ENTRY cl_int CL_API_CALL clInitLayer(
    cl_uint entries, const cl_icd_dispatch *below, cl_uint *own_entries, const cl_icd_dispatch **own) {
    if (entries * sizeof(void *) <= offsetof(cl_icd_dispatch, clEnqueueNDRangeKernel) || !own_entries || !own)
        return CL_INVALID_VALUE;
    target = below;
    layer.clGetDeviceIDs = get_device_ids;
    layer.clGetDeviceInfo = get_device_info;
    layer.clEnqueueNDRangeKernel = enqueue_kernel;
    *own = &layer;
    *own_entries = sizeof layer / sizeof(void *);
    return CL_SUCCESS;
}
