#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_jxl.h"

enum {
    BOX_STEP = 64 << 10,
    /// Pixels of the largest group. A frame that is not shown may have one, whatever the picture, and nothing of it is told
    /// before the library makes room for it.
    LARGEST_GROUP = 1024 * 1024
};

typedef struct box {
    uint8_t *bytes;
    size_t size;
} box;

typedef struct jxl_state {
    const ic_jxl_table *jxl;
    ic_picture_source source;
    uint8_t *icc;
    box exif;
    box xmp;
} jxl_state;

static void close_jxl(void *opaque) {
    jxl_state *state = opaque;
    free(state->icc);
    free(state->exif.bytes);
    free(state->xmp.bytes);
    free(state);
}

static void read_colors(jxl_state *state, JxlDecoder *decoder, const JxlPixelFormat *format, ic_picture_info *info) {
    JxlColorEncoding colors;
    if (state->jxl->JxlDecoderGetColorAsEncodedProfile(decoder, format, JXL_COLOR_PROFILE_TARGET_DATA, &colors) ==
        JXL_DEC_SUCCESS) {
        info->is_gray = colors.color_space == JXL_COLOR_SPACE_GRAY;
        int is_d65 = colors.white_point == JXL_WHITE_POINT_D65;
        if (is_d65 && (info->is_gray || colors.primaries == JXL_PRIMARIES_SRGB)) info->primaries = 1;
        if (is_d65 && !info->is_gray && colors.primaries == JXL_PRIMARIES_P3) info->primaries = 12;
        if (info->primaries != 2 && colors.transfer_function == JXL_TRANSFER_FUNCTION_SRGB) {
            info->transfer = 13;
            return;
        }
    }
    // Whatever the colours are, the library can say it as a profile.
    info->primaries = 2;
    size_t size = 0;
    if (state->jxl->JxlDecoderGetICCProfileSize(decoder, format, JXL_COLOR_PROFILE_TARGET_DATA, &size) !=
            JXL_DEC_SUCCESS ||
        size == 0 || size > ic_most_unpacked(state->source.size)) {
        return;
    }
    state->icc = malloc(size);
    if (!state->icc || state->jxl->JxlDecoderGetColorAsICCProfile(
                           decoder, format, JXL_COLOR_PROFILE_TARGET_DATA, state->icc, size) != JXL_DEC_SUCCESS) {
        return;
    }
    info->icc = state->icc;
    info->icc_size = size;
}

/// More room for the box that is being read; 0 when there is none, or when it is too large for the file.
static int grow(const jxl_state *state, JxlDecoder *decoder, box *box) {
    size_t unused = state->jxl->JxlDecoderReleaseBoxBuffer(decoder);
    size_t used = box->size - unused;
    uint8_t *bytes = used > ic_most_unpacked(state->source.size) ? NULL : realloc(box->bytes, used * 2 + BOX_STEP);
    if (!bytes) return 0;
    box->bytes = bytes;
    box->size = used * 2 + BOX_STEP;
    return state->jxl->JxlDecoderSetBoxBuffer(decoder, bytes + used, box->size - used) == JXL_DEC_SUCCESS;
}

static void end_box(const ic_jxl_table *jxl, JxlDecoder *decoder, box **open) {
    if (*open) (*open)->size -= jxl->JxlDecoderReleaseBoxBuffer(decoder);
    *open = NULL;
}

/// Begins to keep a box of metadata, the first of its kind, and counts the others.
static void begin_box(jxl_state *state, JxlDecoder *decoder, box **open, ic_picture_info *info) {
    JxlBoxType kind;
    if (state->jxl->JxlDecoderGetBoxType(decoder, kind, JXL_TRUE) != JXL_DEC_SUCCESS) return;
    if (memcmp(kind, "Exif", 4) == 0 && !state->exif.bytes) *open = &state->exif;
    if (memcmp(kind, "xml ", 4) == 0 && !state->xmp.bytes) *open = &state->xmp;
    if (!*open) {
        info->left_out += memcmp(kind, "Exif", 4) == 0 || memcmp(kind, "xml ", 4) == 0 || memcmp(kind, "jumb", 4) == 0;
        return;
    }
    (*open)->bytes = malloc(BOX_STEP);
    (*open)->size = (*open)->bytes ? BOX_STEP : 0;
    if (!(*open)->bytes ||
        state->jxl->JxlDecoderSetBoxBuffer(decoder, (*open)->bytes, BOX_STEP) != JXL_DEC_SUCCESS) {
        *open = NULL;
    }
}

static void describe(const JxlBasicInfo *basic, ic_picture_info *info) {
    info->width = (int32_t)basic->xsize;
    info->height = (int32_t)basic->ysize;
    info->bits = basic->exponent_bits_per_sample ? 16 : (int32_t)basic->bits_per_sample;
    info->is_wide = info->bits > 8;
    info->has_alpha = basic->alpha_bits > 0;
    info->is_gray = basic->num_color_channels == 1;
    info->orientation = (int32_t)basic->orientation;
    info->frames = basic->have_animation ? 0 : 1;
    // Three float planes and the alpha, twice while they are filtered, and what is coded; the same for each other channel.
    int64_t pixels = ic_sum(ic_picture_bytes(basic->xsize, basic->ysize, 1), LARGEST_GROUP);
    int64_t others = (int64_t)basic->num_extra_channels - info->has_alpha;
    info->bytes_held = ic_sum(ic_picture_bytes(pixels, 40 + 12 * (others > 0 ? others : 0), 1), 8 << 20);
}

