#pragma once

#include "../ic_internal.h"
#include "../include/ic_picture.h"
#include "ic_library_internal.h"

/// A file in memory, and what may be made of it.
typedef struct ic_picture_source {
    const uint8_t *bytes;
    size_t size;
    int64_t max_pixels;
} ic_picture_source;

/// Where a picture goes.
typedef struct ic_picture_target {
    uint8_t *rows;
    size_t stride_bytes;
    ic_pulse pulse;
    /// A sentence for a picture that came with damage; empty otherwise.
    char damage[160];
} ic_picture_target;

/// How one library reads its format.
typedef struct ic_picture_codec {
    /// Reads the header. What it leaves in `state` is given up by `close`, after a failure too.
    ic_status (*open)(const ic_picture_source *source, void **state, ic_picture_info *info, ic_error *error);
    ic_status (*decode)(void *state, const ic_picture_info *info, ic_picture_target *target, ic_error *error);
    void (*close)(void *state);
} ic_picture_codec;

extern const ic_picture_codec ic_avif_codec;
extern const ic_picture_codec ic_heif_codec;
extern const ic_picture_codec ic_jxl_codec;
extern const ic_picture_codec ic_raw_codec;
extern const ic_picture_codec ic_gif_codec;
extern const ic_picture_codec ic_openjpeg_codec;

/// Whether a HEIF file has pictures in AV1 and none in HEVC.
int ic_heif_is_av1(const ic_picture_source *source);

ic_status ic_raw_preview(void *state, const uint8_t **bytes, size_t *size, ic_error *error);

/// The EXIF orientation that turns by `quarters` counter-clockwise and then mirrors: 0 not at all, 1 exchanging left and
/// right, 2 top and bottom (ISO/IEC 23008-12, 6.5.10 and 6.5.12).
int32_t ic_orientation(int quarters, int mirror);

/// Bytes for so many pixels, at most `INT64_MAX`: headers may say anything.
static inline int64_t ic_picture_bytes(int64_t width, int64_t height, int64_t bytes_per_pixel) {
    int64_t pixels, bytes;
    if (__builtin_mul_overflow(width, height, &pixels) || __builtin_mul_overflow(pixels, bytes_per_pixel, &bytes)) {
        return INT64_MAX;
    }
    return bytes;
}

/// Refuses what is larger than anyone wants before a library makes room for it.
static inline ic_status ic_check_pixels(
    const ic_picture_source *source, uint32_t width, uint32_t height, ic_error *error) {
    if (ic_picture_bytes(width, height, 1) <= source->max_pixels) return IC_OK;
    return ic_fail(
        error, IC_LIMIT, "%u × %u pixels are more than the limit of %lld", width, height,
        (long long)source->max_pixels);
}

/// The sum of what a picture takes, at most `INT64_MAX`.
static inline int64_t ic_sum(int64_t some, int64_t more) {
    int64_t sum;
    return __builtin_add_overflow(some, more, &sum) ? INT64_MAX : sum;
}

/// A sample of `bits` stretched to 16, so that the largest value stays the largest.
static inline uint16_t ic_widened(uint32_t sample, int bits) {
    return (uint16_t)((uint64_t)sample * 65535 / ((1u << bits) - 1));
}

/// The same for each of the samples of 1 to 16 bits; NULL without memory. To be freed by the caller.
uint16_t *ic_widened_samples(int bits);
