#include <stdlib.h>
#include <string.h>

#include "ic_avif.h"
#include "ic_heif_boxes.h"

enum {
    /// Of the decoder of a tile, beside its picture.
    DECODER_BYTES = 512 << 10,
    /// What is kept of a picture of a sequence, of which a file may have one for so many of its bytes.
    SAMPLE_BYTES = 256,
    LEAST_SAMPLE = 16
};

typedef struct avif_state {
    const ic_avif_table *avif;
    avifDecoder *decoder;
    /// The file under a brand that the library reads, where it has another one.
    uint8_t *branded;
    /// The part of the coded picture that is the picture.
    avifCropRect part;
    /// What the library takes for alpha is none.
    int has_other_track;
} avif_state;

static ic_status fail(const avif_state *state, avifResult result, ic_error *error) {
    const char *reason = state->decoder->diag.error;
    if (!reason[0]) reason = state->avif->avifResultToString(result);
    // What a decoder of AV1 says of its reason is no more than that.
    if (strstr(reason, "getNextImage")) reason = "its picture cannot be decoded, or is larger than its header says";
    // The one word by which too many pixels differ from other faults.
    if (strstr(reason, "too large")) return ic_fail(error, IC_LIMIT, "AVIF: %s", reason);
    switch (result) {
    case AVIF_RESULT_OUT_OF_MEMORY: return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding AVIF");
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_UNSUPPORTED_DEPTH: return ic_fail(error, IC_UNSUPPORTED, "AVIF: %s", reason);
    default: return ic_fail(error, IC_DAMAGED, "AVIF: %s", reason);
    }
}

/// What the clean aperture leaves, which comes before turns and mirrors (ISO 23000-22, 7.3.6.7); all where there is none that
/// can be.
static avifCropRect visible_part(const avif_state *state) {
    const avifImage *image = state->decoder->image;
    avifCropRect part = {0, 0, image->width, image->height};
    avifDiagnostics reason;
    if (image->transformFlags & AVIF_TRANSFORM_CLAP &&
        !state->avif->avifCropRectConvertCleanApertureBox(
            &part, &image->clap, image->width, image->height, image->yuvFormat, &reason)) {
        part = (avifCropRect){0, 0, image->width, image->height};
    }
    return part;
}

static void close_avif(void *opaque) {
    avif_state *state = opaque;
    if (state->decoder) state->avif->avifDecoderDestroy(state->decoder);
    free(state->branded);
    free(state);
}

/// The file's bytes, with the brand of AVIF in the place of its first one where it has none that the library reads; NULL
/// without memory for that.
static const uint8_t *branded(avif_state *state, const ic_picture_source *source) {
    const size_t brand = 8;
    avifROData data = {source->bytes, source->size};
    if (source->size < brand + 4 || state->avif->avifPeekCompatibleFileType(&data)) return source->bytes;
    state->branded = malloc(source->size);
    if (!state->branded) return NULL;
    memcpy(state->branded, source->bytes, source->size);
    memcpy(state->branded + brand, "avif", 4);
    return state->branded;
}

/// Sets how large a coded picture may be: what is in the file may be larger than the file says, and memory is not claimed for
/// that. Claims planes of colour and alpha, in the picture that the decoder lends and in those that it is made of, which the
/// decoder has all at a time.
static void hold(avif_state *state, const ic_heif_boxes *boxes, ic_picture_info *info) {
    avifDecoder *decoder = state->decoder;
    const avifImage *image = decoder->image;
    int64_t pixels = ic_picture_bytes(image->width, image->height, 1);
    if (boxes->canvas_pixels > pixels) pixels = boxes->canvas_pixels;
    int64_t coded = ic_sum(pixels, IC_TILE_SIDE * IC_TILE_SIDE);
    if (boxes->tile_pixels > 0 && boxes->tile_pixels < coded) coded = boxes->tile_pixels;
    if (coded < decoder->imageSizeLimit) decoder->imageSizeLimit = (uint32_t)coded;
    // One that is of another size than it says is held twice, while it is scaled.
    int64_t planes = ic_sum(pixels, ic_picture_bytes(coded, boxes->tiles, boxes->tiles > 1 ? 2 : 1));
    int64_t decoders = ic_picture_bytes(boxes->tiles, decoder->alphaPresent ? 2 : 1, DECODER_BYTES);
    int64_t sequence = (int64_t)decoder->imageCount * SAMPLE_BYTES;
    info->bytes_held = ic_sum(ic_picture_bytes(planes, info->is_wide ? 8 : 4, 1), ic_sum(decoders, sequence));
    info->bytes_held = ic_sum(ic_sum(info->bytes_held, ic_heif_held(boxes)), 4 << 20);
}

