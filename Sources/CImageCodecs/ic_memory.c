#include "include/ic_memory.h"

#include <malloc.h>

void ic_keep_freed_memory(int bytes) {
    // The largest that glibc allows: what is larger has a mapping of its own, which goes with it.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, bytes);
}
