// PoCL with one fault: a driver (ICD) whose device is listed soundly and misbehaves when it has to work. Compiled once
// for each DEVICE_* macro, with POCL_LIBRARY naming PoCL's library.
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct _cl_platform_id {
    cl_icd_dispatch *dispatch;
};

typedef void *(CL_API_CALL *address_function)(const char *);
typedef cl_int(CL_API_CALL *platforms_function)(cl_uint, cl_platform_id *, cl_uint *);

static void *pocl;
static cl_icd_dispatch real;

#ifdef DEVICE_COMPUTES_WRONGLY
// One bit of one byte: what a device with bad memory or a miscompiled kernel gives.
static cl_int CL_API_CALL read_buffer(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *bytes, cl_uint n,
    const cl_event *events, cl_event *event) {
    const cl_int status = real.clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, size, bytes, n, events, event);
    (void)blocking;
    ((unsigned char *)bytes)[size / 2] ^= 4;
    return status;
}
#endif

#if defined(DEVICE_REFUSES_BUILD) || defined(DEVICE_CRASHES_IN_BUILD)
static cl_int CL_API_CALL build_program(
    cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
    void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
    (void)program, (void)n, (void)devices, (void)options, (void)notify, (void)data;
#ifdef DEVICE_CRASHES_IN_BUILD
    abort();
#endif
    return CL_BUILD_PROGRAM_FAILURE;
}
#endif

#ifdef DEVICE_HANGS_IN_RUN
static cl_int CL_API_CALL enqueue_kernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
    const size_t *local, cl_uint n, const cl_event *events, cl_event *event) {
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local;
    (void)n, (void)events, (void)event;
    for (;;)
        pause();
    return CL_SUCCESS;
}
#endif

static cl_int CL_API_CALL get_platform_ids(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
    const address_function address = (address_function)dlsym(pocl, "clGetExtensionFunctionAddress");
    const platforms_function list = (platforms_function)address("clIcdGetPlatformIDsKHR");
    const cl_int status = list(room, platforms, count);
    if (status == CL_SUCCESS && platforms && room > 0) {
        // All of PoCL's objects share this table.
        cl_icd_dispatch *table = platforms[0]->dispatch;
        if (!real.clGetDeviceIDs)
            real = *table;
#ifdef DEVICE_COMPUTES_WRONGLY
        table->clEnqueueReadBuffer = read_buffer;
#endif
#if defined(DEVICE_REFUSES_BUILD) || defined(DEVICE_CRASHES_IN_BUILD)
        table->clBuildProgram = build_program;
#endif
#ifdef DEVICE_HANGS_IN_RUN
        table->clEnqueueNDRangeKernel = enqueue_kernel;
#endif
    }
    return status;
}

CL_API_ENTRY cl_int CL_API_CALL
clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *used) {
    return platform->dispatch->clGetPlatformInfo(platform, what, size, value, used);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name) {
    if (!pocl)
        pocl = dlopen(POCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return pocl && strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)get_platform_ids : NULL;
}
