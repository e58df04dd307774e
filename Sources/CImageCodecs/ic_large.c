#include "include/ic_large.h"

#include <stdlib.h>
#include <sys/mman.h>

/// Smaller ones are kept by the C library from picture to picture.
enum { LARGE = 32 << 20 };

void *ic_large_open(size_t size) {
    if (size < LARGE) return calloc(1, size);
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return NULL;
    // Not every kernel has them, and none has to.
    madvise(block, size, MADV_HUGEPAGE);
    return block;
}

void ic_large_close(void *block, size_t size) {
    if (size < LARGE) {
        free(block);
    } else if (block) {
        munmap(block, size);
    }
}
