#pragma once

#include <stddef.h>
#include <stdint.h>

/// Kinds of JPEG that the product reads but never writes.
typedef struct jpeg_variant {
    int32_t width;
    int32_t height;
    /// Samples a pixel in the rows: 1 gray, 3 RGB, 4 CMYK.
    int32_t components;
    /// Store CMYK as Y'CbCr and black, or RGB as it is, without turning it into Y'CbCr.
    int32_t stores_ycck;
    int32_t stores_rgb;
    int32_t luma_width;
    int32_t luma_height;
    int32_t is_progressive;
    int32_t is_arithmetic;
    /// Each component in a scan of its own.
    int32_t has_separate_scans;
    int32_t restart_rows;
} jpeg_variant;

/// The file, to be freed by the caller. A setting that libjpeg refuses ends the process: this is for tests.
uint8_t *jpeg_variant_encode(const jpeg_variant *variant, const uint8_t *rows, size_t *size);
