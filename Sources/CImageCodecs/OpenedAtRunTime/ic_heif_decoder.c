#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_heif.h"
#include "ic_heif_boxes.h"
#include "ic_hevc.h"

enum {
    MAX_BLOCKS = 16,
    MAX_BLOCK_BYTES = 64 << 20,
    /// Bytes of a plane are counted in 32 bits.
    MAX_PIXELS = 1 << 29,
    /// Overlays, and alpha, of as many pixels as the picture.
    MOST_LAYERS = 8
};

typedef struct heif_state {
    const ic_heif_table *heif;
    struct heif_context *context;
    struct heif_image_handle *handle;
    /// Of the light of the largest of the pictures that it is made of, and of all of them.
    int64_t coded_bytes;
    int64_t all_bytes;
    uint8_t *icc;
    uint8_t *exif;
    uint8_t *xmp;
} heif_state;

/// Some of the library's messages end a line.
static void make_one_line(char *text) {
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n') text[--length] = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n') text[i] = ' ';
    }
}

static ic_status fail(struct heif_error reason, ic_error *error) {
    ic_status status = IC_DAMAGED;
    switch (reason.code) {
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature: status = IC_UNSUPPORTED; break;
    case heif_error_Memory_allocation_error:
        if (reason.subcode != heif_suberror_Security_limit_exceeded) {
            return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding HEIF");
        }
        status = IC_LIMIT;
        break;
    default: break;
    }
    ic_fail(error, status, "HEIF: %s", reason.message);
    make_one_line(error->message);
    return status;
}

static void close_heif(void *opaque) {
    heif_state *state = opaque;
    if (state->handle) state->heif->heif_image_handle_release(state->handle);
    if (state->context) state->heif->heif_context_free(state->context);
    free(state->icc);
    free(state->exif);
    free(state->xmp);
    free(state);
}

static void read_colors(heif_state *state, ic_picture_info *info) {
    const ic_heif_table *heif = state->heif;
    enum heif_color_profile_type kind = heif->heif_image_handle_get_color_profile_type(state->handle);
    if (kind == heif_color_profile_type_nclx) {
        struct heif_color_profile_nclx *nclx = NULL;
        if (heif->heif_image_handle_get_nclx_color_profile(state->handle, &nclx).code == heif_error_Ok && nclx) {
            info->primaries = (int32_t)nclx->color_primaries;
            info->transfer = (int32_t)nclx->transfer_characteristics;
            heif->heif_nclx_color_profile_free(nclx);
        }
    }
    size_t size = heif->heif_image_handle_get_raw_color_profile_size(state->handle);
    if (kind == heif_color_profile_type_nclx || size == 0 || size > MAX_BLOCK_BYTES) return;
    state->icc = malloc(size);
    if (!state->icc) return;
    if (heif->heif_image_handle_get_raw_color_profile(state->handle, state->icc).code != heif_error_Ok) return;
    info->icc = state->icc;
    info->icc_size = size;
}

/// A block's bytes, to be freed by the caller; NULL when it cannot be read.
static uint8_t *copy_block(const heif_state *state, heif_item_id id, size_t *size) {
    *size = state->heif->heif_image_handle_get_metadata_size(state->handle, id);
    if (*size == 0 || *size > MAX_BLOCK_BYTES) return NULL;
    uint8_t *block = malloc(*size);
    if (block && state->heif->heif_image_handle_get_metadata(state->handle, id, block).code == heif_error_Ok) return block;
    free(block);
    return NULL;
}

static void read_metadata(heif_state *state, ic_picture_info *info) {
    const ic_heif_table *heif = state->heif;
    heif_item_id ids[MAX_BLOCKS];
    int count = heif->heif_image_handle_get_list_of_metadata_block_IDs(state->handle, NULL, ids, MAX_BLOCKS);
    for (int i = 0; i < count; i++) {
        const char *kind = heif->heif_image_handle_get_metadata_type(state->handle, ids[i]);
        const char *content = heif->heif_image_handle_get_metadata_content_type(state->handle, ids[i]);
        size_t size = 0;
        if (kind && strcmp(kind, "Exif") == 0 && !state->exif && (state->exif = copy_block(state, ids[i], &size))) {
            // Four bytes say how far behind them the block begins.
            uint64_t start = 4;
            if (size > 4) {
                const uint8_t *b = state->exif;
                start += (uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3];
            }
            if (start < size) {
                info->exif = state->exif + start;
                info->exif_size = size - start;
            } else {
                free(state->exif);
                state->exif = NULL;
            }
        } else if (
            content && strcmp(content, "application/rdf+xml") == 0 && !state->xmp &&
            (state->xmp = copy_block(state, ids[i], &size))) {
            info->xmp = state->xmp;
            info->xmp_size = size;
        } else {
            info->left_out++;
        }
    }
}

int ic_heif_is_av1(const ic_picture_source *source) {
    ic_heif_boxes boxes;
    ic_error ignored;
    return ic_heif_read_boxes(source, &boxes, &ignored) == IC_OK && boxes.has_av1 && !boxes.has_hevc;
}

