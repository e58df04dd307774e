#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ic_error.h"

// TIFF by libtiff: the first page of a file in memory.

typedef enum ic_tiff_layout {
    IC_TIFF_RGBX8 = 0,
    IC_TIFF_RGBA8,
    IC_TIFF_RGBA16,
    IC_TIFF_RGBAF32,
    IC_TIFF_CMYK8,
} ic_tiff_layout;

typedef struct ic_tiff_info {
    int32_t width;
    int32_t height;
    ic_tiff_layout layout;
    int32_t bits;
    int32_t is_gray;
    int32_t has_alpha;
    /// The tag's value, 1 ... 8 or anything a damaged file says.
    int32_t orientation;
    int32_t pages;
    /// It does not say what 0 is, which is taken for white as a fax has it.
    int32_t takes_fax_for_white;
    /// Its samples are numbers above and below 0, of which the least is taken for black.
    int32_t is_signed;
    /// Channels beyond colour and alpha, which are left out.
    int32_t extra_channels;
    /// Pixels of the strips or tiles that are held at once, and bytes for them and for rows.
    int64_t pixels_held;
    int64_t bytes_held;
    /// Inside the decoder; NULL without one.
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *xmp;
    size_t xmp_size;
    const uint8_t *iptc;
    size_t iptc_size;
} ic_tiff_info;

typedef struct ic_tiff_decoder ic_tiff_decoder;

/// Reads the first directory. `bytes` is not copied.
ic_tiff_decoder *ic_tiff_decoder_open(const uint8_t *bytes, size_t size, ic_tiff_info *info, ic_error *error);
void ic_tiff_decoder_close(ic_tiff_decoder *decoder);

ic_status ic_tiff_decoder_start(ic_tiff_decoder *decoder, ic_error *error);
ic_status ic_tiff_decoder_read(
    ic_tiff_decoder *decoder, uint8_t *rows, size_t stride_bytes, int32_t count, int32_t *rows_read, ic_error *error);

/// What was wrong with the data read so far; NULL when `index` is past the last one.
const char *ic_tiff_decoder_damage(const ic_tiff_decoder *decoder, int32_t index);

typedef struct ic_tiff_settings {
    int32_t width;
    int32_t height;
    /// Bits of a sample in the rows and in the file, 8 or 16.
    int32_t bits;
    int32_t is_gray;
    int32_t has_alpha;
    /// zlib's 1 ... 9.
    int32_t level;
    int32_t is_big_endian;
    /// Further directories, which are put behind the file's header of 8 bytes; where those of EXIF and of GPS begin, 0
    /// without one.
    const uint8_t *directories;
    size_t directories_size;
    uint32_t exif_start;
    uint32_t gps_start;
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *xmp;
    size_t xmp_size;
    /// Photoshop's resources.
    const uint8_t *photoshop;
    size_t photoshop_size;
    /// Pixels an inch; 0 for none.
    double resolution_x;
    double resolution_y;
} ic_tiff_settings;

typedef struct ic_tiff_encoder ic_tiff_encoder;

/// What `settings` points to is read during this call only.
ic_tiff_encoder *ic_tiff_encoder_open(const ic_tiff_settings *settings, ic_error *error);
void ic_tiff_encoder_close(ic_tiff_encoder *encoder);

/// Sets a tag whose value is text. Only before the first row.
void ic_tiff_encoder_text(ic_tiff_encoder *encoder, uint32_t tag, const char *value);

/// Sets a tag that libtiff does not know, by its type in TIFF: bytes (1 or 7), or numbers of 16 bits (3). Only before the first
/// row.
void ic_tiff_encoder_values(
    ic_tiff_encoder *encoder, uint32_t tag, int32_t type, const void *values, uint32_t count);

/// Rows of four samples a pixel, whatever the file has.
ic_status ic_tiff_encoder_write(
    ic_tiff_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error);

/// Lends the file's bytes until the encoder is closed.
ic_status ic_tiff_encoder_finish(ic_tiff_encoder *encoder, const uint8_t **bytes, size_t *size, ic_error *error);
