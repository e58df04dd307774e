#include "JPEGVariants.h"

#include <stdio.h>

#include <jpeglib.h>

static void choose_colors(struct jpeg_compress_struct *cinfo, const jpeg_variant *variant) {
    J_COLOR_SPACE spaces[] = {JCS_UNKNOWN, JCS_GRAYSCALE, JCS_UNKNOWN, JCS_RGB, JCS_CMYK};
    cinfo->input_components = variant->components;
    cinfo->in_color_space = spaces[variant->components];
    jpeg_set_defaults(cinfo);
    if (variant->stores_ycck) jpeg_set_colorspace(cinfo, JCS_YCCK);
    if (variant->stores_rgb) {
        jpeg_set_colorspace(cinfo, JCS_RGB);
        // Adobe's own files say so in their marker, with transform 0.
        cinfo->write_Adobe_marker = TRUE;
    }
    jpeg_set_quality(cinfo, 95, TRUE);
    for (int i = 0; i < cinfo->num_components; i++) {
        int is_full = i == 0 || i == 3 || variant->stores_rgb;
        cinfo->comp_info[i].h_samp_factor = is_full ? variant->luma_width : 1;
        cinfo->comp_info[i].v_samp_factor = is_full ? variant->luma_height : 1;
    }
}

uint8_t *jpeg_variant_encode(const jpeg_variant *variant, const uint8_t *rows, size_t *size) {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    unsigned char *file = NULL;
    unsigned long length = 0;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &file, &length);
    cinfo.image_width = (JDIMENSION)variant->width;
    cinfo.image_height = (JDIMENSION)variant->height;
    choose_colors(&cinfo, variant);
    cinfo.arith_code = variant->is_arithmetic;
    cinfo.restart_in_rows = variant->restart_rows;
    if (variant->is_progressive) jpeg_simple_progression(&cinfo);
    jpeg_scan_info scans[4];
    if (variant->has_separate_scans) {
        for (int i = 0; i < cinfo.num_components; i++) {
            scans[i] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Ss = 0, .Se = 63};
        }
        cinfo.scan_info = scans;
        cinfo.num_scans = cinfo.num_components;
    }
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < cinfo.image_height) {
        size_t offset = (size_t)cinfo.next_scanline * (size_t)variant->width * (size_t)variant->components;
        JSAMPROW row = (JSAMPROW)(uintptr_t)(rows + offset);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    *size = length;
    return file;
}