/// Pixels that a coded picture may have, where the whole has so many. A tile may have less; but alpha may be coded as a whole.
static int64_t most_coded(const ic_heif_boxes *boxes, int64_t pixels, int has_alpha) {
    int64_t whole = ic_sum(pixels, IC_TILE_SIDE * IC_TILE_SIDE);
    return has_alpha || boxes->tile_pixels == 0 || boxes->tile_pixels > whole ? whole : boxes->tile_pixels;
}

/// What decoding takes: one coded picture, as planes in the decoder and outside of it and what the decoder notes of them, or
/// one of the pictures, turned, while others wait for it.
static int64_t held_bytes(const ic_heif_boxes *boxes, int depth, int64_t plane_bytes, int64_t coded_bytes) {
    int64_t waiting = depth > 1 ? depth - 1 : 0;
    int64_t decoded = ic_sum(ic_picture_bytes(coded_bytes, 11, 1), ic_picture_bytes(plane_bytes, 3, depth));
    int64_t turned = ic_picture_bytes(plane_bytes, 7 + 3 * waiting, 1);
    return ic_sum(ic_sum(decoded > turned ? decoded : turned, ic_heif_held(boxes)), 4 << 20);
}

static ic_status open_heif(const ic_picture_source *source, void **opaque, ic_picture_info *info, ic_error *error) {
    const ic_heif_table *heif = ic_heif(error);
    if (!heif) return error->status;
    ic_picture_source held = *source;
    if (held.max_pixels > MAX_PIXELS) held.max_pixels = MAX_PIXELS;
    ic_status status = ic_hevc_register(heif, error);
    ic_heif_boxes boxes;
    if (status == IC_OK) status = ic_heif_read_boxes(&held, &boxes, error);
    if (status != IC_OK) return status;
    info->bytes_held = ic_sum(ic_heif_held(&boxes), 4 << 20);
    if (boxes.has_av1) return ic_fail(error, IC_UNSUPPORTED, "HEIF with pictures in HEVC and in AV1 is not read");
    heif_state *state = calloc(1, sizeof *state);
    if (!state) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a HEIF decoder");
    *opaque = state;
    state->heif = heif;
    state->context = heif->heif_context_alloc();
    if (!state->context) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a HEIF decoder");
    // On the calling thread; with 1 each tile would have its own.
    heif->heif_context_set_max_decoding_threads(state->context, 0);
    heif->heif_context_set_maximum_image_size_limit(state->context, IC_MAX_SIDE);
    struct heif_error result =
        heif->heif_context_read_from_memory_without_copy(state->context, source->bytes, source->size, NULL);
    if (result.code == heif_error_Ok) {
        result = heif->heif_context_get_primary_image_handle(state->context, &state->handle);
    }
    if (result.code != heif_error_Ok) return fail(result, error);
    info->width = heif->heif_image_handle_get_width(state->handle);
    info->height = heif->heif_image_handle_get_height(state->handle);
    // Before it is cut and turned.
    int coded_width = heif->heif_image_handle_get_ispe_width(state->handle);
    int coded_height = heif->heif_image_handle_get_ispe_height(state->handle);
    status = ic_check_pixels(&held, (uint32_t)coded_width, (uint32_t)coded_height, error);
    if (status == IC_OK) status = ic_check_pixels(&held, (uint32_t)info->width, (uint32_t)info->height, error);
    if (status != IC_OK) return status;
    int64_t pixels = ic_picture_bytes((int64_t)coded_width + IC_LARGEST_BLOCK, (int64_t)coded_height + IC_LARGEST_BLOCK, 1);
    if (boxes.canvas_pixels > pixels) pixels = boxes.canvas_pixels;
    info->bits = heif->heif_image_handle_get_luma_bits_per_pixel(state->handle);
    if (info->bits < 8 || info->bits > 16) info->bits = 8;
    info->is_wide = info->bits > 8;
    info->has_alpha = heif->heif_image_handle_has_alpha_channel(state->handle);
    info->is_gray = boxes.has_hevc && !boxes.has_colors;
    info->pictures = heif->heif_context_get_number_of_top_level_images(state->context);
    read_colors(state, info);
    read_metadata(state, info);
    int64_t plane_bytes = ic_picture_bytes(pixels, info->is_wide || boxes.is_deep ? 2 : 1, 1);
    state->coded_bytes = ic_picture_bytes(most_coded(&boxes, pixels, info->has_alpha), info->is_wide ? 2 : 1, 1);
    state->all_bytes = ic_sum(ic_picture_bytes(plane_bytes, MOST_LAYERS, 1), state->coded_bytes);
    info->bytes_held =
        held_bytes(&boxes, info->has_alpha ? boxes.full_depth : boxes.depth, plane_bytes, state->coded_bytes);
    return IC_OK;
}

