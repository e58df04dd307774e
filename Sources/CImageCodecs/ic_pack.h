#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Keeps the samples that a file has of each pixel's four, which have `bytes` each: gray or three colours, and alpha.
static inline void ic_pack_row(
    const uint8_t *source, size_t bytes, int is_gray, int has_alpha, size_t count, uint8_t *target) {
    if (!is_gray && has_alpha) {
        memcpy(target, source, count * 4 * bytes);
    } else if (!is_gray) {
        // The fourth sample goes where the next pixel comes, but for the last one.
        size_t last = count - 1;
        for (size_t i = 0; bytes == 1 && i < last; i++) memcpy(target + i * 3, source + i * 4, 4);
        for (size_t i = 0; bytes == 2 && i < last; i++) memcpy(target + i * 6, source + i * 8, 8);
        memcpy(target + last * 3 * bytes, source + last * 4 * bytes, 3 * bytes);
    } else if (bytes == 1) {
        for (size_t i = 0; !has_alpha && i < count; i++) target[i] = source[i * 4];
        for (size_t i = 0; has_alpha && i < count; i++) {
            target[i * 2] = source[i * 4];
            target[i * 2 + 1] = source[i * 4 + 3];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            memcpy(target, source + i * 8, 2);
            target += 2;
            if (!has_alpha) continue;
            memcpy(target, source + i * 8 + 6, 2);
            target += 2;
        }
    }
}
