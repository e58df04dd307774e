#include <stdlib.h>
#include <string.h>

#include <webp/encode.h>
#include <webp/mux.h>

#include "ic_internal.h"
#include "include/ic_webp.h"

/// Rows converted at once. Even, because chroma is averaged over pairs of rows.
enum { BAND_ROWS = 32 };

struct ic_webp_encoder {
    ic_webp_settings settings;
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer;
    /// Rows not yet converted, for the lossy form only.
    uint8_t *band;
    int band_rows;
    /// Rows already in `picture`.
    int rows;
    int has_seen_alpha;
    WebPData file;
    ic_pulse pulse;
};

static int watch_percents(int percent, const WebPPicture *picture) {
    (void)percent;
    const ic_webp_encoder *encoder = picture->user_data;
    return ic_may_go_on(&encoder->pulse);
}

ic_webp_encoder *ic_webp_encoder_open(const ic_webp_settings *settings, ic_error *error) {
    ic_webp_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a WebP encoder");
        return NULL;
    }
    encoder->settings = *settings;
    WebPMemoryWriterInit(&encoder->writer);
    int is_ready = WebPConfigInit(&encoder->config) && WebPPictureInit(&encoder->picture);
    encoder->config.lossless = settings->lossless;
    encoder->config.quality = (float)settings->quality;
    encoder->config.method = settings->method;
    WebPPicture *picture = &encoder->picture;
    picture->width = settings->width;
    picture->height = settings->height;
    picture->use_argb = settings->lossless;
    picture->colorspace = settings->has_alpha ? WEBP_YUV420A : WEBP_YUV420;
    picture->writer = WebPMemoryWrite;
    picture->custom_ptr = &encoder->writer;
    picture->progress_hook = watch_percents;
    picture->user_data = encoder;
    if (is_ready && WebPValidateConfig(&encoder->config) && WebPPictureAlloc(picture)) {
        if (settings->lossless) return encoder;
        encoder->band = malloc((size_t)settings->width * 4 * BAND_ROWS);
        if (encoder->band) return encoder;
    }
    ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a WebP picture");
    ic_webp_encoder_close(encoder);
    return NULL;
}

void ic_webp_encoder_set_pulse(ic_webp_encoder *encoder, ic_pulse pulse) { encoder->pulse = pulse; }

void ic_webp_encoder_close(ic_webp_encoder *encoder) {
    if (!encoder) return;
    WebPPictureFree(&encoder->picture);
    WebPMemoryWriterClear(&encoder->writer);
    WebPDataClear(&encoder->file);
    free(encoder->band);
    free(encoder);
}

static void copy_plane(
    uint8_t *target, int target_stride, const uint8_t *source, int source_stride, int width, int rows) {
    for (int y = 0; y < rows; y++) {
        memcpy(target + (size_t)y * (size_t)target_stride, source + (size_t)y * (size_t)source_stride, (size_t)width);
    }
}

/// Converts the waiting rows to Y'CbCr and puts them into their place of the picture.
static ic_status flush_band(ic_webp_encoder *encoder, ic_error *error) {
    if (encoder->band_rows == 0) return IC_OK;
    WebPPicture *whole = &encoder->picture;
    WebPPicture part;
    if (!WebPPictureInit(&part)) return ic_fail(error, IC_ENCODE, "libwebp has another version than its header");
    part.width = whole->width;
    part.height = encoder->band_rows;
    int stride = whole->width * 4;
    int is_done = encoder->settings.has_alpha ? WebPPictureImportRGBA(&part, encoder->band, stride)
                                              : WebPPictureImportRGBX(&part, encoder->band, stride);
    if (!is_done) {
        WebPPictureFree(&part);
        return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for converting to WebP");
    }
    int width = whole->width, rows = encoder->band_rows, first = encoder->rows;
    int half_width = (width + 1) / 2, half_rows = (rows + 1) / 2;
    size_t offset = (size_t)first * (size_t)whole->y_stride;
    size_t half_offset = (size_t)(first / 2) * (size_t)whole->uv_stride;
    copy_plane(whole->y + offset, whole->y_stride, part.y, part.y_stride, width, rows);
    copy_plane(whole->u + half_offset, whole->uv_stride, part.u, part.uv_stride, half_width, half_rows);
    copy_plane(whole->v + half_offset, whole->uv_stride, part.v, part.uv_stride, half_width, half_rows);
    if (whole->a) {
        uint8_t *alpha = whole->a + (size_t)first * (size_t)whole->a_stride;
        if (part.a) {
            encoder->has_seen_alpha = 1;
            copy_plane(alpha, whole->a_stride, part.a, part.a_stride, width, rows);
        } else {
            for (int y = 0; y < rows; y++) memset(alpha + (size_t)y * (size_t)whole->a_stride, 255, (size_t)width);
        }
    }
    WebPPictureFree(&part);
    encoder->rows += rows;
    encoder->band_rows = 0;
    return IC_OK;
}

