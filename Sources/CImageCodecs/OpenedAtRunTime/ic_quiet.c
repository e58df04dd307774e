#include <pthread.h>
#include <stdio.h>

#include "ic_library_internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;
static FILE *kept;

static ssize_t discard(void *cookie, const char *bytes, size_t count) {
    (void)cookie, (void)bytes;
    return (ssize_t)count;
}

void ic_quiet_begin(void) {
    static FILE *nowhere;
    pthread_mutex_lock(&lock);
    // No file behind it: a confined process may open none, and nobody else's descriptor changes.
    if (!nowhere) nowhere = fopencookie(NULL, "w", (cookie_io_functions_t){.write = discard});
    if (nowhere && calls++ == 0) {
        kept = stderr;
        stderr = nowhere;
    }
    pthread_mutex_unlock(&lock);
}

void ic_quiet_end(void) {
    pthread_mutex_lock(&lock);
    if (calls > 0 && --calls == 0) stderr = kept;
    pthread_mutex_unlock(&lock);
}
