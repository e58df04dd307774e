// An OpenCL driver (ICD) that misbehaves while it is listed. Compiled once for each DRIVER_* macro.
#include <CL/cl_icd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct _cl_platform_id {
    cl_icd_dispatch *dispatch;
};

#ifdef DRIVER_CRASHES_AT_LOAD
__attribute__((constructor)) static void crash_at_load(void) { raise(SIGSEGV); }
#endif

__attribute__((noreturn, unused)) static void hang(void) {
    for (;;)
        pause();
}

static cl_int CL_API_CALL get_platform_info(
    cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *used) {
    (void)platform;
    const char *answer;
    switch (what) {
    case CL_PLATFORM_PROFILE: answer = "FULL_PROFILE"; break;
    case CL_PLATFORM_VERSION: answer = "OpenCL 1.2 broken on purpose"; break;
    case CL_PLATFORM_NAME: answer = "Broken Platform"; break;
    case CL_PLATFORM_VENDOR: answer = "bgrun tests"; break;
    case CL_PLATFORM_EXTENSIONS: answer = "cl_khr_icd"; break;
    case CL_PLATFORM_ICD_SUFFIX_KHR: answer = "BROKEN"; break;
    default: return CL_INVALID_VALUE;
    }
    const size_t length = strlen(answer) + 1;
    if (used)
        *used = length;
    if (value && size < length)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, length);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_ids(
    cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices, cl_uint *count) {
    (void)platform, (void)type, (void)room, (void)devices;
#ifdef DRIVER_CRASHES_IN_DEVICES
    abort();
#endif
#ifdef DRIVER_HANGS_IN_DEVICES
    hang();
#endif
    if (count)
        *count = 0;
    return CL_DEVICE_NOT_FOUND;
}

static cl_icd_dispatch dispatch = {
    .clGetPlatformInfo = get_platform_info,
    .clGetDeviceIDs = get_device_ids,
};

static cl_int CL_API_CALL get_platform_ids(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
#ifdef DRIVER_CRASHES_IN_PLATFORMS
    raise(SIGSEGV);
#endif
#ifdef DRIVER_HANGS_IN_PLATFORMS
    hang();
#endif
#ifdef DRIVER_EXITS_IN_PLATFORMS
    exit(3);
#endif
    static struct _cl_platform_id platform = {&dispatch};
    if (platforms && room > 0)
        platforms[0] = &platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL
clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *used) {
    return get_platform_info(platform, what, size, value, used);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name) {
    return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)get_platform_ids : NULL;
}
