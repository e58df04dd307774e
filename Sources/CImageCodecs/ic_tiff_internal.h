#pragma once

#include "OpenedAtRunTime/ic_tiff_library.h"
#include "include/ic_tiff.h"

/// From L*a*b* to sRGB.
typedef struct ic_tiff_lab ic_tiff_lab;

enum { IC_TIFF_DAMAGE_LINES = 4, IC_TIFF_MAX_CHANNELS = 16 };

struct ic_tiff_decoder {
    const ic_tiff_table *libtiff;
    TIFF *tiff;
    const uint8_t *bytes;
    size_t size;
    size_t position;
    ic_tiff_info info;

    // The directory.
    uint16_t bits;
    uint16_t samples;
    uint16_t photometric;
    int is_float;
    int is_separate;
    int is_tiled;
    /// Colour samples a pixel, and the index of the alpha sample or -1.
    int colors;
    int alpha;
    int is_premultiplied;
    /// Y'CbCr and other kinds that libtiff itself turns into RGB, whole pictures at once.
    int uses_rgba_reader;
    int is_lab;
    const uint16_t *palette[3];
    int palette_shift;

    // Strips or tiles: a band is what lies side by side.
    uint32_t chunk_width;
    uint32_t chunk_rows;
    uint32_t chunks_across;
    size_t chunk_bytes;
    size_t chunk_row_bytes;
    uint8_t *band;
    int64_t band_index;
    int chunks_read;
    int chunks_failed;
    /// The whole picture of the RGBA reader.
    uint32_t *raster;
    /// One row's samples, interleaved.
    void *samples_row;
    /// What each code of a picture of one sample of up to 8 bits is shown as; NULL for others.
    uint32_t *shown;
    ic_tiff_lab *lab;
    uint32_t next_row;

    // Messages.
    int is_reading;
    unsigned messages;
    int damage_count;
    char damage[IC_TIFF_DAMAGE_LINES][160];
    char last_error[160];
};

/// Reads the strips or tiles that hold `row`, unless they are the ones held already.
ic_status ic_tiff_load_band(ic_tiff_decoder *decoder, uint32_t row, ic_error *error);

/// Lists what each code of a picture of one sample of up to 8 bits becomes. 0 without memory.
int ic_tiff_list_codes(ic_tiff_decoder *decoder);

/// Unpacks a row of the band and converts it to the layout of the header.
void ic_tiff_convert_row(ic_tiff_decoder *decoder, uint32_t row, uint8_t *target);

/// For rows of so many pixels, and a white of x and y, which is that of D50 where the file names none; NULL without memory.
ic_tiff_lab *ic_tiff_lab_open(int32_t width, const float *white);
void ic_tiff_lab_close(ic_tiff_lab *lab);

/// Converts `samples_row` to the layout of the header, in sRGB.
void ic_tiff_lab_convert(const ic_tiff_decoder *decoder, uint8_t *target);
