#pragma once

#include <stddef.h>

#include "include/ic_error.h"

/// Stores status and message, and returns the status.
__attribute__((format(printf, 3, 4))) ic_status ic_fail(ic_error *error, ic_status status, const char *format, ...);

/// What a part of a file of `size` bytes may take when it is unpacked: what a part says of its length is believed before its
/// bytes are there, and a few bytes may come out as millions.
static inline size_t ic_most_unpacked(size_t size) {
    const size_t least = 1u << 20, most = 32u << 20;
    return size > (most - least) / 2 ? most : least + 2 * size;
}
