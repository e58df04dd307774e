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

/// Three samples a pixel, of `bytes` each, become four, of which the fourth is full.
static inline void ic_add_full(const uint8_t *source, size_t bytes, size_t count, uint8_t *target) {
    // The next pixel's first sample comes with each, but for the last one.
    size_t last = count - 1;
    for (size_t i = 0; bytes == 1 && i < last; i++) {
        uint8_t pixel[4];
        memcpy(pixel, source + i * 3, 4);
        pixel[3] = 255;
        memcpy(target + i * 4, pixel, 4);
    }
    for (size_t i = 0; bytes == 2 && i < last; i++) {
        uint16_t pixel[4];
        memcpy(pixel, source + i * 6, 8);
        pixel[3] = 65535;
        memcpy(target + i * 8, pixel, 8);
    }
    memcpy(target + last * 4 * bytes, source + last * 3 * bytes, 3 * bytes);
    memset(target + (last * 4 + 3) * bytes, 255, bytes);
}

/// Gray samples, of `bytes` each, become three colours, with alpha or a full fourth sample.
static inline void ic_repeat_gray(const uint8_t *source, size_t bytes, int has_alpha, size_t count, uint8_t *target) {
    for (size_t i = 0; bytes == 1 && !has_alpha && i < count; i++) {
        uint8_t pixel[4] = {source[i], source[i], source[i], 255};
        memcpy(target + i * 4, pixel, 4);
    }
    for (size_t i = 0; bytes == 1 && has_alpha && i < count; i++) {
        uint8_t gray = source[i * 2], pixel[4] = {gray, gray, gray, source[i * 2 + 1]};
        memcpy(target + i * 4, pixel, 4);
    }
    for (size_t i = 0; bytes == 2 && i < count; i++) {
        uint16_t from[2] = {0, 65535};
        memcpy(from, source + i * (has_alpha ? 4 : 2), has_alpha ? 4 : 2);
        uint16_t pixel[4] = {from[0], from[0], from[0], from[1]};
        memcpy(target + i * 8, pixel, 8);
    }
}
