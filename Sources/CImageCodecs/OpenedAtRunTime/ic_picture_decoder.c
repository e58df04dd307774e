#include <stdlib.h>

#include "ic_picture_internal.h"

struct ic_picture_decoder {
    ic_library library;
    const ic_picture_codec *codec;
    void *state;
    ic_picture_info info;
    ic_picture_target target;
};

/// Those that read a picture as a whole; not TIFF, which is read in rows.
static const ic_picture_codec *const codecs[] = {
    [IC_LIBRARY_AVIF] = &ic_avif_codec,
    [IC_LIBRARY_HEIF] = &ic_heif_codec,
    [IC_LIBRARY_JXL] = &ic_jxl_codec,
    [IC_LIBRARY_RAW] = &ic_raw_codec,
    [IC_LIBRARY_GIF] = &ic_gif_codec,
    [IC_LIBRARY_OPENJPEG] = &ic_openjpeg_codec,
};

ic_picture_decoder *ic_picture_decoder_open(
    ic_library library, const uint8_t *bytes, size_t size, int64_t max_pixels, ic_picture_info *info, ic_error *error) {
    ic_picture_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a decoder");
        return NULL;
    }
    decoder->library = library;
    decoder->codec = codecs[library];
    decoder->info = (ic_picture_info){.orientation = 1, .frames = 1, .pictures = 1, .primaries = 2, .transfer = 2};
    ic_picture_source source = {bytes, size, max_pixels};
    // libheif cannot be told how large a picture in AV1 may be.
    if (library == IC_LIBRARY_HEIF && ic_heif_is_av1(&source)) decoder->codec = &ic_avif_codec;
    ic_status status = decoder->codec->open(&source, &decoder->state, &decoder->info, error);
    info->bytes_held = decoder->info.bytes_held;
    if (status != IC_OK) {
        ic_picture_decoder_close(decoder);
        return NULL;
    }
    *info = decoder->info;
    return decoder;
}

void ic_picture_decoder_close(ic_picture_decoder *decoder) {
    if (!decoder) return;
    if (decoder->state) decoder->codec->close(decoder->state);
    free(decoder);
}

void ic_picture_decoder_set_pulse(ic_picture_decoder *decoder, ic_pulse pulse) { decoder->target.pulse = pulse; }

ic_status ic_picture_decoder_decode(ic_picture_decoder *decoder, uint8_t *rows, ic_error *error) {
    decoder->target.rows = rows;
    decoder->target.stride_bytes = (size_t)decoder->info.width * (decoder->info.is_wide ? 8 : 4);
    return decoder->codec->decode(decoder->state, &decoder->info, &decoder->target, error);
}

const char *ic_picture_decoder_damage(const ic_picture_decoder *decoder) {
    return decoder->target.damage[0] ? decoder->target.damage : NULL;
}

ic_status ic_picture_decoder_preview(
    ic_picture_decoder *decoder, const uint8_t **bytes, size_t *size, ic_error *error) {
    if (decoder->library == IC_LIBRARY_RAW) return ic_raw_preview(decoder->state, bytes, size, error);
    return ic_fail(error, IC_UNSUPPORTED, "Only camera raw has a preview");
}

int32_t ic_orientation(int quarters, int mirror) {
    static const int32_t orientations[3][4] = {{1, 8, 3, 6}, {2, 7, 4, 5}, {4, 5, 2, 7}};
    return orientations[mirror][quarters & 3];
}

uint16_t *ic_widened_samples(int bits) {
    uint32_t count = 1u << bits;
    uint16_t *list = malloc(count * sizeof *list);
    for (uint32_t i = 0; list && i < count; i++) list[i] = ic_widened(i, bits);
    return list;
}
