#include <stdlib.h>
#include <string.h>

#include "ic_jxl.h"

enum { FIRST_BYTES = 256 << 10 };

static int set_colors(const ic_jxl_table *jxl, JxlEncoder *encoder, const ic_picture_settings *settings) {
    if (settings->primaries == 2) {
        return jxl->JxlEncoderSetICCProfile(encoder, settings->icc, settings->icc_size) == JXL_ENC_SUCCESS;
    }
    JxlColorEncoding colors;
    jxl->JxlColorEncodingSetToSRGB(&colors, settings->is_gray);
    if (settings->primaries == 12) colors.primaries = JXL_PRIMARIES_P3;
    return jxl->JxlEncoderSetColorEncoding(encoder, &colors) == JXL_ENC_SUCCESS;
}

static int add_boxes(const ic_jxl_table *jxl, JxlEncoder *encoder, const ic_picture_settings *settings) {
    if (settings->exif_size + settings->xmp_size == 0) return 1;
    int is_done = jxl->JxlEncoderUseBoxes(encoder) == JXL_ENC_SUCCESS;
    if (is_done && settings->exif_size) {
        // Four bytes say how far behind them the block begins.
        uint8_t *box = calloc(1, settings->exif_size + 4);
        if (!box) return 0;
        memcpy(box + 4, settings->exif, settings->exif_size);
        is_done = jxl->JxlEncoderAddBox(encoder, "Exif", box, settings->exif_size + 4, JXL_FALSE) == JXL_ENC_SUCCESS;
        free(box);
    }
    if (is_done && settings->xmp_size) {
        is_done = jxl->JxlEncoderAddBox(encoder, "xml ", settings->xmp, settings->xmp_size, JXL_FALSE) == JXL_ENC_SUCCESS;
    }
    return is_done;
}

/// The samples that are coded, without those that are left out; to be freed by the caller.
static uint8_t *packed(const ic_picture_settings *settings, const uint8_t *rows, uint32_t channels, size_t *size) {
    size_t bytes = settings->is_wide ? 2 : 1, pixels = (size_t)settings->width * (size_t)settings->height;
    *size = pixels * channels * bytes;
    uint8_t *samples = malloc(*size), *to = samples;
    // One channel of gray beside alpha is the first and the fourth.
    size_t colors = settings->is_gray ? 1 : 3;
    for (size_t i = 0; samples && i < pixels; i++, rows += 4 * bytes) {
        memcpy(to, rows, colors * bytes);
        to += colors * bytes;
        if (!settings->has_alpha) continue;
        memcpy(to, rows + 3 * bytes, bytes);
        to += bytes;
    }
    return samples;
}

static int add_picture(
    const ic_jxl_table *jxl, JxlEncoder *encoder, const ic_picture_settings *settings, const uint8_t *rows) {
    JxlEncoderFrameSettings *frame = jxl->JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (!frame) return 0;
    int is_set =
        jxl->JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_EFFORT, settings->effort) == JXL_ENC_SUCCESS &&
        jxl->JxlEncoderFrameSettingsSetOption(
            frame, JXL_ENC_FRAME_SETTING_DECODING_SPEED, settings->decoding_speed) == JXL_ENC_SUCCESS &&
        (settings->lossless ? jxl->JxlEncoderSetFrameLossless(frame, JXL_TRUE)
                            : jxl->JxlEncoderSetFrameDistance(frame, settings->distance)) == JXL_ENC_SUCCESS;
    if (!is_set) return 0;
    uint32_t channels = (settings->is_gray ? 1 : 3) + (settings->has_alpha ? 1 : 0);
    JxlPixelFormat format = {channels, settings->is_wide ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    size_t size = 0;
    uint8_t *samples = packed(settings, rows, channels, &size);
    if (!samples) return 0;
    // It takes a copy.
    int is_done = jxl->JxlEncoderAddImageFrame(frame, &format, samples, size) == JXL_ENC_SUCCESS;
    free(samples);
    return is_done;
}

static ic_status collect(
    const ic_jxl_table *jxl, JxlEncoder *encoder, const ic_picture_settings *settings, uint8_t **bytes, size_t *size,
    ic_error *error) {
    size_t room = FIRST_BYTES;
    *size = 0;
    *bytes = malloc(room);
    while (*bytes) {
        uint8_t *next = *bytes + *size;
        size_t left = room - *size;
        JxlEncoderStatus status = jxl->JxlEncoderProcessOutput(encoder, &next, &left);
        *size = room - left;
        if (status == JXL_ENC_SUCCESS) return IC_OK;
        if (status != JXL_ENC_NEED_MORE_OUTPUT) {
            if (!ic_may_go_on(&settings->pulse)) return ic_fail(error, IC_STOPPED, "Asked to stop");
            return ic_fail(error, IC_ENCODE, "JPEG XL encoder error %d", (int)jxl->JxlEncoderGetError(encoder));
        }
        uint8_t *larger = realloc(*bytes, room * 2);
        if (!larger) break;
        *bytes = larger;
        room *= 2;
    }
    return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG XL file");
}

static ic_status encode(
    const ic_jxl_table *jxl, JxlEncoder *encoder, const ic_picture_settings *settings, const uint8_t *rows,
    uint8_t **bytes, size_t *size, ic_error *error) {
    JxlBasicInfo info;
    jxl->JxlEncoderInitBasicInfo(&info);
    info.xsize = (uint32_t)settings->width;
    info.ysize = (uint32_t)settings->height;
    info.bits_per_sample = (uint32_t)settings->bits;
    info.num_color_channels = settings->is_gray ? 1 : 3;
    info.num_extra_channels = settings->has_alpha ? 1 : 0;
    info.alpha_bits = settings->has_alpha ? (uint32_t)settings->bits : 0;
    // Without it the colours are coded in the library's own space.
    info.uses_original_profile = settings->lossless;
    // 16 bits and large pictures are beyond the level that is assumed.
    if (settings->bits > 12) jxl->JxlEncoderSetCodestreamLevel(encoder, 10);
    jxl->JxlEncoderSetParallelRunner(encoder, ic_jxl_run, (void *)(uintptr_t)&settings->pulse);
    int is_ready = jxl->JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS &&
                   set_colors(jxl, encoder, settings) && add_boxes(jxl, encoder, settings) &&
                   add_picture(jxl, encoder, settings, rows);
    if (!is_ready) {
        if (!ic_may_go_on(&settings->pulse)) return ic_fail(error, IC_STOPPED, "Asked to stop");
        return ic_fail(error, IC_ENCODE, "JPEG XL encoder error %d", (int)jxl->JxlEncoderGetError(encoder));
    }
    jxl->JxlEncoderCloseInput(encoder);
    return collect(jxl, encoder, settings, bytes, size, error);
}

ic_status ic_jxl_encode(
    const ic_picture_settings *settings, const uint8_t *rows, uint8_t **bytes, size_t *size, ic_error *error) {
    const ic_jxl_table *jxl = ic_jxl(error);
    if (!jxl) return error->status;
    *bytes = NULL;
    JxlEncoder *encoder = jxl->JxlEncoderCreate(NULL);
    if (!encoder) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG XL encoder");
    ic_status status = encode(jxl, encoder, settings, rows, bytes, size, error);
    jxl->JxlEncoderDestroy(encoder);
    if (status == IC_OK) return IC_OK;
    free(*bytes);
    *bytes = NULL;
    return status;
}
