#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "OpenedAtRunTime/ic_tiff_library.h"
#include "ic_internal.h"
#include "ic_pack.h"
#include "include/ic_tiff.h"

enum { STRIP_BYTES = 256 << 10, FIRST_BYTES = 256 << 10 };

struct ic_tiff_encoder {
    const ic_tiff_table *libtiff;
    TIFF *tiff;
    ic_tiff_settings settings;
    // The file.
    uint8_t *bytes;
    size_t room;
    size_t size;
    size_t position;
    int has_no_memory;
    // Rows that wait for their strip to be full.
    uint8_t *strip;
    size_t row_bytes;
    int32_t strip_rows;
    int32_t waiting;
    int32_t rows;
    char last_error[160];
};

static tmsize_t read_bytes(thandle_t handle, void *target, tmsize_t count) {
    ic_tiff_encoder *encoder = handle;
    size_t left = encoder->position < encoder->size ? encoder->size - encoder->position : 0;
    size_t taken = (size_t)count < left ? (size_t)count : left;
    memcpy(target, encoder->bytes + encoder->position, taken);
    encoder->position += taken;
    return (tmsize_t)taken;
}

static tmsize_t write_bytes(thandle_t handle, void *source, tmsize_t count) {
    ic_tiff_encoder *encoder = handle;
    size_t end = encoder->position + (size_t)count;
    if (end > encoder->room) {
        size_t room = encoder->room * 2 > end ? encoder->room * 2 : end + FIRST_BYTES;
        uint8_t *larger = realloc(encoder->bytes, room);
        if (!larger) {
            encoder->has_no_memory = 1;
            return 0;
        }
        encoder->bytes = larger;
        encoder->room = room;
    }
    // What is passed over by a seek is zero.
    if (encoder->position > encoder->size) memset(encoder->bytes + encoder->size, 0, encoder->position - encoder->size);
    memcpy(encoder->bytes + encoder->position, source, (size_t)count);
    encoder->position = end;
    if (end > encoder->size) encoder->size = end;
    return count;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    ic_tiff_encoder *encoder = handle;
    size_t base = whence == SEEK_CUR ? encoder->position : whence == SEEK_END ? encoder->size : 0;
    encoder->position = base + (size_t)offset;
    return encoder->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t file_size(thandle_t handle) { return ((ic_tiff_encoder *)handle)->size; }

__attribute__((format(printf, 4, 0))) static int keep_error(
    TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    (void)module;
    ic_tiff_encoder *encoder = user;
    vsnprintf(encoder->last_error, sizeof encoder->last_error, format, arguments);
    return 1;
}

/// About tags that others may not know; nobody is to be told.
__attribute__((format(printf, 4, 0))) static int ignore_warning(
    TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    (void)user;
    (void)module;
    (void)format;
    (void)arguments;
    return 1;
}

static ic_status fail(const ic_tiff_encoder *encoder, ic_error *error) {
    if (encoder->has_no_memory) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a TIFF file");
    return ic_fail(error, IC_ENCODE, "TIFF: %s", encoder->last_error[0] ? encoder->last_error : "it cannot be written");
}

static TIFF *open_client(ic_tiff_encoder *encoder) {
    const ic_tiff_table *libtiff = encoder->libtiff;
    TIFFOpenOptions *options = libtiff->TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    libtiff->TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, encoder);
    libtiff->TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, encoder);
    TIFF *tiff = libtiff->TIFFClientOpenExt(
        "picture", encoder->settings.is_big_endian ? "wb" : "wl", encoder, read_bytes, write_bytes, seek, close_nothing,
        file_size, NULL, NULL, options);
    libtiff->TIFFOpenOptionsFree(options);
    return tiff;
}

static int set_tags(ic_tiff_encoder *encoder) {
    const ic_tiff_table *libtiff = encoder->libtiff;
    const ic_tiff_settings *settings = &encoder->settings;
    TIFF *tiff = encoder->tiff;
    int channels = (settings->is_gray ? 1 : 3) + (settings->has_alpha ? 1 : 0);
    encoder->row_bytes = (size_t)settings->width * (size_t)channels * (size_t)(settings->bits / 8);
    size_t rows = STRIP_BYTES / encoder->row_bytes;
    encoder->strip_rows = rows < 1 ? 1 : rows > (size_t)settings->height ? settings->height : (int32_t)rows;
    int is_done = libtiff->TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)settings->width) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)settings->height) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, settings->bits) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) &&
                  libtiff->TIFFSetField(
                      tiff, TIFFTAG_PHOTOMETRIC, settings->is_gray ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t)encoder->strip_rows) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL) &&
                  libtiff->TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, settings->level);
    uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    if (settings->has_alpha) is_done = is_done && libtiff->TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    if (settings->icc_size) {
        uint32_t size = (uint32_t)settings->icc_size;
        is_done = is_done && libtiff->TIFFSetField(tiff, TIFFTAG_ICCPROFILE, size, settings->icc);
    }
    if (settings->xmp_size) {
        uint32_t size = (uint32_t)settings->xmp_size;
        is_done = is_done && libtiff->TIFFSetField(tiff, TIFFTAG_XMLPACKET, size, settings->xmp);
    }
    if (settings->photoshop_size) {
        uint32_t size = (uint32_t)settings->photoshop_size;
        is_done = is_done && libtiff->TIFFSetField(tiff, TIFFTAG_PHOTOSHOP, size, settings->photoshop);
    }
    // A baseline file says something: where nothing is known, that pixels are square.
    int is_known = settings->resolution_x > 0 && settings->resolution_y > 0;
    is_done = is_done && libtiff->TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, is_known ? RESUNIT_INCH : RESUNIT_NONE) &&
              libtiff->TIFFSetField(tiff, TIFFTAG_XRESOLUTION, is_known ? settings->resolution_x : 1.0) &&
              libtiff->TIFFSetField(tiff, TIFFTAG_YRESOLUTION, is_known ? settings->resolution_y : 1.0);
    if (settings->exif_start) {
        is_done = is_done && libtiff->TIFFSetField(tiff, TIFFTAG_EXIFIFD, (uint64_t)settings->exif_start);
    }
    if (settings->gps_start) {
        is_done = is_done && libtiff->TIFFSetField(tiff, TIFFTAG_GPSIFD, (uint64_t)settings->gps_start);
    }
    return is_done;
}

