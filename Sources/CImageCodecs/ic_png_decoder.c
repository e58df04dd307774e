#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spng.h>

#include "ic_internal.h"
#include "ic_pack.h"
#include "include/ic_color.h"
#include "include/ic_png.h"

static const char xmp_keyword[] = "XML:com.adobe.xmp";

/// What spng reads: the file without its texts, which may be of any number and length, and of which XMP alone is wanted.
typedef struct png_source {
    const uint8_t *bytes;
    size_t size;
    size_t position;
    /// Where the next chunk begins, by what the last one says of its length.
    size_t next_chunk;
} png_source;

struct ic_png_decoder {
    spng_ctx *context;
    png_source source;
    struct spng_ihdr header;
    int is_wide;
    int has_alpha;
    size_t row_bytes;
    /// Rows handed out, and rows decoded soundly; the second stands still after damage.
    uint32_t next_row;
    uint32_t rows_decoded;
    /// spng's first error; nothing more is decoded after it.
    int failure;
    /// The whole picture, for interlaced files only.
    uint8_t *picture;
    /// Rows come as the file has them, which spng would bring into four samples one by one. One of them, where it has less.
    int is_native;
    uint8_t *native;
    size_t native_bytes;
    /// A profile made of gamma and primaries.
    uint8_t *made_profile;
};

static int is_unwanted_text(const uint8_t *chunk, size_t left) {
    if (memcmp(chunk + 4, "tEXt", 4) == 0 || memcmp(chunk + 4, "zTXt", 4) == 0) return 1;
    if (memcmp(chunk + 4, "iTXt", 4) != 0) return 0;
    return left < 8 + sizeof xmp_keyword || memcmp(chunk + 8, xmp_keyword, sizeof xmp_keyword) != 0;
}

static void begin_chunk(png_source *source) {
    size_t left;
    while ((left = source->size - source->position) >= 8) {
        const uint8_t *b = source->bytes + source->position;
        // Length, kind and checksum are 4 bytes each.
        size_t length = ((size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3]) + 12;
        source->next_chunk = source->position + length;
        if (!is_unwanted_text(b, left)) return;
        source->position = length < left ? source->next_chunk : source->size;
    }
}

static int read_source(spng_ctx *context, void *user, void *target, size_t count) {
    (void)context;
    png_source *source = user;
    if (source->position == source->next_chunk) begin_chunk(source);
    if (count > source->size - source->position) return SPNG_IO_EOF;
    memcpy(target, source->bytes + source->position, count);
    source->position += count;
    return 0;
}

static ic_status report(int code, ic_error *error) {
    switch (code) {
    case SPNG_EMEM:
        return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding PNG");
    case SPNG_ECHUNK_LIMITS:
        return ic_fail(error, IC_LIMIT, "A part of the PNG is larger than the limit");
    case SPNG_IO_EOF:
    case SPNG_EOF:
        return ic_fail(error, IC_DAMAGED, "The PNG ends before its picture");
    default:
        return ic_fail(error, IC_DAMAGED, "PNG: %s", spng_strerror(code));
    }
}

/// Whether they are sRGB's: a gamma within 2 %, primaries within 0.01.
static int is_srgb(const ic_color_primaries *colors, const ic_color_primaries *srgb) {
    if (fabs(colors->exponent / srgb->exponent - 1) > 0.02) return 0;
    for (int i = 0; i < 2 && !colors->is_gray; i++) {
        if (fabs(colors->white[i] - srgb->white[i]) > 0.01 || fabs(colors->red[i] - srgb->red[i]) > 0.01 ||
            fabs(colors->green[i] - srgb->green[i]) > 0.01 || fabs(colors->blue[i] - srgb->blue[i]) > 0.01) {
            return 0;
        }
    }
    return 1;
}

/// What gAMA and cHRM say counts where neither iCCP nor sRGB is there (PNG specification, third edition, section 4.3).
static void make_profile(ic_png_decoder *decoder, ic_png_info *info) {
    const ic_color_primaries srgb = {
        {0.3127, 0.329}, {0.64, 0.33}, {0.3, 0.6}, {0.15, 0.06}, 1 / 0.45455, info->is_gray};
    ic_color_primaries colors = srgb;
    uint8_t intent;
    double gamma;
    struct spng_chrm c;
    if (spng_get_srgb(decoder->context, &intent) == 0) return;
    if (spng_get_gama(decoder->context, &gamma) == 0) colors.exponent = gamma > 0 ? 1 / gamma : 0;
    if (spng_get_chrm(decoder->context, &c) == 0) {
        colors = (ic_color_primaries){
            {c.white_point_x, c.white_point_y},
            {c.red_x, c.red_y},
            {c.green_x, c.green_y},
            {c.blue_x, c.blue_y},
            colors.exponent,
            info->is_gray,
        };
    }
    if (is_srgb(&colors, &srgb)) return;
    size_t size = 0;
    // Curves beyond these are no picture's, and no light is white.
    int is_possible = colors.exponent > 0.1 && colors.exponent < 10 && colors.white[1] > 0.01;
    if (is_possible) decoder->made_profile = ic_color_copy_profile_of(&colors, &size);
    info->icc = decoder->made_profile;
    info->icc_size = size;
    info->has_impossible_colors = !decoder->made_profile;
}

