#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ic_pack.h"
#include "ic_tiff_internal.h"

/// IEEE 754 binary16.
static float half_to_float(uint16_t half) {
    int exponent = half >> 10 & 31;
    float fraction = (float)(half & 1023);
    float value = exponent == 0 ? ldexpf(fraction, -24) : ldexpf(1024 + fraction, exponent - 25);
    // Infinities and what is not a number come as the largest finite value.
    if (exponent == 31) value = 65504;
    return half >> 15 ? -value : value;
}

/// What is not a number comes as 0, infinities as the largest values.
static float bounded(double value) {
    if (value != value) return 0;
    if (value > 3.4e38) return 3.4e38f;
    if (value < -3.4e38) return -3.4e38f;
    return (float)value;
}

static void unpack_float(const uint8_t *source, int bits, size_t count, float *target, size_t step) {
    if (bits == 16) {
        for (size_t i = 0; i < count; i++) {
            uint16_t half;
            memcpy(&half, source + i * 2, 2);
            target[i * step] = half_to_float(half);
        }
    } else if (bits == 32) {
        for (size_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, source + i * 4, 4);
            target[i * step] = bounded(value);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            double value;
            memcpy(&value, source + i * 8, 8);
            target[i * step] = bounded(value);
        }
    }
}

/// Samples of any width up to 16 bits as they are; of 32 bits, the upper half.
static void unpack_integer(const uint8_t *source, int bits, size_t count, uint16_t *target, size_t step) {
    if (bits == 8) {
        for (size_t i = 0; i < count; i++) target[i * step] = source[i];
    } else if (bits == 16) {
        for (size_t i = 0; i < count; i++) memcpy(&target[i * step], source + i * 2, 2);
    } else if (bits == 32) {
        for (size_t i = 0; i < count; i++) {
            uint32_t value;
            memcpy(&value, source + i * 4, 4);
            target[i * step] = (uint16_t)(value >> 16);
        }
    } else {
        // Packed without gaps, the most significant bit first.
        uint32_t pending = 0;
        int available = 0;
        for (size_t i = 0; i < count; i++) {
            while (available < bits) {
                pending = pending << 8 | *source++;
                available += 8;
            }
            available -= bits;
            target[i * step] = (uint16_t)(pending >> available & ((1u << bits) - 1));
        }
    }
}

/// Brings one row of all chunks and planes into `samples_row`, interleaved.
static void unpack_row(ic_tiff_decoder *decoder, uint32_t row) {
    size_t samples = decoder->samples;
    size_t planes = decoder->is_separate ? samples : 1;
    size_t per_pixel = decoder->is_separate ? 1 : samples;
    const uint8_t *chunk = decoder->band;
    for (size_t plane = 0; plane < planes; plane++) {
        for (size_t i = 0; i < decoder->chunks_across; i++, chunk += decoder->chunk_bytes) {
            const uint8_t *source = chunk + row * decoder->chunk_row_bytes;
            size_t first = i * decoder->chunk_width * samples + plane;
            size_t count = decoder->chunk_width * per_pixel;
            size_t step = decoder->is_separate ? samples : 1;
            if (decoder->is_float) {
                unpack_float(source, decoder->bits, count, (float *)decoder->samples_row + first, step);
            } else {
                unpack_integer(source, decoder->bits, count, (uint16_t *)decoder->samples_row + first, step);
            }
        }
    }
    if (!decoder->info.is_signed) return;
    // The least of them is nothing then.
    uint16_t half = (uint16_t)(1u << (decoder->bits < 16 ? decoder->bits - 1 : 15));
    uint16_t *row_samples = decoder->samples_row;
    for (size_t i = 0; i < decoder->chunks_across * (size_t)decoder->chunk_width * samples; i++) row_samples[i] ^= half;
}