ic_tiff_encoder *ic_tiff_encoder_open(const ic_tiff_settings *settings, ic_error *error) {
    ic_tiff_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a TIFF encoder");
        return NULL;
    }
    encoder->settings = *settings;
    encoder->libtiff = ic_tiff(error);
    if (!encoder->libtiff) {
        ic_tiff_encoder_close(encoder);
        return NULL;
    }
    encoder->tiff = open_client(encoder);
    if (!encoder->tiff || !set_tags(encoder)) {
        fail(encoder, error);
        ic_tiff_encoder_close(encoder);
        return NULL;
    }
    // The header stands; strips are put at the end.
    seek(encoder, 0, SEEK_END);
    int has_room = write_bytes(encoder, (void *)(uintptr_t)settings->directories, (tmsize_t)settings->directories_size) ==
                   (tmsize_t)settings->directories_size;
    encoder->strip = has_room ? malloc(encoder->row_bytes * (size_t)encoder->strip_rows) : NULL;
    if (encoder->strip) return encoder;
    ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a TIFF encoder");
    ic_tiff_encoder_close(encoder);
    return NULL;
}

void ic_tiff_encoder_close(ic_tiff_encoder *encoder) {
    if (!encoder) return;
    if (encoder->tiff) encoder->libtiff->TIFFClose(encoder->tiff);
    free(encoder->bytes);
    free(encoder->strip);
    free(encoder);
}

void ic_tiff_encoder_text(ic_tiff_encoder *encoder, uint32_t tag, const char *value) {
    encoder->libtiff->TIFFSetField(encoder->tiff, tag, value);
}

void ic_tiff_encoder_values(
    ic_tiff_encoder *encoder, uint32_t tag, int32_t type, const void *values, uint32_t count) {
    static char name[] = "Other";
    // The library has no such tags of its own, and sets none that it does not know.
    const TIFFFieldInfo field = {
        tag, TIFF_VARIABLE2, TIFF_VARIABLE2, (TIFFDataType)type, FIELD_CUSTOM, 1, 1, name};
    if (count == 0 || encoder->libtiff->TIFFMergeFieldInfo(encoder->tiff, &field, 1)) return;
    encoder->libtiff->TIFFSetField(encoder->tiff, tag, count, values);
}

static ic_status write_strip(ic_tiff_encoder *encoder, ic_error *error) {
    if (encoder->waiting == 0) return IC_OK;
    uint32_t index = (uint32_t)((encoder->rows - encoder->waiting) / encoder->strip_rows);
    tmsize_t size = (tmsize_t)(encoder->row_bytes * (size_t)encoder->waiting);
    encoder->waiting = 0;
    tmsize_t written = encoder->libtiff->TIFFWriteEncodedStrip(encoder->tiff, index, encoder->strip, size);
    return written == size ? IC_OK : fail(encoder, error);
}

ic_status ic_tiff_encoder_write(
    ic_tiff_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error) {
    if (count > encoder->settings.height - encoder->rows) {
        return ic_fail(error, IC_ENCODE, "More rows were given than the picture has");
    }
    for (int32_t y = 0; y < count; y++, rows += stride_bytes) {
        const ic_tiff_settings *settings = &encoder->settings;
        uint8_t *target = encoder->strip + encoder->row_bytes * (size_t)encoder->waiting;
        size_t bytes = (size_t)settings->bits / 8, width = (size_t)settings->width;
        ic_pack_row(rows, bytes, settings->is_gray, settings->has_alpha, width, target);
        encoder->waiting++;
        encoder->rows++;
        if (encoder->waiting == encoder->strip_rows && write_strip(encoder, error) != IC_OK) return error->status;
    }
    return IC_OK;
}

ic_status ic_tiff_encoder_finish(ic_tiff_encoder *encoder, const uint8_t **bytes, size_t *size, ic_error *error) {
    if (encoder->rows != encoder->settings.height) {
        return ic_fail(error, IC_ENCODE, "Fewer rows were given than the picture has");
    }
    if (write_strip(encoder, error) != IC_OK) return error->status;
    if (!encoder->libtiff->TIFFWriteDirectory(encoder->tiff)) return fail(encoder, error);
    encoder->libtiff->TIFFClose(encoder->tiff);
    encoder->tiff = NULL;
    if (encoder->has_no_memory) return fail(encoder, error);
    *bytes = encoder->bytes;
    *size = encoder->size;
    return IC_OK;
}