/// Bits above the picture's depth do not count in the colour that is clear (PNG specification, third edition, 11.3.1.1).
/// spng would find no such colour. Whether there were any.
static int mask_transparency(ic_png_decoder *decoder) {
    struct spng_trns clear;
    int kind = decoder->header.color_type;
    int has_color = kind == SPNG_COLOR_TYPE_GRAYSCALE || kind == SPNG_COLOR_TYPE_TRUECOLOR;
    if (!has_color || spng_get_trns(decoder->context, &clear)) return 0;
    const struct spng_trns given = clear;
    uint16_t mask = (uint16_t)((1u << decoder->header.bit_depth) - 1);
    if (kind == SPNG_COLOR_TYPE_GRAYSCALE) {
        clear.gray &= mask;
        if (clear.gray == given.gray) return 0;
    } else {
        clear.red &= mask;
        clear.green &= mask;
        clear.blue &= mask;
        if (clear.red == given.red && clear.green == given.green && clear.blue == given.blue) return 0;
    }
    return spng_set_trns(decoder->context, &clear) == 0;
}

static void fill_info(ic_png_decoder *decoder, ic_png_info *info) {
    const struct spng_ihdr *header = &decoder->header;
    struct spng_trns transparency;
    int kind = header->color_type;
    *info = (ic_png_info){
        .width = (int32_t)header->width,
        .height = (int32_t)header->height,
        .bit_depth = header->bit_depth,
        .is_gray = kind == SPNG_COLOR_TYPE_GRAYSCALE || kind == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
        .has_alpha = kind == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA || kind == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ||
                     spng_get_trns(decoder->context, &transparency) == 0,
        .is_interlaced = header->interlace_method != SPNG_INTERLACE_NONE,
    };
    info->has_wide_transparency = mask_transparency(decoder);
    struct spng_iccp profile;
    if (spng_get_iccp(decoder->context, &profile) == 0) {
        info->icc = (const uint8_t *)profile.profile;
        info->icc_size = profile.profile_len;
    } else {
        make_profile(decoder, info);
    }
    struct spng_exif exif;
    if (spng_get_exif(decoder->context, &exif) == 0) {
        info->exif = (const uint8_t *)exif.data;
        info->exif_size = exif.length;
    }
    struct spng_phys phys;
    if (spng_get_phys(decoder->context, &phys) == 0 && phys.unit_specifier == 1) {
        info->resolution_x = phys.ppu_x;
        info->resolution_y = phys.ppu_y;
    }
}

ic_png_decoder *ic_png_decoder_open(const uint8_t *bytes, size_t size, ic_png_info *info, ic_error *error) {
    ic_png_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder) decoder->context = spng_ctx_new(0);
    if (!decoder || !decoder->context) {
        free(decoder);
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a PNG decoder");
        return NULL;
    }
    spng_ctx *context = decoder->context;
    spng_set_crc_action(context, SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
    spng_set_chunk_limits(context, ic_most_unpacked(size), 2 * ic_most_unpacked(size));
    // Behind signature and header, which spng reads at once.
    decoder->source = (png_source){bytes, size, 0, 33};
    int code = spng_set_png_stream(context, read_source, &decoder->source);
    if (code == 0) code = spng_get_ihdr(context, &decoder->header);
    // Up to the picture, and not within the first question about it: spng would forget why it failed.
    if (code == 0) code = spng_decode_chunks(context);
    if (code) {
        report(code, error);
        ic_png_decoder_close(decoder);
        return NULL;
    }
    fill_info(decoder, info);
    decoder->is_wide = decoder->header.bit_depth == 16;
    decoder->has_alpha = info->has_alpha;
    decoder->row_bytes = (size_t)decoder->header.width * (decoder->is_wide ? 8 : 4);
    return decoder;
}

void ic_png_decoder_close(ic_png_decoder *decoder) {
    if (!decoder) return;
    spng_ctx_free(decoder->context);
    free(decoder->picture);
    free(decoder->native);
    free(decoder->made_profile);
    free(decoder);
}

const char *ic_png_decoder_xmp(ic_png_decoder *decoder, size_t *length) {
    uint32_t count = 0;
    if (spng_get_text(decoder->context, NULL, &count) || count == 0) return NULL;
    struct spng_text *texts = calloc(count, sizeof *texts);
    if (!texts) return NULL;
    const char *found = NULL;
    if (spng_get_text(decoder->context, texts, &count) == 0) {
        for (uint32_t i = 0; i < count && !found; i++) {
            if (texts[i].type != SPNG_ITXT || strcmp(texts[i].keyword, xmp_keyword) != 0) continue;
            found = texts[i].text;
            *length = texts[i].length;
        }
    }
    free(texts);
    return found;
}

