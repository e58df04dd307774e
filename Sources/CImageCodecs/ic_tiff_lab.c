#include <math.h>
#include <stdlib.h>

#include "ic_color_internal.h"
#include "ic_tiff_internal.h"

struct ic_tiff_lab {
    cmsContext context;
    cmsHTRANSFORM to_srgb;
    /// The file's white is another one than D50, to which X, Y, Z are brought.
    int is_adapted;
    cmsCIEXYZ white;
    double to_d50[3][3];
    /// L*, a*, b* of a row's pixels, or X, Y, Z where they are adapted; they become R, G, B.
    float *row;
};

/// The Bradford matrix from a white, x and y, to D50.
static void adapt(ic_tiff_lab *lab, const float *white) {
    const cmsCIExyY *d50 = cmsD50_xyY();
    double x = white[0], y = white[1];
    int is_white = x > 0.05 && x < 0.8 && y > 0.05 && y < 0.8;
    if (!is_white || (fabs(x - d50->x) < 0.001 && fabs(y - d50->y) < 0.001)) return;
    const cmsCIExyY chromaticity = {x, y, 1};
    cmsxyY2XYZ(&lab->white, &chromaticity);
    for (int c = 0; c < 3; c++) {
        cmsCIEXYZ axis = {c == 0, c == 1, c == 2}, column;
        if (!cmsAdaptToIlluminant(&column, &lab->white, cmsD50_XYZ(), &axis)) return;
        lab->to_d50[0][c] = column.X;
        lab->to_d50[1][c] = column.Y;
        lab->to_d50[2][c] = column.Z;
    }
    lab->is_adapted = 1;
}

ic_tiff_lab *ic_tiff_lab_open(int32_t width, const float *white) {
    ic_tiff_lab *lab = calloc(1, sizeof *lab);
    if (!lab) return NULL;
    lab->row = malloc((size_t)width * 3 * sizeof *lab->row);
    lab->context = ic_color_context();
    if (lab->row && lab->context) {
        const ic_color_space srgb = {.built_in = IC_COLOR_SRGB};
        if (white) adapt(lab, white);
        cmsHPROFILE from =
            lab->is_adapted ? cmsCreateXYZProfileTHR(lab->context) : cmsCreateLab4ProfileTHR(lab->context, NULL);
        cmsHPROFILE to = ic_color_open_profile(lab->context, &srgb);
        if (from && to) {
            lab->to_srgb = cmsCreateTransformTHR(
                lab->context, from, lab->is_adapted ? TYPE_XYZ_FLT : TYPE_Lab_FLT, to, TYPE_RGB_FLT, INTENT_RELATIVE_COLORIMETRIC,
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

static void adapt_pixel(const ic_tiff_lab *lab, float *pixel) {
    const cmsCIELab color = {pixel[0], pixel[1], pixel[2]};
    cmsCIEXYZ v;
    cmsLab2XYZ(&lab->white, &v, &color);
    for (int c = 0; c < 3; c++) {
        const double *m = lab->to_d50[c];
        pixel[c] = (float)(m[0] * v.X + m[1] * v.Y + m[2] * v.Z);
    }
}

static float scaled(float value, float most) { return value > 0 ? (value < 1 ? value * most + 0.5f : most) : 0; }

void ic_tiff_lab_convert(const ic_tiff_decoder *decoder, uint8_t *target) {
    const ic_tiff_lab *lab = decoder->lab;
    const uint16_t *source = decoder->samples_row;
    int is_wide = decoder->bits == 16;
    int is_icc = decoder->photometric == PHOTOMETRIC_ICCLAB;
    size_t width = (size_t)decoder->info.width;
    for (size_t x = 0; x < width; x++) {
        decode_pixel(source + x * decoder->samples, is_wide, is_icc, lab->row + x * 3);
        if (lab->is_adapted) adapt_pixel(lab, lab->row + x * 3);
    }
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
