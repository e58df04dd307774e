#include "COneDNN.h"

#include <dlfcn.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

bg_dnnl_load_status bg_dnnl_load(const char *library, bg_dnnl_functions *functions, char *reason, size_t reason_size) {
    memset(functions, 0, sizeof *functions);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        snprintf(reason, reason_size, "%s", words ? words : library);
        return BG_DNNL_NO_LIBRARY;
    }
#define BG_DNNL_LOOK_UP(name)                                                                                          \
    functions->name = (__typeof__(functions->name))dlsym(handle, #name);                                               \
    if (!functions->name) {                                                                                            \
        snprintf(reason, reason_size, "%s", #name);                                                                    \
        memset(functions, 0, sizeof *functions);                                                                       \
        dlclose(handle);                                                                                               \
        return BG_DNNL_NO_SYMBOL;                                                                                      \
    }
    BG_DNNL_FUNCTIONS(BG_DNNL_LOOK_UP)
    // Found by its dependencies: dlsym also searches what the library itself is linked with.
    BG_DNNL_LOOK_UP(omp_set_num_threads)
#undef BG_DNNL_LOOK_UP
    return BG_DNNL_LOADED;
}

int bg_dnnl_post_operation_argument(int position) {
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1;
}

void bg_clear_invalid_flag(void) { feclearexcept(FE_INVALID); }

int bg_has_invalid_flag(void) { return fetestexcept(FE_INVALID) != 0; }
