#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "ic_internal.h"
#include "ic_jpeg_internal.h"

enum { ROWS_PER_CALL = 64 };

static void watch_scans(j_common_ptr common) {
    ic_jpeg_decoder *decoder = common->client_data;
    if (decoder->cinfo.output_scanline % IC_JPEG_ROWS_BETWEEN_PULSES == 0 && !ic_may_go_on(&decoder->pulse)) {
        decoder->errors.is_stopped = 1;
        common->err->error_exit(common);
    }
    if (decoder->cinfo.input_scan_number > decoder->max_scans) {
        decoder->errors.limit_reason = "The JPEG has more scans than the limit allows";
        common->err->error_exit(common);
    }
}

static void fill_info(struct jpeg_decompress_struct *cinfo, ic_jpeg_info *info) {
    info->width = (int32_t)cinfo->image_width;
    info->height = (int32_t)cinfo->image_height;
    info->components = cinfo->num_components;
    info->is_cmyk = cinfo->jpeg_color_space == JCS_CMYK || cinfo->jpeg_color_space == JCS_YCCK;
    info->is_progressive = cinfo->progressive_mode;
    info->has_multiple_scans = jpeg_has_multiple_scans(cinfo);
    info->max_sampling_width = cinfo->max_h_samp_factor;
    info->max_sampling_height = cinfo->max_v_samp_factor;
    // JFIF 1.02: a unit of 1 is dots an inch, of 2 dots a centimetre.
    double units = !cinfo->saw_JFIF_marker ? 0 : cinfo->density_unit == 1 ? 1 : cinfo->density_unit == 2 ? 2.54 : 0;
    info->resolution_x = cinfo->X_density * units;
    info->resolution_y = cinfo->Y_density * units;
    info->coefficient_bytes = 0;
    for (int i = 0; i < cinfo->num_components; i++) {
        const jpeg_component_info *component = &cinfo->comp_info[i];
        // Arrays are rounded up to whole interleaved units.
        int64_t columns = component->width_in_blocks + component->h_samp_factor;
        int64_t rows = component->height_in_blocks + component->v_samp_factor;
        info->coefficient_bytes += columns * rows * DCTSIZE2 * (int64_t)sizeof(JCOEF);
    }
}

ic_jpeg_decoder *ic_jpeg_decoder_open(
    const uint8_t *bytes, size_t size, int32_t max_scans, ic_jpeg_info *info, ic_error *error) {
    ic_jpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a JPEG decoder");
        return NULL;
    }
    struct jpeg_decompress_struct *cinfo = &decoder->cinfo;
    ic_jpeg_errors_install(&decoder->errors);
    cinfo->err = &decoder->errors.base;
    if (setjmp(decoder->errors.escape)) {
        ic_jpeg_errors_report((j_common_ptr)cinfo, IC_DAMAGED, error);
        ic_jpeg_decoder_close(decoder);
        return NULL;
    }
    jpeg_create_decompress(cinfo);
    // Set here, because creating clears what is not the error manager or the client's data.
    cinfo->client_data = decoder;
    decoder->max_scans = max_scans;
    decoder->progress.progress_monitor = watch_scans;
    cinfo->progress = &decoder->progress;
    jpeg_mem_src(cinfo, bytes, size);
    static const int kept[] = {JPEG_APP0 + 1, JPEG_APP0 + 2, JPEG_APP0 + 13, JPEG_COM};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) jpeg_save_markers(cinfo, kept[i], 0xFFFF);
    jpeg_read_header(cinfo, TRUE);
    if (cinfo->jpeg_color_space == JCS_UNKNOWN) {
        ic_fail(error, IC_UNSUPPORTED, "JPEG with %d colour components is not supported", cinfo->num_components);
        ic_jpeg_decoder_close(decoder);
        return NULL;
    }
    fill_info(cinfo, info);
    decoder->inverts_cmyk = info->is_cmyk && cinfo->saw_Adobe_marker;
    return decoder;
}

void ic_jpeg_decoder_set_pulse(ic_jpeg_decoder *decoder, ic_pulse pulse) { decoder->pulse = pulse; }

void ic_jpeg_decoder_close(ic_jpeg_decoder *decoder) {
    if (!decoder) return;
    ic_jpeg_decoder_unfollow(decoder);
    jpeg_destroy_decompress(&decoder->cinfo);
    free(decoder);
}

