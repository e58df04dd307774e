#pragma once

#include <stddef.h>

// Memory for whole pictures, whose pages the kernel would otherwise fetch by thousands, each time anew.

/// Zeros; NULL without memory. Large ones lie on large pages where the kernel has them.
void *ic_large_open(size_t size);

/// `size` is that of the block, which may be NULL.
void ic_large_close(void *block, size_t size);
