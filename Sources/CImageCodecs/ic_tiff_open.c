#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_internal.h"
#include "ic_tiff_internal.h"

static tmsize_t read_bytes(thandle_t handle, void *target, tmsize_t count) {
    ic_tiff_decoder *decoder = handle;
    size_t left = decoder->position < decoder->size ? decoder->size - decoder->position : 0;
    size_t taken = (size_t)count < left ? (size_t)count : left;
    memcpy(target, decoder->bytes + decoder->position, taken);
    decoder->position += taken;
    return (tmsize_t)taken;
}

static tmsize_t write_nothing(thandle_t handle, void *source, tmsize_t count) {
    (void)handle;
    (void)source;
    (void)count;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    ic_tiff_decoder *decoder = handle;
    size_t base = whence == SEEK_CUR ? decoder->position : whence == SEEK_END ? decoder->size : 0;
    size_t place = base + (size_t)offset;
    // Never past the end, where an address could wrap around.
    decoder->position = place > decoder->size ? decoder->size : place;
    return decoder->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t file_size(thandle_t handle) { return ((ic_tiff_decoder *)handle)->size; }

static int map_bytes(thandle_t handle, void **base, toff_t *size) {
    ic_tiff_decoder *decoder = handle;
    *base = (void *)(uintptr_t)decoder->bytes;
    *size = decoder->size;
    return 1;
}

static void unmap_nothing(thandle_t handle, void *base, toff_t size) {
    (void)handle;
    (void)base;
    (void)size;
}

__attribute__((format(printf, 2, 0))) static void keep_damage(
    ic_tiff_decoder *decoder, const char *format, va_list arguments) {
    decoder->messages++;
    if (decoder->damage_count == IC_TIFF_DAMAGE_LINES) return;
    char *line = decoder->damage[decoder->damage_count];
    vsnprintf(line, sizeof decoder->damage[0], format, arguments);
    for (int i = 0; i < decoder->damage_count; i++) {
        if (strcmp(decoder->damage[i], line) == 0) return;
    }
    decoder->damage_count++;
}

__attribute__((format(printf, 4, 0))) static int keep_error(
    TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    (void)module;
    ic_tiff_decoder *decoder = user;
    if (decoder->is_reading) {
        keep_damage(decoder, format, arguments);
    } else {
        vsnprintf(decoder->last_error, sizeof decoder->last_error, format, arguments);
    }
    return 1;
}

/// In a directory, warnings are about tags that do not matter; in picture data they are damage.
__attribute__((format(printf, 4, 0))) static int keep_warning(
    TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    (void)module;
    ic_tiff_decoder *decoder = user;
    if (decoder->is_reading) keep_damage(decoder, format, arguments);
    return 1;
}

static void silence_global_handlers(void) {
    ic_error error;
    const ic_tiff_table *libtiff = ic_tiff(&error);
    if (!libtiff) return;
    libtiff->TIFFSetErrorHandler(NULL);
    libtiff->TIFFSetWarningHandler(NULL);
}

static TIFF *open_client(ic_tiff_decoder *decoder) {
    const ic_tiff_table *libtiff = decoder->libtiff;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, silence_global_handlers);
    TIFFOpenOptions *options = libtiff->TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    libtiff->TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, decoder);
    libtiff->TIFFOpenOptionsSetWarningHandlerExtR(options, keep_warning, decoder);
    TIFF *tiff = libtiff->TIFFClientOpenExt(
        "picture", "r", decoder, read_bytes, write_nothing, seek, close_nothing, file_size, map_bytes, unmap_nothing,
        options);
    libtiff->TIFFOpenOptionsFree(options);
    return tiff;
}

static uint16_t tag16(const ic_tiff_decoder *decoder, uint32_t tag, uint16_t absent) {
    uint16_t value = absent;
    return decoder->libtiff->TIFFGetFieldDefaulted(decoder->tiff, tag, &value) ? value : absent;
}

static int count_pages(const ic_tiff_decoder *decoder) {
    int count = (int)decoder->libtiff->TIFFNumberOfDirectories(decoder->tiff);
    decoder->libtiff->TIFFSetDirectory(decoder->tiff, 0);
    return count < 1 ? 1 : count;
}

