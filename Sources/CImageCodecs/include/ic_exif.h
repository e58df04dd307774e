#pragma once

#include <stddef.h>
#include <stdint.h>

/// What an EXIF block is to say of the picture's colours, where it says something.
typedef enum ic_exif_color {
    IC_EXIF_COLOR_KEPT = 0,
    IC_EXIF_COLOR_SRGB,
    /// Neither sRGB nor Adobe RGB.
    IC_EXIF_COLOR_OTHER,
} ic_exif_color;

/// Rewrites a TIFF-structured EXIF block for an upright picture of this size: orientation 1, pixel sizes corrected
/// where they are given, thumbnail left out. With `is_transposed` its resolutions across and down change places.
/// To be freed by the caller; NULL when there is nothing to keep.
uint8_t *ic_exif_copy_edited(
    const uint8_t *exif, size_t size, uint32_t width, uint32_t height, int is_transposed, ic_exif_color color,
    size_t *edited_size);

/// Copies an EXIF block without its thumbnail and without entries of groups whose bits are not set in `kept`; bits follow
/// the order of `MetadataGroup`. `artist` and `copyright` take the place of the block's own where they are not NULL, the artist
/// that of Windows' author too. A block of no bytes is made anew. To be freed by the caller; NULL when nothing is left.
uint8_t *ic_exif_copy_selected(
    const uint8_t *exif, size_t size, uint32_t kept, const char *artist, const char *copyright, size_t *edited_size);

/// Whether an EXIF block marks its picture as Adobe RGB the way cameras do (DCF 2.0): interoperability index `R03`, and a
/// colour space that is not sRGB.
int ic_exif_is_adobe_rgb(const uint8_t *exif, size_t size);
