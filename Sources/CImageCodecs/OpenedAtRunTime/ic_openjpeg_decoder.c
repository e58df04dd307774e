#include <openjpeg-2.5/openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_jp2_boxes.h"

#define IC_OPENJPEG_FUNCTIONS(FUNCTION)                                                                                \
    FUNCTION(opj_create_decompress)                                                                                    \
    FUNCTION(opj_decode)                                                                                               \
    FUNCTION(opj_decoder_set_strict_mode)                                                                              \
    FUNCTION(opj_destroy_codec)                                                                                        \
    FUNCTION(opj_end_decompress)                                                                                       \
    FUNCTION(opj_image_destroy)                                                                                        \
    FUNCTION(opj_read_header)                                                                                          \
    FUNCTION(opj_set_default_decoder_parameters)                                                                       \
    FUNCTION(opj_set_error_handler)                                                                                    \
    FUNCTION(opj_set_warning_handler)                                                                                  \
    FUNCTION(opj_setup_decoder)                                                                                        \
    FUNCTION(opj_stream_create)                                                                                        \
    FUNCTION(opj_stream_destroy)                                                                                       \
    FUNCTION(opj_stream_set_read_function)                                                                             \
    FUNCTION(opj_stream_set_seek_function)                                                                             \
    FUNCTION(opj_stream_set_skip_function)                                                                             \
    FUNCTION(opj_stream_set_user_data)                                                                                 \
    FUNCTION(opj_stream_set_user_data_length)

IC_LIBRARY_TABLE(ic_openjpeg, IC_LIBRARY_OPENJPEG, IC_OPENJPEG_FUNCTIONS)

enum {
    READ_BYTES = 256 << 10,
    /// What the library keeps of a tile, and of a component in it, once it has the header (opj_tcp_t, opj_tccp_t).
    TILE_BYTES = 6 << 10,
    TILE_COMPONENT_BYTES = 1200,
    /// Of all tiles: beyond it a header takes more memory than pictures do.
    LARGEST_TILE_BYTES = 96 << 20,
    /// Markers of ISO/IEC 15444-1, annex A: picture and tile size, start of a tile part (with its length).
    SIZE = 0xFF51,
    SHORTEST_SIZE = 38,
    SHORTEST_TILE_PART = 14
};
static const uint32_t START_OF_TILE_PART = 0xFF90000A;

typedef struct openjpeg_state {
    const ic_openjpeg_table *library;
    ic_picture_source source;
    size_t position;
    /// The file with other lengths of tile parts, where some go beyond its end: the library reserves memory for them.
    uint8_t *corrected;
    int64_t tile_bytes;
    ic_jp2_boxes boxes;
    ic_jp2_layout layout;
    int is_ycc;
    opj_stream_t *stream;
    opj_codec_t *codec;
    opj_image_t *image;
    char message[160];
    int has_warned;
} openjpeg_state;

static OPJ_SIZE_T read_bytes(void *target, OPJ_SIZE_T count, void *opaque) {
    openjpeg_state *state = opaque;
    size_t left = state->source.size - state->position;
    if (left == 0) return (OPJ_SIZE_T)-1;
    size_t taken = count < left ? count : left;
    memcpy(target, state->source.bytes + state->position, taken);
    state->position += taken;
    return taken;
}

static OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void *opaque) {
    openjpeg_state *state = opaque;
    if (count < 0 || (size_t)count > state->source.size - state->position) return -1;
    state->position += (size_t)count;
    return count;
}

static OPJ_BOOL seek_bytes(OPJ_OFF_T place, void *opaque) {
    openjpeg_state *state = opaque;
    if (place < 0 || (size_t)place > state->source.size) return OPJ_FALSE;
    state->position = (size_t)place;
    return OPJ_TRUE;
}

