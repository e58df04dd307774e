#pragma once

#include <stddef.h>
#include <stdint.h>

/// Rewrites a TIFF-structured EXIF block for an upright picture of this size: orientation 1, pixel sizes corrected
/// where they are given, thumbnail left out. To be freed by the caller; NULL when there is nothing to keep.
uint8_t *ic_exif_copy_edited(
    const uint8_t *exif, size_t size, uint32_t width, uint32_t height, size_t *edited_size);
