#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "ic_internal.h"
#include "ic_jpeg_internal.h"

enum { ROWS_PER_CALL = 64 };

struct ic_jpeg_encoder {
    struct jpeg_compress_struct cinfo;
    ic_jpeg_errors errors;
    struct jpeg_destination_mgr destination;
    uint8_t *buffer;
    size_t capacity;
    size_t size;
    struct jpeg_progress_mgr progress;
    ic_pulse pulse;
};

static void begin_output(j_compress_ptr cinfo) {
    ic_jpeg_encoder *encoder = cinfo->client_data;
    cinfo->dest->next_output_byte = encoder->buffer;
    cinfo->dest->free_in_buffer = encoder->capacity;
}

static boolean grow_output(j_compress_ptr cinfo) {
    ic_jpeg_encoder *encoder = cinfo->client_data;
    size_t used = encoder->capacity;
    uint8_t *larger = realloc(encoder->buffer, used * 2);
    if (!larger) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
    encoder->buffer = larger;
    encoder->capacity = used * 2;
    cinfo->dest->next_output_byte = larger + used;
    cinfo->dest->free_in_buffer = used;
    return TRUE;
}

static void end_output(j_compress_ptr cinfo) {
    ic_jpeg_encoder *encoder = cinfo->client_data;
    encoder->size = encoder->capacity - cinfo->dest->free_in_buffer;
}

static void watch_passes(j_common_ptr common) {
    ic_jpeg_encoder *encoder = common->client_data;
    const struct jpeg_compress_struct *cinfo = &encoder->cinfo;
    // After the last row come the passes over all of them.
    int is_between = cinfo->next_scanline < cinfo->image_height && cinfo->next_scanline % IC_JPEG_ROWS_BETWEEN_PULSES != 0;
    if (is_between || ic_may_go_on(&encoder->pulse)) return;
    encoder->errors.is_stopped = 1;
    common->err->error_exit(common);
}

static void apply(struct jpeg_compress_struct *cinfo, const ic_jpeg_settings *settings) {
    cinfo->image_width = (JDIMENSION)settings->width;
    cinfo->image_height = (JDIMENSION)settings->height;
    cinfo->input_components = 4;
    cinfo->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(cinfo);
    jpeg_set_colorspace(cinfo, settings->is_gray ? JCS_GRAYSCALE : JCS_YCbCr);
    jpeg_set_quality(cinfo, settings->quality, TRUE);
    cinfo->dct_method = JDCT_ISLOW;
    cinfo->optimize_coding = settings->optimize;
    cinfo->write_JFIF_header = !settings->omit_jfif;
    if (settings->resolution_x && settings->resolution_y) {
        cinfo->density_unit = 1;
        cinfo->X_density = (UINT16)settings->resolution_x;
        cinfo->Y_density = (UINT16)settings->resolution_y;
    }
    if (settings->full_chroma) {
        cinfo->comp_info[0].h_samp_factor = 1;
        cinfo->comp_info[0].v_samp_factor = 1;
    }
    if (settings->progressive) jpeg_simple_progression(cinfo);
}

ic_jpeg_encoder *ic_jpeg_encoder_open(const ic_jpeg_settings *settings, size_t reserve_bytes, ic_error *error) {
    ic_jpeg_encoder *encoder = calloc(1, sizeof *encoder);
    uint8_t *buffer = malloc(reserve_bytes);
    if (!encoder || !buffer) {
        free(encoder);
        free(buffer);
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG encoder");
        return NULL;
    }
    encoder->buffer = buffer;
    encoder->capacity = reserve_bytes;
    struct jpeg_compress_struct *cinfo = &encoder->cinfo;
    ic_jpeg_errors_install(&encoder->errors);
    cinfo->err = &encoder->errors.base;
    if (setjmp(encoder->errors.escape)) {
        ic_jpeg_errors_report((j_common_ptr)cinfo, IC_ENCODE, error);
        ic_jpeg_encoder_close(encoder);
        return NULL;
    }
    jpeg_create_compress(cinfo);
    cinfo->client_data = encoder;
    encoder->destination.init_destination = begin_output;
    encoder->destination.empty_output_buffer = grow_output;
    encoder->destination.term_destination = end_output;
    cinfo->dest = &encoder->destination;
    encoder->progress.progress_monitor = watch_passes;
    cinfo->progress = &encoder->progress;
    apply(cinfo, settings);
    jpeg_start_compress(cinfo, TRUE);
    return encoder;
}

void ic_jpeg_encoder_set_pulse(ic_jpeg_encoder *encoder, ic_pulse pulse) { encoder->pulse = pulse; }

