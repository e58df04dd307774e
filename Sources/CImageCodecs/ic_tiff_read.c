#include <stdlib.h>
#include <string.h>

#include "ic_internal.h"
#include "ic_tiff_internal.h"

static ic_status read_whole_picture(ic_tiff_decoder *decoder, ic_error *error) {
    uint32_t width = (uint32_t)decoder->info.width, height = (uint32_t)decoder->info.height;
    decoder->raster = calloc((size_t)width * height, 4);
    if (!decoder->raster) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a TIFF picture");
    const ic_tiff_table *libtiff = decoder->libtiff;
    TIFFRGBAImage image;
    char reason[1024] = "";
    if (!libtiff->TIFFRGBAImageBegin(&image, decoder->tiff, 0, reason)) {
        return ic_fail(error, IC_UNSUPPORTED, "TIFF: %s", reason);
    }
    // Rows as they are stored: the caller applies the orientation.
    image.orientation = ORIENTATION_TOPLEFT;
    image.req_orientation = ORIENTATION_TOPLEFT;
    int is_done = libtiff->TIFFRGBAImageGet(&image, decoder->raster, width, height);
    libtiff->TIFFRGBAImageEnd(&image);
    if (is_done) return IC_OK;
    return ic_fail(error, IC_DAMAGED, "TIFF: %s", decoder->damage_count ? decoder->damage[0] : "no picture data");
}

ic_status ic_tiff_decoder_start(ic_tiff_decoder *decoder, ic_error *error) {
    decoder->is_reading = 1;
    if (decoder->uses_rgba_reader) return read_whole_picture(decoder, error);
    size_t planes = decoder->is_separate ? decoder->samples : 1;
    size_t row_samples = (size_t)decoder->chunks_across * decoder->chunk_width * decoder->samples;
    decoder->band = malloc(decoder->chunk_bytes * decoder->chunks_across * planes);
    decoder->samples_row = malloc(row_samples * (decoder->is_float ? sizeof(float) : sizeof(uint16_t)));
    if (decoder->is_lab) {
        const float *white = NULL;
        if (!decoder->libtiff->TIFFGetField(decoder->tiff, TIFFTAG_WHITEPOINT, &white)) white = NULL;
        decoder->lab = ic_tiff_lab_open(decoder->info.width, white);
    }
    int has_codes = ic_tiff_list_codes(decoder);
    if (decoder->band && decoder->samples_row && has_codes && (!decoder->is_lab || decoder->lab)) return IC_OK;
    return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for TIFF strips");
}

/// A strip or tile that came shorter than it should, of which the library said nothing.
static void note_short(ic_tiff_decoder *decoder) {
    static const char *const line = "A strip or tile is shorter than its picture";
    if (decoder->damage_count == IC_TIFF_DAMAGE_LINES) return;
    if (decoder->damage_count > 0 && strcmp(decoder->damage[decoder->damage_count - 1], line) == 0) return;
    strcpy(decoder->damage[decoder->damage_count++], line);
}

ic_status ic_tiff_load_band(ic_tiff_decoder *decoder, uint32_t row, ic_error *error) {
    int64_t index = row / decoder->chunk_rows;
    if (index == decoder->band_index) return IC_OK;
    decoder->band_index = index;
    const ic_tiff_table *libtiff = decoder->libtiff;
    int planes = decoder->is_separate ? decoder->samples : 1;
    memset(decoder->band, 0, decoder->chunk_bytes * decoder->chunks_across * (size_t)planes);
    uint8_t *target = decoder->band;
    uint32_t rows_left = (uint32_t)decoder->info.height - (uint32_t)index * decoder->chunk_rows;
    uint32_t rows = decoder->is_tiled || rows_left > decoder->chunk_rows ? decoder->chunk_rows : rows_left;
    tmsize_t expected = (tmsize_t)(rows * decoder->chunk_row_bytes);
    for (int plane = 0; plane < planes; plane++) {
        // Planes that are neither colour nor alpha are not read.
        int is_needed = plane < decoder->colors || plane == decoder->alpha;
        for (uint32_t i = 0; i < decoder->chunks_across; i++, target += decoder->chunk_bytes) {
            if (!is_needed) continue;
            tmsize_t room = (tmsize_t)decoder->chunk_bytes;
            tmsize_t got;
            unsigned messages = decoder->messages;
            if (decoder->is_tiled) {
                uint32_t x = i * decoder->chunk_width;
                uint32_t tile = libtiff->TIFFComputeTile(decoder->tiff, x, row, 0, (uint16_t)plane);
                got = libtiff->TIFFReadEncodedTile(decoder->tiff, tile, target, room);
            } else {
                uint32_t strip = libtiff->TIFFComputeStrip(decoder->tiff, row, (uint16_t)plane);
                got = libtiff->TIFFReadEncodedStrip(decoder->tiff, strip, target, room);
            }
            decoder->chunks_read++;
            if (got < 0) decoder->chunks_failed++;
            if (got < expected && decoder->messages == messages) note_short(decoder);
        }
    }
    int is_last = (uint32_t)((index + 1) * decoder->chunk_rows) >= (uint32_t)decoder->info.height;
    if (!is_last || decoder->chunks_failed < decoder->chunks_read) return IC_OK;
    return ic_fail(error, IC_DAMAGED, "TIFF: %s", decoder->damage_count ? decoder->damage[0] : "no picture data");
}

static void copy_raster_row(const ic_tiff_decoder *decoder, uint32_t row, uint8_t *target) {
    const uint32_t *source = decoder->raster + (size_t)row * (size_t)decoder->info.width;
    for (int32_t x = 0; x < decoder->info.width; x++, target += 4) {
        uint8_t pixel[4] = {TIFFGetR(source[x]), TIFFGetG(source[x]), TIFFGetB(source[x]), 255};
        memcpy(target, pixel, 4);
    }
}

ic_status ic_tiff_decoder_read(
    ic_tiff_decoder *decoder, uint8_t *rows, size_t stride_bytes, int32_t count, int32_t *rows_read, ic_error *error) {
    uint32_t left = (uint32_t)decoder->info.height - decoder->next_row;
    uint32_t wanted = (uint32_t)count < left ? (uint32_t)count : left;
    for (uint32_t y = 0; y < wanted; y++, decoder->next_row++) {
        uint8_t *target = rows + (size_t)y * stride_bytes;
        if (decoder->raster) {
            copy_raster_row(decoder, decoder->next_row, target);
            continue;
        }
        ic_status status = ic_tiff_load_band(decoder, decoder->next_row, error);
        if (status != IC_OK) return status;
        ic_tiff_convert_row(decoder, decoder->next_row % decoder->chunk_rows, target);
    }
    *rows_read = (int32_t)wanted;
    return IC_OK;
}
