#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ic_error.h"
#include "ic_library.h"
#include "ic_pulse.h"

// Pictures that are decoded and encoded whole, by libraries that are opened at run time.

typedef struct ic_picture_info {
    int32_t width;
    int32_t height;
    /// Bits a channel in the file.
    int32_t bits;
    /// Rows come in 16 bits a channel, else in 8.
    int32_t is_wide;
    int32_t has_alpha;
    int32_t is_gray;
    /// As in EXIF, of the rows that `ic_picture_decoder_decode` gives.
    int32_t orientation;
    /// Pictures that follow each other in time, 1 for a still one; 0 where there are several, without a count.
    int32_t frames;
    /// Pictures that belong together, of which the main one is decoded.
    int32_t pictures;
    /// What the user should be told, as part of a sentence; NULL for nothing. Lives on.
    const char *note;
    /// What the colours are by ITU-T H.273 where the file has no profile; 2 where it does not say.
    int32_t primaries;
    int32_t transfer;
    /// Bytes that decoding takes beside the rows, an estimate from above.
    int64_t bytes_held;
    /// Inside the decoder; NULL without one.
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
    const uint8_t *xmp;
    size_t xmp_size;
    /// Further blocks of metadata, which are not read.
    int32_t left_out;
} ic_picture_info;

typedef struct ic_picture_decoder ic_picture_decoder;

/// Reads the header. `bytes` is not copied. Pictures of more than `max_pixels` may be refused here already. `info` is filled,
/// with no more than `bytes_held` where NULL is returned: an estimate from above of what it took to find out.
ic_picture_decoder *ic_picture_decoder_open(
    ic_library library, const uint8_t *bytes, size_t size, int64_t max_pixels, ic_picture_info *info, ic_error *error);
void ic_picture_decoder_close(ic_picture_decoder *decoder);

/// Before decoding. The pulse's context outlives the decoder.
void ic_picture_decoder_set_pulse(ic_picture_decoder *decoder, ic_pulse pulse);

/// Decodes the first or main picture to `rows`: R, G, B, A of 8 or 16 bits without gaps, alpha not premultiplied and full
/// where there is none. Called once.
ic_status ic_picture_decoder_decode(ic_picture_decoder *decoder, uint8_t *rows, ic_error *error);

/// What was wrong with the file; NULL when nothing was found so far.
const char *ic_picture_decoder_damage(const ic_picture_decoder *decoder);

/// The embedded preview of a camera's raw file, a JPEG in the decoder's memory; IC_UNSUPPORTED without one. In place of
/// decoding.
ic_status ic_picture_decoder_preview(
    ic_picture_decoder *decoder, const uint8_t **bytes, size_t *size, ic_error *error);

typedef struct ic_picture_settings {
    int32_t width;
    int32_t height;
    /// Rows have 16 bits a channel, else 8.
    int32_t is_wide;
    /// Bits a channel of the file.
    int32_t bits;
    int32_t has_alpha;
    int32_t is_gray;
    int32_t lossless;
    /// 4:4:4 instead of 4:2:0, where the format has both.
    int32_t full_chroma;
    /// AVIF's quantizer, 0 ... 63.
    int32_t quantizer;
    /// JPEG XL's distance in just noticeable differences, 0 ... 25.
    float distance;
    /// AVIF's speed, 0 ... 10, and JPEG XL's effort, 1 ... 9.
    int32_t speed;
    int32_t effort;
    /// 1 for an encoder of AVIF that looks less far for the best coefficients.
    int32_t plain_search;
    /// An AVIF's columns of tiles as a power of 2, and the threads that encode them, which change nothing in the file.
    int32_t tile_columns_log2;
    int32_t threads;
    /// How much JPEG XL gives up for fast decoding, 0 ... 4.
    int32_t decoding_speed;
    /// The colours are those of H.273's primaries with sRGB's curve: 1 for sRGB and 12 for Display P3. 2 where only the
    /// profile says it.
    int32_t primaries;
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
    const uint8_t *xmp;
    size_t xmp_size;
    ic_pulse pulse;
} ic_picture_settings;

/// Encodes rows without gaps of R, G, B, A; without `has_alpha` the fourth sample is ignored. The file is to be freed by
/// the caller.
ic_status ic_avif_encode(
    const ic_picture_settings *settings, const uint8_t *rows, uint8_t **bytes, size_t *size, ic_error *error);
ic_status ic_jxl_encode(
    const ic_picture_settings *settings, const uint8_t *rows, uint8_t **bytes, size_t *size, ic_error *error);
