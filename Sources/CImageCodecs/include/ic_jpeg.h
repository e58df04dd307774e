#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ic_error.h"
#include "ic_pulse.h"

// JPEG by libjpeg-turbo. Its error exit jumps; no jump leaves these functions.

typedef struct ic_jpeg_info {
    int32_t width;
    int32_t height;
    int32_t components;
    /// Rows come as C, M, Y, K instead of R, G, B, 255.
    int32_t is_cmyk;
    int32_t is_progressive;
    /// The file has several scans, so every coefficient is held until the last one is read.
    int32_t has_multiple_scans;
    int64_t coefficient_bytes;
    int32_t max_sampling_width;
    int32_t max_sampling_height;
    /// Pixels an inch; 0 where the JFIF segment is missing or says nothing of them.
    double resolution_x;
    double resolution_y;
} ic_jpeg_info;

typedef struct ic_jpeg_decoder ic_jpeg_decoder;

/// Reads the header. `bytes` is not copied. NULL with `error` filled when it cannot be read.
ic_jpeg_decoder *ic_jpeg_decoder_open(
    const uint8_t *bytes, size_t size, int32_t max_scans, ic_jpeg_info *info, ic_error *error);
void ic_jpeg_decoder_close(ic_jpeg_decoder *decoder);

/// Before the first row. The pulse's context outlives the decoder.
void ic_jpeg_decoder_set_pulse(ic_jpeg_decoder *decoder, ic_pulse pulse);

/// The APPn and COM segments before the first scan, in file order: payload without marker and length.
/// Returns 0 when `index` is past the last one.
int ic_jpeg_decoder_marker(
    const ic_jpeg_decoder *decoder, int32_t index, int32_t *code, const uint8_t **payload, size_t *size);

/// The colour profile joined from its segments, to be freed by the caller; NULL without a sound one.
uint8_t *ic_jpeg_decoder_copy_icc(ic_jpeg_decoder *decoder, size_t *size);

/// `scale_eighths` is 8, 4, 2 or 1.
ic_status ic_jpeg_decoder_start(
    ic_jpeg_decoder *decoder, int32_t scale_eighths, int32_t *width, int32_t *height, ic_error *error);

/// Makes a decoder of the same file take its coefficients from another one, which reads them and was started at the same scale or a
/// larger one. Both are started and have no row yet; the leader outlives the follower.
///
/// Returns 0 where each has to read for itself: a file of several scans, a larger scale, or no memory.
int ic_jpeg_decoder_follow(ic_jpeg_decoder *follower, ic_jpeg_decoder *leader);

/// Decodes up to `count` rows; `rows_read` is 0 only after the last one, or where a follower has to wait for its leader.
ic_status ic_jpeg_decoder_read(
    ic_jpeg_decoder *decoder, uint8_t *rows, size_t stride_bytes, int32_t count, int32_t *rows_read, ic_error *error);

/// The kinds of damage met so far, without repetition; NULL when `index` is past the last one.
const char *ic_jpeg_decoder_damage(const ic_jpeg_decoder *decoder, int32_t index);

typedef struct ic_jpeg_settings {
    int32_t width;
    int32_t height;
    int32_t quality;
    int32_t is_gray;
    int32_t full_chroma;
    int32_t optimize;
    int32_t progressive;
    /// Leave the JFIF segment out; an EXIF segment follows in its place.
    int32_t omit_jfif;
    /// Pixels an inch for the JFIF segment; 0 for none.
    int32_t resolution_x;
    int32_t resolution_y;
} ic_jpeg_settings;

typedef struct ic_jpeg_encoder ic_jpeg_encoder;

/// Writes the header. `reserve_bytes` is the first size of the output buffer, which grows as needed.
ic_jpeg_encoder *ic_jpeg_encoder_open(const ic_jpeg_settings *settings, size_t reserve_bytes, ic_error *error);
void ic_jpeg_encoder_close(ic_jpeg_encoder *encoder);

/// Before the first row. The pulse's context outlives the encoder.
void ic_jpeg_encoder_set_pulse(ic_jpeg_encoder *encoder, ic_pulse pulse);

/// Writes one segment: `prefix` and then `payload`. Only before the first row.
ic_status ic_jpeg_encoder_marker(
    ic_jpeg_encoder *encoder, int32_t code, const uint8_t *prefix, size_t prefix_size, const uint8_t *payload,
    size_t payload_size, ic_error *error);
ic_status ic_jpeg_encoder_icc(ic_jpeg_encoder *encoder, const uint8_t *icc, size_t size, ic_error *error);

/// Rows of R, G, B and one unused byte.
ic_status ic_jpeg_encoder_write(
    ic_jpeg_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error);

/// Bytes of the file so far; after its last segment, before its first row.
size_t ic_jpeg_encoder_position(const ic_jpeg_encoder *encoder);

/// Ends the file and lends its bytes until the encoder is closed.
ic_status ic_jpeg_encoder_finish(ic_jpeg_encoder *encoder, const uint8_t **bytes, size_t *size, ic_error *error);

/// Puts another file behind the finished one, overwrites `patch_size` bytes at `patch_start`, and lends both files as one.
ic_status ic_jpeg_encoder_attach(
    ic_jpeg_encoder *encoder, const uint8_t *file, size_t file_size, size_t patch_start, const uint8_t *patch,
    size_t patch_size, const uint8_t **bytes, size_t *size, ic_error *error);
