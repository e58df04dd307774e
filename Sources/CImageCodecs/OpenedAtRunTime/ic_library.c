#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ic_library_internal.h"

enum { LIBRARIES = IC_LIBRARY_DE265 + 1 };

static const struct {
    const char *file;
    const char *package;
} known[LIBRARIES] = {
    [IC_LIBRARY_AVIF] = {"libavif.so.15", "libavif15"},
    [IC_LIBRARY_HEIF] = {"libheif.so.1", "libheif1"},
    [IC_LIBRARY_JXL] = {"libjxl.so.0.7", "libjxl0.7"},
    // The form whose decoders share nothing.
    [IC_LIBRARY_RAW] = {"libraw_r.so.20", "libraw20"},
    [IC_LIBRARY_GIF] = {"libgif.so.7", "libgif7"},
    [IC_LIBRARY_OPENJPEG] = {"libopenjp2.so.7", "libopenjp2-7"},
    [IC_LIBRARY_TIFF] = {"libtiff.so.6", "libtiff6"},
    [IC_LIBRARY_DE265] = {"libde265.so.0", "libde265-0"},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int was_tried;
    void *handle;
} opened[LIBRARIES];

const char *ic_library_file(ic_library library) { return known[library].file; }

const char *ic_library_package(ic_library library) { return known[library].package; }

/// A test's hook: the libraries that are named there count as not installed.
static int is_hidden(const char *file) {
    const char *hidden = getenv("BGRUN_TEST_WITHOUT_LIBRARIES");
    return hidden && strstr(hidden, file);
}

/// With the lock held.
static void *open_once(ic_library library) {
    if (!opened[library].was_tried) {
        const char *file = known[library].file;
        opened[library].was_tried = 1;
        opened[library].handle = is_hidden(file) ? NULL : dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
    return opened[library].handle;
}

int ic_library_is_there(ic_library library) {
    pthread_mutex_lock(&lock);
    int is_there = open_once(library) != NULL;
    pthread_mutex_unlock(&lock);
    return is_there;
}

const void *ic_library_functions(
    ic_library library, const char *const *names, size_t count, void **table, ic_error *error) {
    pthread_mutex_lock(&lock);
    void *handle = open_once(library);
    // The last one is there when all of them are.
    size_t found = table[count - 1] ? count : 0;
    while (handle && found < count && (table[found] = dlsym(handle, names[found]))) found++;
    pthread_mutex_unlock(&lock);
    if (found == count) return table;
    if (handle) {
        ic_fail(error, IC_MISSING_LIBRARY, "%s has no %s", known[library].file, names[found]);
    } else {
        ic_fail(
            error, IC_MISSING_LIBRARY, "%s is not installed; the package %s has it", known[library].file,
            known[library].package);
    }
    return NULL;
}