static void read_extras(ic_tiff_decoder *decoder) {
    uint16_t count = 0;
    const uint16_t *kinds = NULL;
    decoder->alpha = -1;
    if (!decoder->libtiff->TIFFGetFieldDefaulted(decoder->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds)) count = 0;
    for (int i = 0; i < count && decoder->alpha < 0 && decoder->colors + i < decoder->samples; i++) {
        if (kinds[i] == EXTRASAMPLE_UNSPECIFIED) continue;
        decoder->alpha = decoder->colors + i;
        decoder->is_premultiplied = kinds[i] == EXTRASAMPLE_ASSOCALPHA;
    }
}

static int read_palette(ic_tiff_decoder *decoder) {
    uint16_t *r = NULL, *g = NULL, *b = NULL;
    if (decoder->bits > 8 || !decoder->libtiff->TIFFGetField(decoder->tiff, TIFFTAG_COLORMAP, &r, &g, &b)) return 0;
    decoder->palette[0] = r;
    decoder->palette[1] = g;
    decoder->palette[2] = b;
    // Some writers store 8-bit values where 16 bits belong.
    for (int i = 0; i < 1 << decoder->bits; i++) {
        if ((r[i] | g[i] | b[i]) > 255) decoder->palette_shift = 8;
    }
    return 1;
}

static int is_fax(uint16_t compression) {
    return compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTFAX3 ||
           compression == COMPRESSION_CCITTFAX4 || compression == COMPRESSION_CCITTRLEW;
}

/// Where the file does not say what its numbers mean, they are taken for what such files have.
static void read_kind(ic_tiff_decoder *decoder) {
    uint16_t value = 0;
    if (decoder->libtiff->TIFFGetField(decoder->tiff, TIFFTAG_PHOTOMETRIC, &value)) {
        decoder->photometric = value;
        return;
    }
    decoder->info.takes_fax_for_white =
        decoder->samples == 1 && is_fax(tag16(decoder, TIFFTAG_COMPRESSION, COMPRESSION_NONE));
    decoder->photometric = decoder->samples >= 3                ? PHOTOMETRIC_RGB
                           : decoder->info.takes_fax_for_white ? PHOTOMETRIC_MINISWHITE
                                                                : PHOTOMETRIC_MINISBLACK;
}