/// One channel of a picture that was decoded.
typedef struct plane {
    const uint8_t *rows;
    size_t stride;
    int bits;
    /// What its samples are in 16 bits, for pictures that have so many.
    uint16_t *widened;
} plane;

/// Whether there is such a plane, and as large as it has to be: alpha comes as large as it is.
static int find_plane(
    const heif_state *state, const struct heif_image *image, enum heif_channel channel, const ic_picture_info *info,
    plane *found) {
    const ic_heif_table *heif = state->heif;
    int stride = 0;
    found->rows = heif->heif_image_get_plane_readonly(image, channel, &stride);
    found->stride = (size_t)stride;
    found->bits = heif->heif_image_get_bits_per_pixel_range(image, channel);
    return found->rows && found->bits >= 8 && found->bits <= 16 &&
           heif->heif_image_get_width(image, channel) == info->width &&
           heif->heif_image_get_height(image, channel) == info->height;
}

/// Puts one channel to every fourth sample of a row, of 16 bits or of 8.
static void put_row(const plane *from, int32_t y, size_t width, int channel, void *row) {
    const uint8_t *narrow = from->rows + (size_t)y * from->stride;
    const uint16_t *deep = (const uint16_t *)(const void *)narrow;
    uint8_t *to = (uint8_t *)row + channel;
    uint16_t *wide = (uint16_t *)row + channel;
    uint32_t most = (1u << from->bits) - 1;
    int shift = from->bits - 8;
    if (from->widened && shift > 0) {
        for (size_t x = 0; x < width; x++) wide[4 * x] = from->widened[deep[x] < most ? deep[x] : most];
    } else if (from->widened) {
        for (size_t x = 0; x < width; x++) wide[4 * x] = from->widened[narrow[x]];
    } else if (shift > 0) {
        for (size_t x = 0; x < width; x++) to[4 * x] = (uint8_t)(deep[x] >> shift);
    } else {
        for (size_t x = 0; x < width; x++) to[4 * x] = narrow[x];
    }
}

static ic_status copy_planes(
    const heif_state *state, const struct heif_image *image, const ic_picture_info *info, ic_picture_target *target,
    plane planes[4], ic_error *error) {
    static const enum heif_channel channels[] = {heif_channel_R, heif_channel_G, heif_channel_B, heif_channel_Alpha};
    int count = info->has_alpha ? 4 : 3;
    for (int i = 0; i < count; i++) {
        int is_there = find_plane(state, image, channels[i], info, &planes[i]);
        if (!is_there || (i < 3 && (planes[i].bits > 8) != info->is_wide)) {
            return ic_fail(error, IC_DAMAGED, "The HEIF's picture is not what its header says");
        }
        if (!info->is_wide) continue;
        planes[i].widened = ic_widened_samples(planes[i].bits);
        if (!planes[i].widened) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding HEIF");
    }
    for (int32_t y = 0; y < info->height; y++) {
        uint8_t *row = target->rows + (size_t)y * target->stride_bytes;
        if (!info->has_alpha) memset(row, 0xFF, target->stride_bytes);
        for (int i = 0; i < count; i++) put_row(&planes[i], y, (size_t)info->width, i, row);
    }
    return IC_OK;
}

static ic_status copy_rows(
    const heif_state *state, const struct heif_image *image, const ic_picture_info *info, ic_picture_target *target,
    ic_error *error) {
    plane planes[4] = {{0}};
    ic_status status = copy_planes(state, image, info, target, planes, error);
    for (int i = 0; i < 4; i++) free(planes[i].widened);
    return status;
}

static ic_status decode_heif(void *opaque, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    heif_state *state = opaque;
    const ic_heif_table *heif = state->heif;
    struct heif_image *image = NULL;
    ic_hevc_watch watch = {
        .most_bytes = state->coded_bytes, .bytes_left = state->all_bytes, .pulse = target->pulse};
    ic_hevc_begin(&watch);
    // Turned and mirrored as the file says, which is why rows are upright. In planes, since the library would read alpha as if
    // it were as large as the picture.
    struct heif_error result =
        heif->heif_decode_image(state->handle, &image, heif_colorspace_RGB, heif_chroma_444, NULL);
    ic_hevc_end();
    if (watch.is_stopped) return ic_fail(error, IC_STOPPED, "Asked to stop");
    if (watch.is_beyond) return ic_fail(error, IC_DAMAGED, "The HEIF's picture is larger than its header says");
    if (result.code != heif_error_Ok) return fail(result, error);
    ic_status status = copy_rows(state, image, info, target, error);
    struct heif_error warning;
    if (watch.warning) {
        snprintf(target->damage, sizeof target->damage, "HEIF: %s", watch.warning);
    } else if (heif->heif_image_get_decoding_warnings(image, 0, &warning, 1) > 0) {
        snprintf(target->damage, sizeof target->damage, "HEIF: %s", warning.message);
        make_one_line(target->damage);
    }
    heif->heif_image_release(image);
    return status;
}

const ic_picture_codec ic_heif_codec = {open_heif, decode_heif, close_heif};