void ic_jpeg_encoder_close(ic_jpeg_encoder *encoder) {
    if (!encoder) return;
    jpeg_destroy_compress(&encoder->cinfo);
    free(encoder->buffer);
    free(encoder);
}

ic_status ic_jpeg_encoder_marker(
    ic_jpeg_encoder *encoder, int32_t code, const uint8_t *prefix, size_t prefix_size, const uint8_t *payload,
    size_t payload_size, ic_error *error) {
    struct jpeg_compress_struct *cinfo = &encoder->cinfo;
    if (prefix_size + payload_size > 65533) {
        return ic_fail(error, IC_ENCODE, "Metadata of %zu bytes is too large for a JPEG segment", payload_size);
    }
    if (setjmp(encoder->errors.escape)) {
        return ic_jpeg_errors_report((j_common_ptr)cinfo, IC_ENCODE, error);
    }
    jpeg_write_m_header(cinfo, code, (unsigned)(prefix_size + payload_size));
    for (size_t i = 0; i < prefix_size; i++) jpeg_write_m_byte(cinfo, prefix[i]);
    for (size_t i = 0; i < payload_size; i++) jpeg_write_m_byte(cinfo, payload[i]);
    return IC_OK;
}

ic_status ic_jpeg_encoder_icc(ic_jpeg_encoder *encoder, const uint8_t *icc, size_t size, ic_error *error) {
    struct jpeg_compress_struct *cinfo = &encoder->cinfo;
    // 255 segments of 65519 bytes each.
    if (size == 0 || size > 255 * (size_t)65519) {
        return ic_fail(error, IC_ENCODE, "A colour profile of %zu bytes does not fit into a JPEG", size);
    }
    if (setjmp(encoder->errors.escape)) {
        return ic_jpeg_errors_report((j_common_ptr)cinfo, IC_ENCODE, error);
    }
    jpeg_write_icc_profile(cinfo, icc, (unsigned)size);
    return IC_OK;
}

ic_status ic_jpeg_encoder_write(
    ic_jpeg_encoder *encoder, const uint8_t *rows, size_t stride_bytes, int32_t count, ic_error *error) {
    struct jpeg_compress_struct *cinfo = &encoder->cinfo;
    if (setjmp(encoder->errors.escape)) {
        return ic_jpeg_errors_report((j_common_ptr)cinfo, IC_ENCODE, error);
    }
    uint32_t left = cinfo->image_height - cinfo->next_scanline;
    if ((uint32_t)count > left) return ic_fail(error, IC_ENCODE, "More rows were given than the picture has");
    uint32_t done = 0;
    while (done < (uint32_t)count) {
        JSAMPROW pointers[ROWS_PER_CALL];
        uint32_t batch = (uint32_t)count - done < ROWS_PER_CALL ? (uint32_t)count - done : ROWS_PER_CALL;
        // libjpeg only reads them; its row type has no const.
        for (uint32_t i = 0; i < batch; i++) pointers[i] = (JSAMPROW)(uintptr_t)(rows + (size_t)(done + i) * stride_bytes);
        done += jpeg_write_scanlines(cinfo, pointers, batch);
    }
    return IC_OK;
}

ic_status ic_jpeg_encoder_finish(ic_jpeg_encoder *encoder, const uint8_t **bytes, size_t *size, ic_error *error) {
    struct jpeg_compress_struct *cinfo = &encoder->cinfo;
    if (setjmp(encoder->errors.escape)) {
        return ic_jpeg_errors_report((j_common_ptr)cinfo, IC_ENCODE, error);
    }
    jpeg_finish_compress(cinfo);
    *bytes = encoder->buffer;
    *size = encoder->size;
    return IC_OK;
}

size_t ic_jpeg_encoder_position(const ic_jpeg_encoder *encoder) {
    return encoder->capacity - encoder->cinfo.dest->free_in_buffer;
}

ic_status ic_jpeg_encoder_attach(
    ic_jpeg_encoder *encoder, const uint8_t *file, size_t file_size, size_t patch_start, const uint8_t *patch,
    size_t patch_size, const uint8_t **bytes, size_t *size, ic_error *error) {
    if (encoder->capacity - encoder->size < file_size) {
        uint8_t *larger = realloc(encoder->buffer, encoder->size + file_size);
        if (!larger) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a picture behind a JPEG");
        encoder->buffer = larger;
        encoder->capacity = encoder->size + file_size;
    }
    memcpy(encoder->buffer + encoder->size, file, file_size);
    memcpy(encoder->buffer + patch_start, patch, patch_size);
    encoder->size += file_size;
    *bytes = encoder->buffer;
    *size = encoder->size;
    return IC_OK;
}
