#include <stdlib.h>
#include <string.h>

#include <spng.h>

#include "ic_internal.h"
#include "ic_pack.h"
#include "include/ic_png.h"

struct ic_png_encoder {
    spng_ctx *context;
    ic_png_settings settings;
    /// One row in the file's channels.
    uint8_t *row;
    size_t row_bytes;
    uint8_t *output;
};

static ic_status report(int code, ic_error *error) {
    if (code == SPNG_EMEM) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for encoding PNG");
    return ic_fail(error, IC_ENCODE, "PNG: %s", spng_strerror(code));
}

static int color_type(const ic_png_settings *settings) {
    if (settings->is_gray) {
        return settings->has_alpha ? SPNG_COLOR_TYPE_GRAYSCALE_ALPHA : SPNG_COLOR_TYPE_GRAYSCALE;
    }
    return settings->has_alpha ? SPNG_COLOR_TYPE_TRUECOLOR_ALPHA : SPNG_COLOR_TYPE_TRUECOLOR;
}

static int set_metadata(spng_ctx *context, const ic_png_settings *settings) {
    int code = 0;
    // spng copies none of these, but writes them before the call that opens the encoder returns.
    if (settings->icc_size) {
        struct spng_iccp profile = {.profile_name = "ICC profile",
                                    .profile_len = settings->icc_size,
                                    .profile = (char *)(uintptr_t)settings->icc};
        code = spng_set_iccp(context, &profile);
    }
    if (code == 0 && settings->exif_size) {
        struct spng_exif exif = {.length = settings->exif_size, .data = (char *)(uintptr_t)settings->exif};
        code = spng_set_exif(context, &exif);
    }
    if (code == 0 && settings->xmp_size) {
        struct spng_text text = {.keyword = "XML:com.adobe.xmp",
                                 .type = SPNG_ITXT,
                                 .length = settings->xmp_size - 1,
                                 .text = (char *)(uintptr_t)settings->xmp,
                                 .language_tag = "",
                                 .translated_keyword = ""};
        code = spng_set_text(context, &text, 1);
    }
    if (code == 0 && settings->resolution_x && settings->resolution_y) {
        struct spng_phys phys = {
            .ppu_x = settings->resolution_x, .ppu_y = settings->resolution_y, .unit_specifier = 1};
        code = spng_set_phys(context, &phys);
    }
    return code;
}

ic_png_encoder *ic_png_encoder_open(const ic_png_settings *settings, ic_error *error) {
    int channels = (settings->is_gray ? 1 : 3) + (settings->has_alpha ? 1 : 0);
    size_t row_bytes = (size_t)settings->width * (size_t)channels * (size_t)settings->bit_depth / 8;
    ic_png_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder) {
        encoder->settings = *settings;
        encoder->row_bytes = row_bytes;
        encoder->row = malloc(row_bytes);
        encoder->context = spng_ctx_new(SPNG_CTX_ENCODER);
    }
    if (!encoder || !encoder->row || !encoder->context) {
        ic_png_encoder_close(encoder);
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a PNG encoder");
        return NULL;
    }
    spng_ctx *context = encoder->context;
    struct spng_ihdr header = {.width = (uint32_t)settings->width,
                               .height = (uint32_t)settings->height,
                               .bit_depth = (uint8_t)settings->bit_depth,
                               .color_type = (uint8_t)color_type(settings)};
    int code = spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
    if (code == 0) code = spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, settings->level);
    if (code == 0) code = spng_set_ihdr(context, &header);
    if (code == 0) code = set_metadata(context, settings);
    if (code == 0) {
        code = spng_encode_image(context, NULL, 0, SPNG_FMT_PNG, SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    }
    if (code) {
        report(code, error);
        ic_png_encoder_close(encoder);
        return NULL;
    }
    return encoder;
}

void ic_png_encoder_close(ic_png_encoder *encoder) {
    if (!encoder) return;
    spng_ctx_free(encoder->context);
    free(encoder->row);
    free(encoder->output);
    free(encoder);
}

ic_status ic_png_encoder_write(
    ic_png_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error) {
    const ic_png_settings *settings = &encoder->settings;
    int is_whole = !settings->is_gray && settings->has_alpha;
    for (int32_t y = 0; y < count; y++) {
        const uint8_t *row = rows + (size_t)y * stride_bytes;
        if (!is_whole) {
            size_t bytes = (size_t)settings->bit_depth / 8;
            ic_pack_row(row, bytes, settings->is_gray, settings->has_alpha, (size_t)settings->width, encoder->row);
            row = encoder->row;
        }
        int code = spng_encode_row(encoder->context, row, encoder->row_bytes);
        if (code && code != SPNG_EOI) return report(code, error);
    }
    return IC_OK;
}

ic_status ic_png_encoder_finish(ic_png_encoder *encoder, const uint8_t **bytes, size_t *size, ic_error *error) {
    int code = 0;
    encoder->output = spng_get_png_buffer(encoder->context, size, &code);
    if (!encoder->output) return report(code, error);
    *bytes = encoder->output;
    return IC_OK;
}
