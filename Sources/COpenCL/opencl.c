#include "COpenCL.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bg_opencl_load_status bg_opencl_load(
    const char *library, bg_opencl_functions *functions, char *reason, size_t reason_size) {
    memset(functions, 0, sizeof *functions);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        snprintf(reason, reason_size, "%s", words ? words : library);
        return BG_OPENCL_NO_LIBRARY;
    }
#define BG_OPENCL_LOOK_UP(name)                                                                                        \
    functions->name = (cl_api_##name)dlsym(handle, #name);                                                             \
    if (!functions->name) {                                                                                            \
        snprintf(reason, reason_size, "%s", #name);                                                                    \
        memset(functions, 0, sizeof *functions);                                                                       \
        dlclose(handle);                                                                                               \
        return BG_OPENCL_NO_SYMBOL;                                                                                    \
    }
    BG_OPENCL_FUNCTIONS(BG_OPENCL_LOOK_UP)
#undef BG_OPENCL_LOOK_UP
    return BG_OPENCL_LOADED;
}

int bg_opencl_try_library(const char *library, char *reason, size_t reason_size) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle)
        return 0;
    const char *words = dlerror();
    snprintf(reason, reason_size, "%s", words ? words : library);
    return 1;
}