/// Decodes every pass; pixels that never come stay clear or black.
static void decode_interlaced(ic_png_decoder *decoder) {
    struct spng_row_info row;
    while ((decoder->failure = spng_get_row_info(decoder->context, &row)) == 0) {
        uint8_t *target = decoder->picture + (size_t)row.row_num * decoder->row_bytes;
        decoder->failure = spng_decode_row(decoder->context, target, decoder->row_bytes);
        if (decoder->failure) break;
        decoder->rows_decoded++;
    }
    if (decoder->failure == SPNG_EOI) {
        decoder->rows_decoded++;
        decoder->failure = spng_decode_chunks(decoder->context);
    }
}

static void clear_rows(const ic_png_decoder *decoder, uint8_t *rows, size_t stride_bytes, uint32_t count) {
    for (uint32_t y = 0; y < count; y++) {
        uint8_t *row = rows + (size_t)y * stride_bytes;
        memset(row, 0, decoder->row_bytes);
        if (decoder->has_alpha) continue;
        size_t sample = decoder->is_wide ? 2 : 1;
        for (size_t x = 0; x < decoder->header.width; x++) memset(row + (x * 4 + 3) * sample, 255, sample);
    }
}

/// Samples of a pixel in the file; 0 for indices of a palette.
static size_t file_samples(const ic_png_decoder *decoder) {
    switch (decoder->header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE: return 1;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR: return 3;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 0;
    }
}

/// Whether no sample has to be computed. 0 without memory for a row.
static int choose_rows(ic_png_decoder *decoder) {
    size_t samples = file_samples(decoder);
    int is_even = samples == 2 || samples == 4;
    decoder->is_native = samples > 0 && decoder->header.bit_depth >= 8 && decoder->has_alpha == is_even &&
                         decoder->header.interlace_method == SPNG_INTERLACE_NONE;
    if (!decoder->is_native || samples == 4) return 1;
    decoder->native_bytes = (size_t)decoder->header.width * samples * (decoder->is_wide ? 2 : 1);
    decoder->native = malloc(decoder->native_bytes);
    return decoder->native != NULL;
}

ic_status ic_png_decoder_start(ic_png_decoder *decoder, ic_error *error) {
    if (!choose_rows(decoder)) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding PNG");
    int format = decoder->is_native ? SPNG_FMT_PNG : decoder->is_wide ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8;
    int flags = SPNG_DECODE_PROGRESSIVE | (decoder->is_native ? 0 : SPNG_DECODE_TRNS);
    int code = spng_decode_image(decoder->context, NULL, 0, format, flags);
    if (code) return report(code, error);
    if (decoder->header.interlace_method == SPNG_INTERLACE_NONE) return IC_OK;
    decoder->picture = malloc(decoder->row_bytes * decoder->header.height);
    if (!decoder->picture) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for an interlaced PNG");
    clear_rows(decoder, decoder->picture, decoder->row_bytes, decoder->header.height);
    decode_interlaced(decoder);
    return decoder->failure && decoder->rows_decoded == 0 ? report(decoder->failure, error) : IC_OK;
}

static void widen_row(const ic_png_decoder *decoder, uint8_t *row) {
    if (!decoder->native) return;
    size_t samples = file_samples(decoder), bytes = decoder->is_wide ? 2 : 1, width = decoder->header.width;
    if (samples == 3) {
        ic_add_full(decoder->native, bytes, width, row);
    } else {
        ic_repeat_gray(decoder->native, bytes, samples == 2, width, row);
    }
}

static void decode_next(ic_png_decoder *decoder, uint8_t *row) {
    if (!decoder->failure) {
        int code = decoder->native ? spng_decode_row(decoder->context, decoder->native, decoder->native_bytes)
                                   : spng_decode_row(decoder->context, row, decoder->row_bytes);
        if (code == 0 || code == SPNG_EOI) {
            decoder->rows_decoded++;
            widen_row(decoder, row);
        }
        // After the last row: reads on to the end marker, so that a cut before it is noticed.
        decoder->failure = code == SPNG_EOI ? spng_decode_chunks(decoder->context) : code;
    }
    if (decoder->rows_decoded <= decoder->next_row) clear_rows(decoder, row, 0, 1);
    decoder->next_row++;
}

ic_status ic_png_decoder_read(
    ic_png_decoder *decoder, uint8_t *rows, size_t stride_bytes, int32_t count, int32_t *rows_read, ic_error *error) {
    uint32_t left = decoder->header.height - decoder->next_row;
    uint32_t wanted = (uint32_t)count < left ? (uint32_t)count : left;
    for (uint32_t y = 0; y < wanted; y++) {
        uint8_t *row = rows + (size_t)y * stride_bytes;
        if (decoder->picture) {
            memcpy(row, decoder->picture + (size_t)decoder->next_row * decoder->row_bytes, decoder->row_bytes);
            decoder->next_row++;
            continue;
        }
        decode_next(decoder, row);
        if (decoder->rows_decoded == 0) return report(decoder->failure, error);
    }
    *rows_read = (int32_t)wanted;
    return IC_OK;
}

const char *ic_png_decoder_damage(const ic_png_decoder *decoder) {
    if (decoder->failure == 0) return NULL;
    if (decoder->failure == SPNG_IO_EOF || decoder->failure == SPNG_EOF) return "The PNG ends early";
    return spng_strerror(decoder->failure);
}