static void convert_float(const ic_tiff_decoder *decoder, float *target) {
    const float *source = decoder->samples_row;
    int is_gray = decoder->colors == 1;
    int is_inverted = decoder->photometric == PHOTOMETRIC_MINISWHITE;
    for (int32_t x = 0; x < decoder->info.width; x++, source += decoder->samples, target += 4) {
        float alpha = decoder->alpha >= 0 ? source[decoder->alpha] : 1;
        for (int c = 0; c < 3; c++) {
            float value = source[is_gray ? 0 : c];
            if (is_inverted) value = 1 - value;
            if (decoder->is_premultiplied) value = alpha > 0 ? value / alpha : 0;
            target[c] = value;
        }
        target[3] = alpha;
    }
}

static uint32_t straight(uint32_t value, uint32_t alpha, uint32_t most) {
    if (alpha == 0) return 0;
    uint64_t result = ((uint64_t)value * most + alpha / 2) / alpha;
    return result > most ? most : (uint32_t)result;
}

/// One pixel's colours and alpha, 0 ... `most`.
static void convert_pixel(const ic_tiff_decoder *decoder, const uint16_t *source, uint32_t most, uint32_t pixel[4]) {
    uint32_t file_most = decoder->bits >= 16 ? 65535 : (1u << decoder->bits) - 1;
    for (int c = 0; c < 4; c++) {
        int index = c == 3 ? decoder->alpha : decoder->colors == 1 ? 0 : c;
        uint32_t value = index < 0 ? file_most : source[index];
        if (c < 3 && decoder->photometric == PHOTOMETRIC_MINISWHITE) value = file_most - value;
        pixel[c] = file_most == most ? value : (value * most + file_most / 2) / file_most;
    }
    if (!decoder->is_premultiplied) return;
    for (int c = 0; c < 3; c++) pixel[c] = straight(pixel[c], pixel[3], most);
}

static void convert_16(const ic_tiff_decoder *decoder, uint16_t *target) {
    const uint16_t *source = decoder->samples_row;
    for (int32_t x = 0; x < decoder->info.width; x++, source += decoder->samples, target += 4) {
        uint32_t pixel[4];
        convert_pixel(decoder, source, 65535, pixel);
        for (int c = 0; c < 4; c++) target[c] = (uint16_t)pixel[c];
    }
}

static void convert_pixel_8(const ic_tiff_decoder *decoder, const uint16_t *source, uint8_t *target) {
    if (decoder->palette[0]) {
        for (int c = 0; c < 3; c++) target[c] = (uint8_t)(decoder->palette[c][source[0]] >> decoder->palette_shift);
        target[3] = decoder->alpha < 0 ? 255 : (uint8_t)source[decoder->alpha];
        return;
    }
    uint32_t pixel[4];
    convert_pixel(decoder, source, 255, pixel);
    for (int c = 0; c < 4; c++) target[c] = (uint8_t)pixel[c];
}

static void convert_8(const ic_tiff_decoder *decoder, uint8_t *target) {
    const uint16_t *source = decoder->samples_row;
    for (int32_t x = 0; x < decoder->info.width; x++, source += decoder->samples, target += 4) {
        convert_pixel_8(decoder, source, target);
    }
}

int ic_tiff_list_codes(ic_tiff_decoder *decoder) {
    int is_one = decoder->samples == 1 && decoder->colors == 1 && decoder->alpha < 0;
    if (!is_one || decoder->is_float || decoder->info.layout != IC_TIFF_RGBX8) return 1;
    decoder->shown = malloc(256 * sizeof *decoder->shown);
    if (!decoder->shown) return 0;
    uint16_t half = decoder->info.is_signed ? (uint16_t)(1u << (decoder->bits - 1)) : 0;
    for (uint32_t code = 0; code < 1u << decoder->bits; code++) {
        uint16_t sample = (uint16_t)code ^ half;
        uint8_t pixel[4];
        convert_pixel_8(decoder, &sample, pixel);
        memcpy(&decoder->shown[code], pixel, sizeof pixel);
    }
    return 1;
}