/// Header, colours and the boxes around the picture, which may stand behind it.
static ic_status read_header(jxl_state *state, JxlDecoder *decoder, ic_picture_info *info, ic_error *error) {
    const ic_jxl_table *jxl = state->jxl;
    box *open = NULL;
    int has_header = 0;
    while (1) {
        switch (jxl->JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_BASIC_INFO: {
            JxlBasicInfo basic;
            if (jxl->JxlDecoderGetBasicInfo(decoder, &basic) != JXL_DEC_SUCCESS) break;
            if (basic.xsize > INT32_MAX || basic.ysize > INT32_MAX) {
                return ic_fail(error, IC_LIMIT, "The JPEG XL is too large");
            }
            ic_status status = ic_check_pixels(&state->source, basic.xsize, basic.ysize, error);
            if (status != IC_OK) return status;
            describe(&basic, info);
            has_header = 1;
            continue;
        }
        case JXL_DEC_COLOR_ENCODING: {
            JxlPixelFormat format = {4, info->is_wide ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
            read_colors(state, decoder, &format, info);
            continue;
        }
        case JXL_DEC_BOX:
            end_box(jxl, decoder, &open);
            begin_box(state, decoder, &open, info);
            continue;
        case JXL_DEC_BOX_NEED_MORE_OUTPUT:
            if (open && grow(state, decoder, open)) continue;
            return ic_fail(error, IC_LIMIT, "The JPEG XL's metadata is too large");
        default: break;
        }
        break;
    }
    end_box(jxl, decoder, &open);
    return has_header ? IC_OK : ic_fail(error, IC_DAMAGED, "The JPEG XL's header is damaged or ends early");
}

static ic_status open_jxl(const ic_picture_source *source, void **opaque, ic_picture_info *info, ic_error *error) {
    const ic_jxl_table *jxl = ic_jxl(error);
    if (!jxl) return error->status;
    jxl_state *state = calloc(1, sizeof *state);
    if (!state) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG XL decoder");
    *opaque = state;
    *state = (jxl_state){.jxl = jxl, .source = *source};
    JxlDecoder *decoder = jxl->JxlDecoderCreate(NULL);
    if (!decoder) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG XL decoder");
    jxl->JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_BOX);
    jxl->JxlDecoderSetKeepOrientation(decoder, JXL_TRUE);
    jxl->JxlDecoderSetDecompressBoxes(decoder, JXL_TRUE);
    jxl->JxlDecoderSetInput(decoder, source->bytes, source->size);
    jxl->JxlDecoderCloseInput(decoder);
    ic_quiet_begin();
    ic_status status = read_header(state, decoder, info, error);
    ic_quiet_end();
    jxl->JxlDecoderDestroy(decoder);
    // Grown, and copied.
    info->bytes_held = ic_sum(info->bytes_held, 4 * (int64_t)(state->exif.size + state->xmp.size));
    info->xmp = state->xmp.bytes;
    info->xmp_size = state->xmp.size;
    if (state->exif.size <= 4) return status;
    // Four bytes say how far behind them the block begins.
    const uint8_t *b = state->exif.bytes;
    uint64_t start = 4 + ((uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3]);
    if (start >= state->exif.size) return status;
    info->exif = b + start;
    info->exif_size = state->exif.size - start;
    return status;
}

/// Until the first frame is there.
static ic_status read_frame(
    jxl_state *state, JxlDecoder *decoder, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    const ic_jxl_table *jxl = state->jxl;
    JxlPixelFormat format = {4, info->is_wide ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    int has_buffer = 0;
    while (1) {
        switch (jxl->JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
            size_t size = 0, room = target->stride_bytes * (size_t)info->height;
            has_buffer = jxl->JxlDecoderImageOutBufferSize(decoder, &format, &size) == JXL_DEC_SUCCESS &&
                         size == room &&
                         jxl->JxlDecoderSetImageOutBuffer(decoder, &format, target->rows, room) == JXL_DEC_SUCCESS;
            if (has_buffer) continue;
            return ic_fail(error, IC_DAMAGED, "The JPEG XL's picture is not what its header says");
        }
        case JXL_DEC_FULL_IMAGE: return IC_OK;
        case JXL_DEC_NEED_MORE_INPUT:
            // What came so far, at a lower resolution where more is missing.
            if (has_buffer && jxl->JxlDecoderFlushImage(decoder) == JXL_DEC_SUCCESS) {
                snprintf(target->damage, sizeof target->damage, "The JPEG XL ends early");
                return IC_OK;
            }
            return ic_fail(error, IC_DAMAGED, "The JPEG XL ends before its picture");
        default:
            if (!ic_may_go_on(&target->pulse)) return ic_fail(error, IC_STOPPED, "Asked to stop");
            return ic_fail(error, IC_DAMAGED, "The JPEG XL's picture data is damaged");
        }
    }
}

static ic_status decode_jxl(void *opaque, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    jxl_state *state = opaque;
    const ic_jxl_table *jxl = state->jxl;
    JxlDecoder *decoder = jxl->JxlDecoderCreate(NULL);
    if (!decoder) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding JPEG XL");
    jxl->JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE);
    jxl->JxlDecoderSetKeepOrientation(decoder, JXL_TRUE);
    jxl->JxlDecoderSetUnpremultiplyAlpha(decoder, JXL_TRUE);
    jxl->JxlDecoderSetParallelRunner(decoder, ic_jxl_run, &target->pulse);
    jxl->JxlDecoderSetInput(decoder, state->source.bytes, state->source.size);
    // Damage is a result like any other; the library describes it line by line.
    ic_quiet_begin();
    ic_status status = read_frame(state, decoder, info, target, error);
    ic_quiet_end();
    jxl->JxlDecoderDestroy(decoder);
    return status;
}

const ic_picture_codec ic_jxl_codec = {open_jxl, decode_jxl, close_jxl};