static ic_status open_avif(const ic_picture_source *source, void **opaque, ic_picture_info *info, ic_error *error) {
    const ic_avif_table *avif = ic_avif(error);
    if (!avif) return error->status;
    ic_heif_boxes boxes;
    if (ic_heif_read_boxes(source, &boxes, error) != IC_OK) return error->status;
    int64_t samples = (int64_t)(source->size / LEAST_SAMPLE) + 1;
    info->bytes_held = ic_sum(ic_heif_held(&boxes) + (4 << 20), ic_sum(samples * SAMPLE_BYTES, (int64_t)source->size));
    avif_state *state = calloc(1, sizeof *state);
    if (!state) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for an AVIF decoder");
    *opaque = state;
    state->avif = avif;
    state->decoder = avif->avifDecoderCreate();
    if (!state->decoder) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for an AVIF decoder");
    avifDecoder *decoder = state->decoder;
    decoder->maxThreads = 1;
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    if (source->max_pixels < decoder->imageSizeLimit) decoder->imageSizeLimit = (uint32_t)source->max_pixels;
    if (samples < decoder->imageCountLimit) decoder->imageCountLimit = (uint32_t)samples;
    const uint8_t *bytes = branded(state, source);
    if (!bytes) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for an AVIF file");
    avifResult result = avif->avifDecoderSetIOMemory(decoder, bytes, source->size);
    if (result == AVIF_RESULT_OK) result = avif->avifDecoderParse(decoder);
    if (result != AVIF_RESULT_OK) return fail(state, result, error);
    const avifImage *image = decoder->image;
    state->part = visible_part(state);
    info->width = (int32_t)state->part.width;
    info->height = (int32_t)state->part.height;
    info->bits = (int32_t)image->depth;
    info->is_wide = image->depth > 8;
    // It reads tracks but where the file's first brand is that of pictures alone.
    int reads_tracks = boxes.has_tracks && memcmp(bytes + 8, "avif", 4) != 0;
    state->has_other_track = decoder->alphaPresent && reads_tracks && boxes.has_other_track;
    if (state->has_other_track) info->note = "a track beside its pictures that is not their alpha is left out";
    info->has_alpha = decoder->alphaPresent && !state->has_other_track;
    info->is_gray = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400;
    info->frames = decoder->imageCount;
    int turns = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle : 0;
    int mirror = image->transformFlags & AVIF_TRANSFORM_IMIR ? (image->imir.mode ? 1 : 2) : 0;
    info->orientation = ic_orientation(turns, mirror);
    info->primaries = image->icc.size ? 2 : image->colorPrimaries;
    info->transfer = image->icc.size ? 2 : image->transferCharacteristics;
    info->icc = image->icc.data;
    info->icc_size = image->icc.size;
    info->exif = image->exif.data;
    info->exif_size = image->exif.size;
    info->xmp = image->xmp.data;
    info->xmp_size = image->xmp.size;
    hold(state, &boxes, info);
    if (state->branded) info->bytes_held = ic_sum(info->bytes_held, (int64_t)source->size);
    return IC_OK;
}

static avifResult convert(
    const avif_state *state, const avifImage *image, const ic_picture_info *info, const ic_picture_target *target) {
    avifRGBImage rgb;
    state->avif->avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_RGBA;
    rgb.depth = info->is_wide ? 16 : 8;
    rgb.pixels = target->rows;
    rgb.rowBytes = (uint32_t)target->stride_bytes;
    return state->avif->avifImageYUVToRGB(image, &rgb);
}

static ic_status decode_avif(void *opaque, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    avif_state *state = opaque;
    // The decoder of AV1 prints what it refuses.
    ic_quiet_begin();
    avifResult result = state->avif->avifDecoderNextImage(state->decoder);
    ic_quiet_end();
    if (result != AVIF_RESULT_OK) return fail(state, result, error);
    if (!ic_may_go_on(&target->pulse)) return ic_fail(error, IC_STOPPED, "Asked to stop");
    const avifImage *image = state->decoder->image;
    const avifCropRect part = visible_part(state);
    if (memcmp(&part, &state->part, sizeof part) != 0) {
        return ic_fail(error, IC_DAMAGED, "The AVIF's picture has another size than its header says");
    }
    avifImage *view = state->avif->avifImageCreateEmpty();
    if (!view) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding AVIF");
    result = state->avif->avifImageSetViewRect(view, image, &part);
    if (state->has_other_track) {
        view->alphaPlane = NULL;
        view->alphaRowBytes = 0;
    }
    if (result == AVIF_RESULT_OK) result = convert(state, view, info, target);
    state->avif->avifImageDestroy(view);
    return result == AVIF_RESULT_OK ? IC_OK : fail(state, result, error);
}

const ic_picture_codec ic_avif_codec = {open_avif, decode_avif, close_avif};
