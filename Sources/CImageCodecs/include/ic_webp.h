#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ic_error.h"
#include "ic_pulse.h"

// WebP by libwebp, libwebpdemux and libwebpmux.

typedef struct ic_webp_info {
    /// Of the canvas; an animation's first frame may cover a part of it.
    int32_t width;
    int32_t height;
    int32_t has_alpha;
    int32_t frames;
    /// The container or its first frame ends early.
    int32_t is_incomplete;
} ic_webp_info;

typedef struct ic_webp_decoder ic_webp_decoder;

/// Reads the container. `bytes` is not copied.
ic_webp_decoder *ic_webp_decoder_open(const uint8_t *bytes, size_t size, ic_webp_info *info, ic_error *error);
void ic_webp_decoder_close(ic_webp_decoder *decoder);

/// Before the first row. The pulse's context outlives the decoder.
void ic_webp_decoder_set_pulse(ic_webp_decoder *decoder, ic_pulse pulse);

/// Lends the payload of the first chunk of this kind (`ICCP`, `EXIF`, `XMP `); 0 without one.
int ic_webp_decoder_chunk(const ic_webp_decoder *decoder, const char *kind, const uint8_t **payload, size_t *size);

/// Decodes the first frame, and keeps the canvas.
ic_status ic_webp_decoder_start(ic_webp_decoder *decoder, ic_error *error);

/// Lends the canvas, R, G, B, A without gaps between rows.
const uint8_t *ic_webp_decoder_canvas(const ic_webp_decoder *decoder);

/// What was wrong with the file; NULL when nothing was found so far.
const char *ic_webp_decoder_damage(const ic_webp_decoder *decoder);

typedef struct ic_webp_settings {
    int32_t width;
    int32_t height;
    int32_t has_alpha;
    int32_t lossless;
    int32_t quality;
    /// libwebp's 0 (fast) ... 6 (small).
    int32_t method;
} ic_webp_settings;

typedef struct ic_webp_encoder ic_webp_encoder;

ic_webp_encoder *ic_webp_encoder_open(const ic_webp_settings *settings, ic_error *error);
void ic_webp_encoder_close(ic_webp_encoder *encoder);

/// Before the first row. The pulse's context outlives the encoder.
void ic_webp_encoder_set_pulse(ic_webp_encoder *encoder, ic_pulse pulse);

/// Rows of R, G, B, A; without `has_alpha` the fourth byte is ignored.
ic_status ic_webp_encoder_write(
    ic_webp_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error);

typedef struct ic_webp_metadata {
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
    const uint8_t *xmp;
    size_t xmp_size;
} ic_webp_metadata;

/// Compresses, and lends the file's bytes until the encoder is closed.
ic_status ic_webp_encoder_finish(
    ic_webp_encoder *encoder, const ic_webp_metadata *metadata, const uint8_t **bytes, size_t *size, ic_error *error);