/// Looks up `count` codes of `bits`, packed without gaps, the most significant bit first.
static void look_up(const uint32_t *shown, const uint8_t *source, int bits, size_t count, uint8_t *target) {
    if (bits == 8) {
        for (size_t i = 0; i < count; i++) memcpy(target + i * 4, &shown[source[i]], 4);
        return;
    }
    uint32_t pending = 0;
    int available = 0;
    for (size_t i = 0; i < count; i++) {
        if (available < bits) {
            pending = pending << 8 | *source++;
            available += 8;
        }
        available -= bits;
        memcpy(target + i * 4, &shown[pending >> available & ((1u << bits) - 1)], 4);
    }
}

/// One row of a chunk whose numbers need no arithmetic; 0 for all others.
static int copy_run(const ic_tiff_decoder *decoder, const uint8_t *source, size_t count, uint8_t *target) {
    int samples = decoder->samples, bits = decoder->bits;
    if (decoder->is_float || decoder->is_lab || decoder->is_separate || decoder->is_premultiplied) return 0;
    if (decoder->shown) {
        look_up(decoder->shown, source, bits, count, target);
        return 1;
    }
    int is_plain = !decoder->info.is_signed && !decoder->palette[0] && decoder->photometric != PHOTOMETRIC_MINISWHITE;
    if (!is_plain || (bits != 8 && bits != 16)) return 0;
    if (decoder->info.layout == IC_TIFF_CMYK8) {
        if (samples != 4 || bits != 8) return 0;
        memcpy(target, source, count * 4);
    } else if (decoder->colors == 3 && samples == 3) {
        ic_add_full(source, (size_t)bits / 8, count, target);
    } else if (decoder->colors == 3 && samples == 4 && decoder->alpha == 3) {
        memcpy(target, source, count * (size_t)bits / 2);
    } else if (decoder->colors == 1 && samples <= 2 && decoder->alpha == (samples == 2 ? 1 : -1)) {
        ic_repeat_gray(source, (size_t)bits / 8, samples == 2, count, target);
    } else {
        return 0;
    }
    return 1;
}

/// Without bringing the samples into a row of their own; 0 where that is needed.
static int copy_row(const ic_tiff_decoder *decoder, uint32_t row, uint8_t *target) {
    size_t left = (size_t)decoder->info.width, pixel_bytes = decoder->info.layout == IC_TIFF_RGBA16 ? 8 : 4;
    const uint8_t *source = decoder->band + row * decoder->chunk_row_bytes;
    for (size_t i = 0; i < decoder->chunks_across; i++, source += decoder->chunk_bytes) {
        size_t count = decoder->chunk_width < left ? decoder->chunk_width : left;
        if (!copy_run(decoder, source, count, target)) return 0;
        target += count * pixel_bytes;
        left -= count;
    }
    return 1;
}

static void convert_cmyk(const ic_tiff_decoder *decoder, uint8_t *target) {
    const uint16_t *source = decoder->samples_row;
    uint32_t file_most = decoder->bits >= 16 ? 65535 : (1u << decoder->bits) - 1;
    for (int32_t x = 0; x < decoder->info.width; x++, source += decoder->samples, target += 4) {
        for (int c = 0; c < 4; c++) target[c] = (uint8_t)((source[c] * 255u + file_most / 2) / file_most);
    }
}

void ic_tiff_convert_row(ic_tiff_decoder *decoder, uint32_t row, uint8_t *target) {
    if (copy_row(decoder, row, target)) return;
    unpack_row(decoder, row);
    if (decoder->is_lab) {
        ic_tiff_lab_convert(decoder, target);
        return;
    }
    switch (decoder->info.layout) {
    case IC_TIFF_RGBAF32:
        convert_float(decoder, (float *)(void *)target);
        return;
    case IC_TIFF_RGBA16:
        convert_16(decoder, (uint16_t *)(void *)target);
        return;
    case IC_TIFF_CMYK8:
        convert_cmyk(decoder, target);
        return;
    case IC_TIFF_RGBX8:
    case IC_TIFF_RGBA8:
        convert_8(decoder, target);
        return;
    }
}
