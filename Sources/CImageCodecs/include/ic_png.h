#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ic_error.h"

// PNG by libspng.

typedef struct ic_png_info {
    int32_t width;
    int32_t height;
    int32_t bit_depth;
    int32_t is_gray;
    /// An alpha channel, or transparency given for a colour or for palette entries.
    int32_t has_alpha;
    int32_t is_interlaced;
    /// The colour that is clear is given with more bits than the picture has, of which the lower ones count.
    int32_t has_wide_transparency;
    /// The file gives gamma or primaries that cannot be.
    int32_t has_impossible_colors;
    /// The colour profile, or one made of gamma and primaries that are not sRGB's, and the EXIF block; inside the decoder, NULL
    /// without one.
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
    /// Pixels a metre; 0 without them.
    uint32_t resolution_x;
    uint32_t resolution_y;
} ic_png_info;

typedef struct ic_png_decoder ic_png_decoder;

/// Reads everything before the picture. `bytes` is not copied.
ic_png_decoder *ic_png_decoder_open(const uint8_t *bytes, size_t size, ic_png_info *info, ic_error *error);
void ic_png_decoder_close(ic_png_decoder *decoder);

/// The XMP packet; NULL without one. The file's other texts are passed over.
const char *ic_png_decoder_xmp(ic_png_decoder *decoder, size_t *length);

ic_status ic_png_decoder_start(ic_png_decoder *decoder, ic_error *error);

/// Rows of R, G, B, A in 8 or, for 16-bit files, 16 bits. After damage, rows that are missing come black, and clear
/// where the file has alpha.
ic_status ic_png_decoder_read(
    ic_png_decoder *decoder, uint8_t *rows, size_t stride_bytes, int32_t count, int32_t *rows_read, ic_error *error);

/// What was wrong with the file; NULL when nothing was found so far.
const char *ic_png_decoder_damage(const ic_png_decoder *decoder);

typedef struct ic_png_settings {
    int32_t width;
    int32_t height;
    /// Bits of a sample in the rows and in the file, 8 or 16.
    int32_t bit_depth;
    int32_t is_gray;
    int32_t has_alpha;
    /// zlib's 0 ... 9.
    int32_t level;
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
    /// Ends with a zero byte, which counts in `xmp_size`.
    const uint8_t *xmp;
    size_t xmp_size;
    /// Pixels a metre; 0 for none.
    uint32_t resolution_x;
    uint32_t resolution_y;
} ic_png_settings;

typedef struct ic_png_encoder ic_png_encoder;

/// The metadata in `settings` is read during this call only.
ic_png_encoder *ic_png_encoder_open(const ic_png_settings *settings, ic_error *error);
void ic_png_encoder_close(ic_png_encoder *encoder);

/// Rows of four samples a pixel, whatever the file has.
ic_status ic_png_encoder_write(
    ic_png_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error);

/// Lends the file's bytes until the encoder is closed.
ic_status ic_png_encoder_finish(ic_png_encoder *encoder, const uint8_t **bytes, size_t *size, ic_error *error);