int ic_jpeg_decoder_marker(
    const ic_jpeg_decoder *decoder, int32_t index, int32_t *code, const uint8_t **payload, size_t *size) {
    jpeg_saved_marker_ptr marker = decoder->cinfo.marker_list;
    for (; marker && index > 0; index--) marker = marker->next;
    if (!marker) return 0;
    *code = marker->marker;
    *payload = marker->data;
    *size = marker->data_length;
    return 1;
}

uint8_t *ic_jpeg_decoder_copy_icc(ic_jpeg_decoder *decoder, size_t *size) {
    JOCTET *icc = NULL;
    unsigned int length = 0;
    if (setjmp(decoder->errors.escape)) return NULL;
    if (!jpeg_read_icc_profile(&decoder->cinfo, &icc, &length)) return NULL;
    *size = length;
    return icc;
}

ic_status ic_jpeg_decoder_start(
    ic_jpeg_decoder *decoder, int32_t scale_eighths, int32_t *width, int32_t *height, ic_error *error) {
    struct jpeg_decompress_struct *cinfo = &decoder->cinfo;
    if (setjmp(decoder->errors.escape)) {
        return ic_jpeg_errors_report((j_common_ptr)cinfo, IC_DAMAGED, error);
    }
    int is_cmyk = cinfo->jpeg_color_space == JCS_CMYK || cinfo->jpeg_color_space == JCS_YCCK;
    cinfo->out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBX;
    cinfo->scale_num = (unsigned)scale_eighths;
    cinfo->scale_denom = 8;
    cinfo->dct_method = JDCT_ISLOW;
    if (!jpeg_start_decompress(cinfo)) return ic_fail(error, IC_DAMAGED, "The JPEG ends before its picture");
    *width = (int32_t)cinfo->output_width;
    *height = (int32_t)cinfo->output_height;
    return IC_OK;
}

static void invert(uint8_t *row, size_t count) {
    for (size_t i = 0; i < count; i++) row[i] = (uint8_t)(255 - row[i]);
}

ic_status ic_jpeg_decoder_read(
    ic_jpeg_decoder *decoder, uint8_t *rows, size_t stride_bytes, int32_t count, int32_t *rows_read, ic_error *error) {
    struct jpeg_decompress_struct *cinfo = &decoder->cinfo;
    *rows_read = 0;
    if (decoder->is_finished) return IC_OK;
    if (setjmp(decoder->errors.escape)) {
        if (!decoder->is_finished || decoder->errors.is_stopped) return ic_jpeg_errors_report((j_common_ptr)cinfo, IC_DAMAGED, error);
        // Every row is there; what follows them is not sound.
        ic_jpeg_errors_keep_damage((j_common_ptr)cinfo);
        return IC_OK;
    }
    uint32_t first = cinfo->output_scanline;
    uint32_t left = cinfo->output_height - first;
    uint32_t wanted = (uint32_t)count < left ? (uint32_t)count : left;
    uint32_t done = 0;
    while (done < wanted) {
        JSAMPROW pointers[ROWS_PER_CALL];
        uint32_t batch = wanted - done < ROWS_PER_CALL ? wanted - done : ROWS_PER_CALL;
        for (uint32_t i = 0; i < batch; i++) pointers[i] = rows + (size_t)(done + i) * stride_bytes;
        uint32_t got = jpeg_read_scanlines(cinfo, pointers, batch);
        // A follower waits where its leader has not come so far.
        if (got == 0 && decoder->following.decoder && !decoder->following.decoder->is_finished) break;
        if (got == 0) return ic_fail(error, IC_DAMAGED, "The JPEG ends before its last row");
        if (decoder->inverts_cmyk) {
            for (uint32_t i = 0; i < got; i++) invert(pointers[i], (size_t)cinfo->output_width * 4);
        }
        done += got;
    }
    *rows_read = (int32_t)done;
    if (cinfo->output_scanline == cinfo->output_height) {
        decoder->is_finished = 1;
        if (decoder->following.decoder) return IC_OK;
        // Reads on to the end marker, so that a file cut just before it is noticed.
        jpeg_finish_decompress(cinfo);
    }
    return IC_OK;
}

const char *ic_jpeg_decoder_damage(const ic_jpeg_decoder *decoder, int32_t index) {
    return index < decoder->errors.damage_count ? decoder->errors.damage[index] : NULL;
}
