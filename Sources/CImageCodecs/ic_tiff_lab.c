#include <stdlib.h>

#include "ic_color_internal.h"
#include "ic_tiff_internal.h"

struct ic_tiff_lab {
    cmsContext context;
    cmsHTRANSFORM to_srgb;
    /// L*, a*, b* of a row's pixels, which become R, G, B.
    float *row;
};

ic_tiff_lab *ic_tiff_lab_open(int32_t width) {
    ic_tiff_lab *lab = calloc(1, sizeof *lab);
    if (!lab) return NULL;
    lab->row = malloc((size_t)width * 3 * sizeof *lab->row);
    lab->context = ic_color_context();
    if (lab->row && lab->context) {
        const ic_color_space srgb = {.built_in = IC_COLOR_SRGB};
        // White is that of D50, as Photoshop has it; TIFF 6.0 leaves it to the file.
        cmsHPROFILE from = cmsCreateLab4ProfileTHR(lab->context, NULL);
        cmsHPROFILE to = ic_color_open_profile(lab->context, &srgb);
        if (from && to) {
            lab->to_srgb = cmsCreateTransformTHR(
                lab->context, from, TYPE_Lab_FLT, to, TYPE_RGB_FLT, INTENT_RELATIVE_COLORIMETRIC,
                cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
        }
        if (from) cmsCloseProfile(from);
        if (to) cmsCloseProfile(to);
    }
    if (lab->to_srgb) return lab;
    ic_tiff_lab_close(lab);
    return NULL;
}

void ic_tiff_lab_close(ic_tiff_lab *lab) {
    if (!lab) return;
    if (lab->to_srgb) cmsDeleteTransform(lab->to_srgb);
    if (lab->context) cmsDeleteContext(lab->context);
    free(lab->row);
    free(lab);
}

/// As Adobe's TIFF Technical Notes of March 2002 have it. CIELab has a* and b* as signed numbers, ICCLab with 128 added;
/// in 16 bits they have 8 behind the point, and ICCLab's L* of 100 is 0xFF00.
static void decode_pixel(const uint16_t *source, int is_wide, int is_icc, float *target) {
    float most = !is_wide ? 255 : is_icc ? 65280 : 65535;
    target[0] = (float)source[0] * 100 / most;
    for (int c = 1; c < 3; c++) {
        float value = is_wide ? (float)source[c] / 256 : (float)source[c];
        target[c] = is_icc ? value - 128 : value < 128 ? value : value - 256;
    }
}

static float scaled(float value, float most) { return value > 0 ? (value < 1 ? value * most + 0.5f : most) : 0; }

void ic_tiff_lab_convert(const ic_tiff_decoder *decoder, uint8_t *target) {
    const ic_tiff_lab *lab = decoder->lab;
    const uint16_t *source = decoder->samples_row;
    int is_wide = decoder->bits == 16;
    int is_icc = decoder->photometric == PHOTOMETRIC_ICCLAB;
    size_t width = (size_t)decoder->info.width;
    for (size_t x = 0; x < width; x++) decode_pixel(source + x * decoder->samples, is_wide, is_icc, lab->row + x * 3);
    cmsDoTransform(lab->to_srgb, lab->row, lab->row, (cmsUInt32Number)width);
    uint16_t *wide = (uint16_t *)(void *)target;
    for (size_t x = 0; x < width; x++) {
        for (size_t c = 0; c < 4; c++) {
            float value = c < 3 ? lab->row[x * 3 + c] : 1;
            if (is_wide) {
                wide[x * 4 + c] = (uint16_t)scaled(value, 65535);
            } else {
                target[x * 4 + c] = (uint8_t)scaled(value, 255);
            }
        }
    }
}