/// Sets `colors` and what follows from the photometric interpretation.
static ic_status read_photometric(ic_tiff_decoder *decoder, ic_error *error) {
    uint16_t compression = tag16(decoder, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    if (!decoder->libtiff->TIFFIsCODECConfigured(compression)) {
        return ic_fail(error, IC_UNSUPPORTED, "TIFF compression %d is not supported", compression);
    }
    if (decoder->photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG && !decoder->is_separate) {
        decoder->libtiff->TIFFSetField(decoder->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        decoder->photometric = PHOTOMETRIC_RGB;
    }
    switch (decoder->photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
        decoder->colors = 1;
        return IC_OK;
    case PHOTOMETRIC_RGB:
        decoder->colors = 3;
        return IC_OK;
    case PHOTOMETRIC_PALETTE:
        decoder->colors = 1;
        if (read_palette(decoder)) return IC_OK;
        return ic_fail(error, IC_DAMAGED, "The TIFF has no palette for its colours");
    case PHOTOMETRIC_SEPARATED:
        decoder->colors = 4;
        if (tag16(decoder, TIFFTAG_INKSET, INKSET_CMYK) == INKSET_CMYK) return IC_OK;
        return ic_fail(error, IC_UNSUPPORTED, "TIFF with inks other than CMYK is not supported");
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
        // libtiff's own conversion takes 8 bits of 16 and leaves white yellow.
        decoder->colors = 3;
        decoder->is_lab = 1;
        // What a profile would say is said already; the rows are sRGB.
        decoder->info.icc = NULL;
        decoder->info.icc_size = 0;
        return IC_OK;
    case PHOTOMETRIC_ITULAB:
        return ic_fail(error, IC_UNSUPPORTED, "TIFF in ITU L*a*b* is not supported");
    default:
        decoder->uses_rgba_reader = 1;
        char reason[1024] = "";
        if (decoder->libtiff->TIFFRGBAImageOK(decoder->tiff, reason)) return IC_OK;
        return ic_fail(error, IC_UNSUPPORTED, "TIFF: %s", reason);
    }
}

static ic_status choose_layout(ic_tiff_decoder *decoder, ic_error *error) {
    uint16_t format = tag16(decoder, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    int bits = decoder->bits;
    if (decoder->is_lab) {
        // Signed or not, which is said for all channels or for none: the encoding is known.
        int is_known = (bits == 8 || bits == 16) && format != SAMPLEFORMAT_IEEEFP && decoder->alpha < 0;
        decoder->info.layout = bits == 16 ? IC_TIFF_RGBA16 : IC_TIFF_RGBX8;
        if (is_known && decoder->samples >= 3 && decoder->samples <= IC_TIFF_MAX_CHANNELS) return IC_OK;
        return ic_fail(
            error, IC_UNSUPPORTED, "TIFF in L*a*b* is supported with 8 or 16 bits and without alpha only");
    }
    decoder->is_float = format == SAMPLEFORMAT_IEEEFP;
    decoder->info.is_signed = format == SAMPLEFORMAT_INT && !decoder->palette[0];
    int is_whole = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID || decoder->info.is_signed;
    int is_known = decoder->is_float ? bits == 16 || bits == 32 || bits == 64 : (bits >= 1 && bits <= 16) || bits == 32;
    int is_possible = decoder->colors <= decoder->samples && decoder->samples <= IC_TIFF_MAX_CHANNELS;
    if ((is_whole || decoder->is_float) && is_known && is_possible) {
        if (decoder->photometric == PHOTOMETRIC_SEPARATED) {
            decoder->info.layout = IC_TIFF_CMYK8;
            decoder->alpha = -1;
            if (!decoder->is_float) return IC_OK;
        } else if (decoder->is_float) {
            decoder->info.layout = IC_TIFF_RGBAF32;
            if (!decoder->palette[0]) return IC_OK;
        } else {
            decoder->info.layout = bits > 8 ? IC_TIFF_RGBA16 : decoder->alpha >= 0 ? IC_TIFF_RGBA8 : IC_TIFF_RGBX8;
            return IC_OK;
        }
    }
    return ic_fail(
        error, IC_UNSUPPORTED, "TIFF with %d channels of %d bits (sample format %d) is not supported",
        decoder->samples, bits, format);
}

static ic_status measure_chunks(ic_tiff_decoder *decoder, ic_error *error) {
    const ic_tiff_table *libtiff = decoder->libtiff;
    uint32_t width = (uint32_t)decoder->info.width, height = (uint32_t)decoder->info.height;
    TIFF *tiff = decoder->tiff;
    tmsize_t bytes, row_bytes;
    if (decoder->is_tiled) {
        libtiff->TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &decoder->chunk_width);
        libtiff->TIFFGetField(tiff, TIFFTAG_TILELENGTH, &decoder->chunk_rows);
        bytes = libtiff->TIFFTileSize(tiff);
        row_bytes = libtiff->TIFFTileRowSize(tiff);
    } else {
        decoder->chunk_width = width;
        libtiff->TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &decoder->chunk_rows);
        if (decoder->chunk_rows > height) decoder->chunk_rows = height;
        bytes = libtiff->TIFFStripSize(tiff);
        row_bytes = libtiff->TIFFScanlineSize(tiff);
    }
    if (decoder->chunk_width == 0 || decoder->chunk_rows == 0 || bytes <= 0 || row_bytes <= 0) {
        return ic_fail(error, IC_DAMAGED, "The TIFF's strips or tiles have no size");
    }
    decoder->chunks_across = (width + decoder->chunk_width - 1) / decoder->chunk_width;
    decoder->chunk_bytes = (size_t)bytes;
    decoder->chunk_row_bytes = (size_t)row_bytes;
    int64_t across = (int64_t)decoder->chunks_across * decoder->chunk_width;
    int64_t planes = decoder->is_separate ? decoder->samples : 1;
    int64_t row_bits = (int64_t)decoder->chunk_width * (decoder->is_separate ? 1 : decoder->samples) * decoder->bits;
    int64_t band_bytes = 0, whole_rows = 0;
    if (__builtin_mul_overflow((int64_t)bytes, planes * decoder->chunks_across, &band_bytes) ||
        __builtin_mul_overflow((int64_t)row_bytes, (int64_t)decoder->chunk_rows, &whole_rows) ||
        __builtin_mul_overflow(across, (int64_t)decoder->chunk_rows, &decoder->info.pixels_held)) {
        return ic_fail(error, IC_LIMIT, "The TIFF's strips or tiles are too large");
    }
    // What the unpacking of rows relies on.
    if (whole_rows > bytes || (row_bits + 7) / 8 > row_bytes) {
        return ic_fail(error, IC_UNSUPPORTED, "The TIFF's samples are laid out in a way that is not supported");
    }
    // libtiff may hold one chunk of file data beside the band.
    decoder->info.bytes_held = band_bytes + bytes + (int64_t)across * decoder->samples * 4 + (1 << 20);
    if (decoder->is_lab) decoder->info.bytes_held += (int64_t)width * 12;
    return IC_OK;
}

static void find_metadata(ic_tiff_decoder *decoder) {
    const ic_tiff_table *libtiff = decoder->libtiff;
    uint32_t count = 0;
    const void *data = NULL;
    if (libtiff->TIFFGetField(decoder->tiff, TIFFTAG_ICCPROFILE, &count, &data) && data) {
        decoder->info.icc = data;
        decoder->info.icc_size = count;
    }
    if (libtiff->TIFFGetField(decoder->tiff, TIFFTAG_XMLPACKET, &count, &data) && data) {
        decoder->info.xmp = data;
        decoder->info.xmp_size = count;
    }
    if (libtiff->TIFFGetField(decoder->tiff, TIFFTAG_PHOTOSHOP, &count, &data) && data) {
        decoder->info.iptc = data;
        decoder->info.iptc_size = count;
    }
}

static ic_status read_directory(ic_tiff_decoder *decoder, ic_error *error) {
    const ic_tiff_table *libtiff = decoder->libtiff;
    TIFF *tiff = decoder->tiff;
    uint32_t width = 0, height = 0;
    decoder->info.pages = count_pages(decoder);
    libtiff->TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    libtiff->TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    if (width == 0 || height == 0) return ic_fail(error, IC_DAMAGED, "The TIFF has no picture size");
    if (width > INT32_MAX || height > INT32_MAX) return ic_fail(error, IC_LIMIT, "The TIFF is too large");
    decoder->info.width = (int32_t)width;
    decoder->info.height = (int32_t)height;
    decoder->bits = tag16(decoder, TIFFTAG_BITSPERSAMPLE, 1);
    decoder->samples = tag16(decoder, TIFFTAG_SAMPLESPERPIXEL, 1);
    read_kind(decoder);
    decoder->is_separate = tag16(decoder, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
    decoder->is_tiled = libtiff->TIFFIsTiled(tiff);
    decoder->info.orientation = tag16(decoder, TIFFTAG_ORIENTATION, 1);
    find_metadata(decoder);
    ic_status status = read_photometric(decoder, error);
    if (status != IC_OK) return status;
    if (decoder->uses_rgba_reader) {
        decoder->info.bits = 8;
        decoder->info.pixels_held = (int64_t)width * height;
        decoder->info.bytes_held = decoder->info.pixels_held * 8 + (1 << 20);
        return IC_OK;
    }
    read_extras(decoder);
    status = choose_layout(decoder, error);
    if (status != IC_OK) return status;
    decoder->info.bits = decoder->bits;
    decoder->info.is_gray = decoder->colors == 1 && !decoder->palette[0];
    decoder->info.has_alpha = decoder->alpha >= 0;
    decoder->info.extra_channels = decoder->samples - decoder->colors - (decoder->alpha >= 0);
    return measure_chunks(decoder, error);
}

ic_tiff_decoder *ic_tiff_decoder_open(const uint8_t *bytes, size_t size, ic_tiff_info *info, ic_error *error) {
    ic_tiff_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a TIFF decoder");
        return NULL;
    }
    decoder->bytes = bytes;
    decoder->size = size;
    decoder->band_index = -1;
    decoder->libtiff = ic_tiff(error);
    if (decoder->libtiff) decoder->tiff = open_client(decoder);
    ic_status status;
    if (!decoder->libtiff) {
        status = error->status;
    } else if (decoder->tiff) {
        status = read_directory(decoder, error);
    } else {
        int has_reason = decoder->last_error[0] != 0;
        status = ic_fail(error, IC_DAMAGED, "TIFF: %s", has_reason ? decoder->last_error : "it cannot be opened");
    }
    if (status != IC_OK) {
        ic_tiff_decoder_close(decoder);
        return NULL;
    }
    *info = decoder->info;
    return decoder;
}

void ic_tiff_decoder_close(ic_tiff_decoder *decoder) {
    if (!decoder) return;
    if (decoder->tiff) decoder->libtiff->TIFFClose(decoder->tiff);
    free(decoder->band);
    free(decoder->raster);
    free(decoder->samples_row);
    free(decoder->shown);
    ic_tiff_lab_close(decoder->lab);
    free(decoder);
}

const char *ic_tiff_decoder_damage(const ic_tiff_decoder *decoder, int32_t index) {
    return index < decoder->damage_count ? decoder->damage[index] : NULL;
}