static void keep_message(const char *message, void *opaque) {
    openjpeg_state *state = opaque;
    if (!state->message[0]) snprintf(state->message, sizeof state->message, "JPEG 2000: %s", message);
    char *end = strchr(state->message, '\n');
    if (end) *end = 0;
}

static void keep_warning(const char *message, void *opaque) {
    openjpeg_state *state = opaque;
    state->has_warned = 1;
    keep_message(message, opaque);
}

static ic_status fail(const openjpeg_state *state, ic_error *error) {
    const char *reason = state->message[0] ? state->message : "The JPEG 2000 cannot be read";
    // The library tells what it cannot do from damage by its words alone.
    int is_unknown = strstr(reason, "nsupported") || strstr(reason, "not support");
    return ic_fail(error, is_unknown ? IC_UNSUPPORTED : IC_DAMAGED, "%s", reason);
}

static void close_openjpeg(void *opaque) {
    openjpeg_state *state = opaque;
    if (state->image) state->library->opj_image_destroy(state->image);
    if (state->codec) state->library->opj_destroy_codec(state->codec);
    if (state->stream) state->library->opj_stream_destroy(state->stream);
    free(state->corrected);
    free(state);
}

static int64_t tiles_along(uint32_t end, uint32_t begin, uint32_t step) {
    return step == 0 || end <= begin ? 0 : ((int64_t)end - begin + step - 1) / step;
}

/// Looks at the header before the library does, which makes room for all tiles when it reads it.
static ic_status check_size(openjpeg_state *state, size_t start, ic_error *error) {
    if (state->source.size - start < 4 + SHORTEST_SIZE) return IC_OK;
    const uint8_t *segment = state->source.bytes + start + 4;
    if (ic_jp2_number(segment - 2, 2) != SIZE) return IC_OK;
    uint32_t right = ic_jp2_number(segment + 4, 4), bottom = ic_jp2_number(segment + 8, 4);
    uint32_t left = ic_jp2_number(segment + 12, 4), top = ic_jp2_number(segment + 16, 4);
    if (left < right && top < bottom) {
        ic_status status = ic_check_pixels(&state->source, right - left, bottom - top, error);
        if (status != IC_OK) return status;
    }
    int64_t columns = tiles_along(right, ic_jp2_number(segment + 28, 4), ic_jp2_number(segment + 20, 4));
    int64_t rows = tiles_along(bottom, ic_jp2_number(segment + 32, 4), ic_jp2_number(segment + 24, 4));
    // The library refuses more tiles than this.
    if (columns > UINT16_MAX || rows > UINT16_MAX || columns * rows > UINT16_MAX) return IC_OK;
    state->tile_bytes = columns * rows * (TILE_BYTES + (int64_t)ic_jp2_number(segment + 36, 2) * TILE_COMPONENT_BYTES);
    if (state->tile_bytes <= LARGEST_TILE_BYTES) return IC_OK;
    return ic_fail(
        error, IC_LIMIT, "The JPEG 2000 has too many tiles: %lld bytes of memory are needed for %lld tiles",
        (long long)state->tile_bytes, (long long)(columns * rows));
}

/// Corrects what tile parts say of their length, in a copy. The coded data has no such marker in it.
static int correct_lengths(openjpeg_state *state, size_t start) {
    size_t size = state->source.size;
    for (size_t place = start; place < size && size - place >= SHORTEST_TILE_PART; place++) {
        const uint8_t *marker = memchr(state->source.bytes + place, 0xFF, size - place - SHORTEST_TILE_PART + 1);
        if (!marker) break;
        place = (size_t)(marker - state->source.bytes);
        size_t left = size - place;
        if (ic_jp2_number(marker, 4) != START_OF_TILE_PART || ic_jp2_number(marker + 6, 4) <= left) continue;
        if (!state->corrected) {
            state->corrected = malloc(size);
            if (!state->corrected) return 0;
            memcpy(state->corrected, state->source.bytes, size);
            state->source.bytes = state->corrected;
        }
        // One byte too many still says that the file ends early.
        for (int i = 0; i < 4; i++) state->corrected[place + 6 + i] = (uint8_t)((left + 1) >> (24 - 8 * i));
    }
    return 1;
}