static void add_lossless_row(ic_webp_encoder *encoder, const uint8_t *row) {
    uint32_t *target = encoder->picture.argb + (size_t)encoder->rows * (size_t)encoder->picture.argb_stride;
    int has_alpha = encoder->settings.has_alpha;
    for (int x = 0; x < encoder->picture.width; x++, row += 4) {
        uint32_t alpha = has_alpha ? row[3] : 255;
        target[x] = alpha << 24 | (uint32_t)row[0] << 16 | (uint32_t)row[1] << 8 | row[2];
    }
    encoder->rows++;
}

ic_status ic_webp_encoder_write(
    ic_webp_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error) {
    if (count > encoder->picture.height - encoder->rows - encoder->band_rows) {
        return ic_fail(error, IC_ENCODE, "More rows were given than the picture has");
    }
    size_t row_bytes = (size_t)encoder->picture.width * 4;
    for (int32_t y = 0; y < count; y++, rows += stride_bytes) {
        if (encoder->settings.lossless) {
            add_lossless_row(encoder, rows);
            continue;
        }
        memcpy(encoder->band + (size_t)encoder->band_rows * row_bytes, rows, row_bytes);
        if (++encoder->band_rows < BAND_ROWS) continue;
        if (flush_band(encoder, error) != IC_OK) return error->status;
    }
    return IC_OK;
}

/// Wraps the picture in the extended container, with its metadata.
static WebPMuxError assemble(ic_webp_encoder *encoder, const ic_webp_metadata *metadata) {
    WebPMux *mux = WebPMuxNew();
    if (!mux) return WEBP_MUX_MEMORY_ERROR;
    WebPData image = {encoder->writer.mem, encoder->writer.size};
    WebPMuxError code = WebPMuxSetImage(mux, &image, 0);
    const struct {
        const char *kind;
        WebPData data;
    } chunks[] = {
        {"ICCP", {metadata->icc, metadata->icc_size}},
        {"EXIF", {metadata->exif, metadata->exif_size}},
        {"XMP ", {metadata->xmp, metadata->xmp_size}},
    };
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0] && code == WEBP_MUX_OK; i++) {
        if (chunks[i].data.size) code = WebPMuxSetChunk(mux, chunks[i].kind, &chunks[i].data, 0);
    }
    if (code == WEBP_MUX_OK) code = WebPMuxAssemble(mux, &encoder->file);
    WebPMuxDelete(mux);
    return code;
}

ic_status ic_webp_encoder_finish(
    ic_webp_encoder *encoder, const ic_webp_metadata *metadata, const uint8_t **bytes, size_t *size, ic_error *error) {
    WebPPicture *picture = &encoder->picture;
    if (flush_band(encoder, error) != IC_OK) return error->status;
    if (encoder->rows != picture->height) return ic_fail(error, IC_ENCODE, "Fewer rows were given than the picture has");
    if (!encoder->settings.lossless && !encoder->has_seen_alpha) picture->colorspace = WEBP_YUV420;
    if (!WebPEncode(&encoder->config, picture)) {
        if (picture->error_code == VP8_ENC_ERROR_USER_ABORT) return ic_fail(error, IC_STOPPED, "Asked to stop");
        int is_memory = picture->error_code == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                        picture->error_code == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY;
        return ic_fail(
            error, is_memory ? IC_OUT_OF_MEMORY : IC_ENCODE, "WebP encoder error %d", (int)picture->error_code);
    }
    *bytes = encoder->writer.mem;
    *size = encoder->writer.size;
    if (metadata->icc_size + metadata->exif_size + metadata->xmp_size == 0) return IC_OK;
    WebPMuxError code = assemble(encoder, metadata);
    if (code != WEBP_MUX_OK) return ic_fail(error, IC_ENCODE, "WebP container error %d", (int)code);
    *bytes = encoder->file.bytes;
    *size = encoder->file.size;
    return IC_OK;
}
