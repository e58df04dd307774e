#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_heif.h"
#include "ic_heif_boxes.h"
#include "ic_hevc.h"

enum {
    MAX_BLOCKS = 16,
    MAX_BLOCK_BYTES = 64 << 20,
    /// The library's own limit, which is for each side. Pixels are held to theirs without it.
    MAX_SIDE = 1 << 20,
    /// What is coded ends with a block.
    LARGEST_BLOCK = 64,
    /// A small picture may be the part of a tile.
    TILE_BYTES = 2 * 512 * 512,
    /// Than the part of the picture that each of them would have; the last ones reach beyond it.
    MOST_TILES_LARGER = 4,
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
            if (start >= size) continue;
            info->exif = state->exif + start;
            info->exif_size = size - start;
        } else if (
            content && strcmp(content, "application/rdf+xml") == 0 && !state->xmp &&
            (state->xmp = copy_block(state, ids[i], &size))) {
            info->xmp = state->xmp;
            info->xmp_size = size;
        }
    }
}

int ic_heif_is_av1(const ic_picture_source *source) {
    ic_heif_boxes boxes;
    ic_error ignored;
    return ic_heif_read_boxes(source, &boxes, &ignored) == IC_OK && boxes.has_av1 && !boxes.has_hevc;
}

/// Bytes of light that a coded picture may have, where the whole has so many.
static int64_t most_coded(const ic_heif_boxes *boxes, int64_t plane_bytes, int has_alpha) {
    // Alpha may be coded as a whole.
    int is_in_tiles = boxes->tiles > MOST_TILES_LARGER && !has_alpha;
    return ic_sum(is_in_tiles ? plane_bytes / boxes->tiles * MOST_TILES_LARGER : plane_bytes, TILE_BYTES);
}

/// What decoding takes: one coded picture, as planes in the decoder and outside of it and what the decoder notes of them,
/// while others wait for it; or the whole turned, or interleaved. And twice what the file has.
static int64_t held_bytes(const ic_heif_boxes *boxes, int64_t plane_bytes, int64_t coded_bytes) {
    int64_t decoded = ic_sum(ic_picture_bytes(coded_bytes, 11, 1), ic_picture_bytes(plane_bytes, 3, boxes->depth));
    int64_t interleaved = ic_picture_bytes(plane_bytes, 8, 1);
    int64_t file = ic_sum(boxes->item_bytes, boxes->item_bytes);
    return ic_sum(ic_sum(decoded > interleaved ? decoded : interleaved, file), 4 << 20);
}

static ic_status open_heif(const ic_picture_source *source, void **opaque, ic_picture_info *info, ic_error *error) {
    const ic_heif_table *heif = ic_heif(error);
    if (!heif) return error->status;
    ic_status status = ic_hevc_register(heif, error);
    ic_heif_boxes boxes;
    if (status == IC_OK) status = ic_heif_read_boxes(source, &boxes, error);
    if (status != IC_OK) return status;
    if (boxes.has_av1) return ic_fail(error, IC_UNSUPPORTED, "HEIF with pictures in HEVC and in AV1 is not read");
    heif_state *state = calloc(1, sizeof *state);
    if (!state) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a HEIF decoder");
    *opaque = state;
    state->heif = heif;
    state->context = heif->heif_context_alloc();
    if (!state->context) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a HEIF decoder");
    // On the calling thread; with 1 each tile would have its own.
    heif->heif_context_set_max_decoding_threads(state->context, 0);
    heif->heif_context_set_maximum_image_size_limit(state->context, MAX_SIDE);
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
    status = ic_check_pixels(source, (uint32_t)coded_width, (uint32_t)coded_height, error);
    if (status == IC_OK) status = ic_check_pixels(source, (uint32_t)info->width, (uint32_t)info->height, error);
    if (status != IC_OK) return status;
    int64_t pixels = ic_picture_bytes((int64_t)coded_width + LARGEST_BLOCK, (int64_t)coded_height + LARGEST_BLOCK, 1);
    if (boxes.canvas_pixels > pixels) pixels = boxes.canvas_pixels;
    info->bits = heif->heif_image_handle_get_luma_bits_per_pixel(state->handle);
    if (info->bits < 8 || info->bits > 16) info->bits = 8;
    info->is_wide = info->bits > 8;
    info->has_alpha = heif->heif_image_handle_has_alpha_channel(state->handle);
    info->pictures = heif->heif_context_get_number_of_top_level_images(state->context);
    read_colors(state, info);
    read_metadata(state, info);
    int64_t plane_bytes = ic_picture_bytes(pixels, info->is_wide ? 2 : 1, 1);
    state->coded_bytes = most_coded(&boxes, plane_bytes, info->has_alpha);
    state->all_bytes = ic_sum(ic_picture_bytes(plane_bytes, MOST_LAYERS, 1), state->coded_bytes);
    info->bytes_held = held_bytes(&boxes, plane_bytes, state->coded_bytes);
    return IC_OK;
}

static void copy_rows(
    const ic_picture_info *info, const uint8_t *source, int source_stride, int bits, ic_picture_target *target) {
    for (int32_t y = 0; y < info->height; y++) {
        const uint8_t *from = source + (size_t)y * (size_t)source_stride;
        uint8_t *to = target->rows + (size_t)y * target->stride_bytes;
        if (!info->is_wide) {
            memcpy(to, from, target->stride_bytes);
            continue;
        }
        const uint16_t *narrow = (const uint16_t *)(const void *)from;
        uint16_t *wide = (uint16_t *)(void *)to;
        for (size_t i = 0; i < (size_t)info->width * 4; i++) wide[i] = ic_widened(narrow[i], bits);
    }
}

static ic_status decode_heif(void *opaque, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    heif_state *state = opaque;
    const ic_heif_table *heif = state->heif;
    struct heif_decoding_options *options = heif->heif_decoding_options_alloc();
    if (!options) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding HEIF");
    options->convert_hdr_to_8bit = !info->is_wide;
    struct heif_image *image = NULL;
    ic_hevc_watch watch = {.most_bytes = state->coded_bytes, .bytes_left = state->all_bytes};
    ic_hevc_begin(&watch);
    // Turned and mirrored as the file says, which is why rows are upright.
    struct heif_error result = heif->heif_decode_image(
        state->handle, &image, heif_colorspace_RGB,
        info->is_wide ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA, options);
    ic_hevc_end();
    heif->heif_decoding_options_free(options);
    if (watch.is_beyond) return ic_fail(error, IC_DAMAGED, "The HEIF's picture is larger than its header says");
    if (result.code != heif_error_Ok) return fail(result, error);
    int stride = 0;
    const uint8_t *rows = heif->heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    int bits = heif->heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    ic_status status = IC_OK;
    if (!rows || heif->heif_image_get_primary_width(image) != info->width ||
        heif->heif_image_get_primary_height(image) != info->height || (size_t)stride < target->stride_bytes ||
        bits < 8 || bits > 16) {
        status = ic_fail(error, IC_DAMAGED, "The HEIF's picture is not what its header says");
    } else {
        copy_rows(info, rows, stride, bits, target);
        struct heif_error warning;
        if (watch.warning) {
            snprintf(target->damage, sizeof target->damage, "HEIF: %s", watch.warning);
        } else if (heif->heif_image_get_decoding_warnings(image, 0, &warning, 1) > 0) {
            snprintf(target->damage, sizeof target->damage, "HEIF: %s", warning.message);
            make_one_line(target->damage);
        }
    }
    heif->heif_image_release(image);
    return status;
}

const ic_picture_codec ic_heif_codec = {open_heif, decode_heif, close_heif};