static int set_up(openjpeg_state *state) {
    const ic_openjpeg_table *library = state->library;
    int is_bare = state->source.size > 4 && memcmp(state->source.bytes, "\xFF\x4F\xFF\x51", 4) == 0;
    state->stream = library->opj_stream_create(READ_BYTES, OPJ_TRUE);
    state->codec = library->opj_create_decompress(is_bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    if (!state->stream || !state->codec) return 0;
    library->opj_stream_set_user_data(state->stream, state, NULL);
    library->opj_stream_set_user_data_length(state->stream, state->source.size);
    library->opj_stream_set_read_function(state->stream, read_bytes);
    library->opj_stream_set_skip_function(state->stream, skip_bytes);
    library->opj_stream_set_seek_function(state->stream, seek_bytes);
    library->opj_set_error_handler(state->codec, keep_message, state);
    library->opj_set_warning_handler(state->codec, keep_warning, state);
    opj_dparameters_t parameters;
    library->opj_set_default_decoder_parameters(&parameters);
    // These boxes are read here: what comes out has to be known before the pixels, and a palette then takes no memory.
    parameters.flags |= OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG;
    // What is there of a file that ends early is decoded.
    return library->opj_setup_decoder(state->codec, &parameters) &&
           library->opj_decoder_set_strict_mode(state->codec, OPJ_FALSE);
}

/// Whether the second and third of three components have fewer samples a row than the first, as colour differences have.
static int has_halved_chroma(const openjpeg_state *state) {
    const opj_image_comp_t *components = state->image->comps;
    return state->image->numcomps == 3 && components[0].dx == 1 && components[0].dy == 1 && components[1].dx > 1 &&
           components[1].dx == components[2].dx && components[1].dy == components[2].dy;
}

/// What the picture is made of, by the boxes around the codestream.
static ic_status read_layout(openjpeg_state *state, ic_picture_info *info, ic_error *error) {
    ic_jp2_box icc;
    uint32_t space = ic_jp2_color_space(&state->boxes, &icc);
    if (space == IC_JP2_CMYK) {
        return ic_fail(
            error, IC_UNSUPPORTED, "The JPEG 2000 picture is in CMYK, which is not read from this format");
    }
    ic_jp2_layout *layout = &state->layout;
    ic_status status = ic_jp2_arrange(&state->boxes, state->image->numcomps, layout, error);
    if (status != IC_OK) return status;
    state->is_ycc = layout->colors == 3 && (space == IC_JP2_SYCC || space == IC_JP2_EYCC);
    if (space == 0 && icc.size == 0 && layout->colors == 3 && !state->boxes.pclr.bytes && has_halved_chroma(state)) {
        state->is_ycc = 1;
        info->note = "it does not say what its colours are; as two of them are halved, they are taken for Y'CbCr";
    }
    info->has_alpha = layout->alpha != IC_JP2_OPAQUE;
    info->is_gray = layout->colors == 1;
    info->icc = icc.bytes;
    info->icc_size = icc.size;
    for (int i = 0; i < (info->has_alpha ? 4 : 3); i++) {
        const ic_jp2_channel *channel = &layout->channels[i];
        uint32_t own_bits = state->image->comps[channel->component].prec;
        int bits = channel->column ? channel->bits : own_bits > INT32_MAX ? INT32_MAX : (int)own_bits;
        if (bits > info->bits) info->bits = bits;
    }
    if (info->bits > 16) return ic_fail(error, IC_UNSUPPORTED, "JPEG 2000 with %d bits is not supported", info->bits);
    info->is_wide = info->bits > 8;
    return IC_OK;
}

static ic_status open_openjpeg(const ic_picture_source *source, void **opaque, ic_picture_info *info, ic_error *error) {
    const ic_openjpeg_table *library = ic_openjpeg(error);
    if (!library) return error->status;
    openjpeg_state *state = calloc(1, sizeof *state);
    if (!state) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG 2000 decoder");
    *opaque = state;
    state->library = library;
    state->source = *source;
    state->boxes = ic_jp2_find_boxes(source->bytes, source->size);
    size_t start = state->boxes.codestream;
    ic_status status = check_size(state, start, error);
    if (status != IC_OK) return status;
    // The library copies what stands before the codestream, and of that the profile once more.
    info->bytes_held = state->tile_bytes + 2 * (int64_t)start + (8 << 20);
    if (!correct_lengths(state, start) || !set_up(state)) {
        return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG 2000 decoder");
    }
    if (state->corrected) info->bytes_held = ic_sum(info->bytes_held, (int64_t)source->size);
    if (!library->opj_read_header(state->stream, state->codec, &state->image)) return fail(state, error);
    const opj_image_t *image = state->image;
    uint32_t width = image->x1 - image->x0, height = image->y1 - image->y0;
    if (image->x1 <= image->x0 || image->y1 <= image->y0 || image->numcomps == 0) {
        return ic_fail(error, IC_DAMAGED, "The JPEG 2000 has no picture size");
    }
    if (width > INT32_MAX || height > INT32_MAX) return ic_fail(error, IC_LIMIT, "The JPEG 2000 is too large");
    info->width = (int32_t)width;
    info->height = (int32_t)height;
    status = read_layout(state, info, error);
    if (status != IC_OK) return status;
    // Each component takes 32 bits, before and after the inverse transform.
    int64_t sample_bytes = ic_picture_bytes(width, height, (int64_t)image->numcomps * 10);
    info->bytes_held = ic_sum(info->bytes_held, sample_bytes);
    return IC_OK;
}

/// A palette's sample for a pixel of the picture, of 0 to 65535.
static uint16_t palette_sample(const openjpeg_state *state, const ic_jp2_channel *channel, int64_t value) {
    return ic_widened(ic_jp2_palette_number(&state->layout, channel, value), channel->bits);
}

/// A channel's samples for a row of the picture, of 0 to 65535, to every fourth place. `widened` is the channel's.
static void put_row(
    const openjpeg_state *state, int index, const uint16_t *widened, uint32_t y, uint32_t width, uint16_t *row) {
    const ic_jp2_channel *channel = &state->layout.channels[index];
    const opj_image_comp_t *component = &state->image->comps[channel->component];
    uint32_t line = y / component->dy;
    if (line >= component->h) line = component->h - 1;
    const OPJ_INT32 *from = component->data + (size_t)line * component->w;
    const int64_t least = component->sgnd ? INT64_C(1) << (component->prec - 1) : 0;
    const int64_t largest = (INT64_C(1) << component->prec) - 1;
    for (size_t x = 0; x < width; x++) {
        size_t column = component->dx == 1 ? x : x / component->dx;
        if (column >= component->w) column = component->w - 1;
        if (channel->column) {
            row[x * 4 + (size_t)index] = palette_sample(state, channel, from[column]);
            continue;
        }
        int64_t value = from[column] + least;
        row[x * 4 + (size_t)index] = widened[value < 0 ? 0 : value > largest ? largest : value];
    }
}

/// Y'CbCr by ITU-R BT.601, full range.
static void to_rgb(uint16_t pixel[4]) {
    double y = pixel[0], cb = pixel[1] - 32768.0, cr = pixel[2] - 32768.0;
    double rgb[3] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
    for (int i = 0; i < 3; i++) pixel[i] = rgb[i] < 0 ? 0 : rgb[i] > 65535 ? 65535 : (uint16_t)(rgb[i] + 0.5);
}

/// Gives colours the strength that they have without their alpha.
static void to_straight(uint16_t pixel[4]) {
    uint32_t alpha = pixel[3];
    for (int i = 0; i < 3; i++) {
        uint64_t value = alpha == 0 ? 0 : ((uint64_t)pixel[i] * 65535 + alpha / 2) / alpha;
        pixel[i] = value > 65535 ? 65535 : (uint16_t)value;
    }
}

/// Whether a channel's component is as the header says.
static int is_sound(const openjpeg_state *state, const ic_jp2_channel *channel) {
    if (channel->component >= state->image->numcomps) return 0;
    const opj_image_comp_t *component = &state->image->comps[channel->component];
    if (!component->data || component->w == 0 || component->h == 0 || component->dx == 0 || component->dy == 0) return 0;
    return channel->column || (component->prec > 0 && component->prec <= 16);
}

/// Rows go through 16 bits, in which `pixels` has room for one.
static void convert_rows(
    const openjpeg_state *state, const ic_picture_info *info, ic_picture_target *target, uint16_t *const widened[4],
    uint16_t *pixels) {
    int count = info->has_alpha ? 4 : 3;
    size_t samples = (size_t)info->width * 4;
    for (uint32_t y = 0; y < (uint32_t)info->height; y++) {
        if (count == 3) memset(pixels, 0xFF, samples * sizeof *pixels);
        for (int c = 0; c < count; c++) put_row(state, c, widened[c], y, (uint32_t)info->width, pixels);
        for (size_t i = 0; state->is_ycc && i < samples; i += 4) to_rgb(pixels + i);
        for (size_t i = 0; state->layout.alpha == IC_JP2_PREMULTIPLIED && i < samples; i += 4) to_straight(pixels + i);
        uint8_t *row = target->rows + y * target->stride_bytes;
        if (info->is_wide) {
            memcpy(row, pixels, samples * sizeof *pixels);
        } else {
            for (size_t i = 0; i < samples; i++) row[i] = (uint8_t)((pixels[i] * 255u + 32767) / 65535);
        }
    }
}

static ic_status convert(
    const openjpeg_state *state, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    int count = info->has_alpha ? 4 : 3, has_room = 1;
    for (int i = 0; i < count; i++) {
        if (is_sound(state, &state->layout.channels[i])) continue;
        return ic_fail(error, IC_DAMAGED, "The JPEG 2000's components are not what its header says");
    }
    uint16_t *widened[4] = {NULL};
    uint16_t *pixels = malloc((size_t)info->width * 4 * sizeof *pixels);
    for (int i = 0; i < count; i++) {
        const ic_jp2_channel *channel = &state->layout.channels[i];
        if (channel->column) continue;
        widened[i] = ic_widened_samples((int)state->image->comps[channel->component].prec);
        has_room = has_room && widened[i];
    }
    if (has_room && pixels) convert_rows(state, info, target, widened, pixels);
    for (int i = 0; i < 4; i++) free(widened[i]);
    free(pixels);
    return has_room && pixels ? IC_OK : ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding JPEG 2000");
}

static ic_status decode_openjpeg(
    void *opaque, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    openjpeg_state *state = opaque;
    state->message[0] = 0;
    state->has_warned = 0;
    if (!state->library->opj_decode(state->codec, state->stream, state->image)) return fail(state, error);
    if (!ic_may_go_on(&target->pulse)) return ic_fail(error, IC_STOPPED, "Asked to stop");
    // Fails for a file without its end, whose picture may be whole.
    int has_end = state->library->opj_end_decompress(state->codec, state->stream);
    if (!has_end || state->has_warned) {
        const char *reason = state->message[0] ? state->message : "The JPEG 2000 ends early";
        snprintf(target->damage, sizeof target->damage, "%s", reason);
    }
    return convert(state, info, target, error);
}

const ic_picture_codec ic_openjpeg_codec = {open_openjpeg, decode_openjpeg, close_openjpeg};
