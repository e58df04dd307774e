#include "CHeap.h"

#include <malloc.h>

int bg_keep_heap(int kept, int largest) {
#ifdef __GLIBC__
    // Either alone would stop the library from adapting the other.
    return mallopt(M_TRIM_THRESHOLD, kept) && mallopt(M_MMAP_THRESHOLD, largest);
#else
    (void)kept;
    (void)largest;
    return 0;
#endif
}

void bg_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
