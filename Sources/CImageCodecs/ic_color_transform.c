#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ic_color_internal.h"
#include "ic_internal.h"

struct ic_color_transform {
    cmsContext context;
    cmsHTRANSFORM transform;
    int sets_fourth_byte;
    /// R, G and B come from one sample, and differ by what is rounded on the way through XYZ.
    int is_gray;
    ic_color_layout layout;
    /// What each code of 8-bit gray becomes.
    uint8_t *gray_codes;
};

/// Pixels of four samples, of which the profile's channels are converted and the rest left as they are.
static cmsUInt32Number format(ic_color_layout layout, cmsUInt32Number kind, cmsUInt32Number channels) {
    cmsUInt32Number base = COLORSPACE_SH(kind) | CHANNELS_SH(channels) | EXTRA_SH(4 - channels);
    switch (layout) {
    case IC_COLOR_RGBA16:
        return base | BYTES_SH(2);
    case IC_COLOR_RGBAF32:
        return base | BYTES_SH(4) | FLOAT_SH(1);
    default:
        return base | BYTES_SH(1);
    }
}

/// A transform is slow without a grid, and has 256 codes to convert.
static int list_gray_codes(ic_color_transform *transform) {
    uint8_t pixels[256 * 4] = {0};
    for (int code = 0; code < 256; code++) pixels[code * 4] = (uint8_t)code;
    cmsDoTransform(transform->transform, pixels, pixels, 256);
    transform->gray_codes = malloc(256);
    if (!transform->gray_codes) return 0;
    for (int code = 0; code < 256; code++) transform->gray_codes[code] = pixels[code * 4 + 1];
    return 1;
}

/// Whether white and black by a profile can be those of a picture: what is not a number, white without light, or of a colour
/// far from any white, is no profile's that was made from a device.
static int is_possible(cmsContext context, cmsHPROFILE source, cmsColorSpaceSignature kind) {
    const cmsUInt32Number input = kind == cmsSigCmykData   ? TYPE_CMYK_DBL
                                  : kind == cmsSigGrayData ? TYPE_GRAY_DBL
                                                           : TYPE_RGB_DBL;
    const double lightest = kind == cmsSigCmykData ? 0 : 1, darkest = kind == cmsSigCmykData ? 100 : 0;
    const double corners[2][4] = {{lightest, lightest, lightest, lightest}, {darkest, darkest, darkest, darkest}};
    cmsCIEXYZ light[2];
    cmsHPROFILE xyz = cmsCreateXYZProfileTHR(context);
    cmsHTRANSFORM transform = xyz ? cmsCreateTransformTHR(
                                        context, source, input, xyz, TYPE_XYZ_DBL, INTENT_RELATIVE_COLORIMETRIC,
                                        cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE)
                                  : NULL;
    for (int i = 0; i < 2 && transform; i++) cmsDoTransform(transform, corners[i], &light[i], 1);
    if (xyz) cmsCloseProfile(xyz);
    if (!transform) return 0;
    cmsDeleteTransform(transform);
    const cmsCIEXYZ *white = &light[0], *black = &light[1];
    // Each is false for what is not a number.
    int has_light = fabs(white->Y - black->Y) > 0.02 && white->Y > -1 && white->Y < 10 && black->Y < 10;
    double most = fmax(white->Y, black->Y);
    return has_light && fabs(white->X) < 4 * most && fabs(white->Z) < 4 * most;
}

static ic_status connect(
    ic_color_transform *transform, cmsHPROFILE source, cmsHPROFILE target, ic_color_layout layout, ic_error *error) {
    cmsColorSpaceSignature kind = cmsGetColorSpace(source);
    cmsUInt32Number input;
    if (layout == IC_COLOR_CMYK8) {
        if (kind != cmsSigCmykData) return ic_fail(error, IC_UNSUPPORTED, "The colour profile is not for CMYK");
        input = format(layout, PT_CMYK, 4);
    } else if (kind == cmsSigRgbData) {
        input = format(layout, PT_RGB, 3);
    } else if (kind == cmsSigGrayData) {
        input = format(layout, PT_GRAY, 1);
    } else {
        return ic_fail(error, IC_UNSUPPORTED, "The colour profile is neither for RGB nor for gray");
    }
    if (!is_possible(transform->context, source, kind)) {
        return ic_fail(error, IC_UNSUPPORTED, "The colour profile has no white that can be");
    }
    if (cmsGetColorSpace(target) != cmsSigRgbData) {
        return ic_fail(error, IC_UNSUPPORTED, "The colour profile to convert to is not for RGB");
    }
    cmsUInt32Number flags = cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE;
    transform->layout = layout;
    transform->is_gray = kind == cmsSigGrayData;
    // Beyond 8 bits a precalculated grid would be the largest error of the whole export, and for gray one is coarse.
    if (layout == IC_COLOR_RGBA16 || transform->is_gray) flags |= cmsFLAGS_NOOPTIMIZE;
    transform->sets_fourth_byte = layout == IC_COLOR_CMYK8;
    transform->transform = cmsCreateTransformTHR(
        transform->context, source, input, target, format(layout, PT_RGB, 3), INTENT_RELATIVE_COLORIMETRIC, flags);
    if (!transform->transform) return ic_fail(error, IC_UNSUPPORTED, "The colour profile cannot be used");
    if (transform->is_gray && layout == IC_COLOR_RGBX8 && !list_gray_codes(transform)) {
        return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a colour transform");
    }
    return IC_OK;
}

ic_color_transform *ic_color_transform_open(
    const ic_color_space *source, const ic_color_space *target, ic_color_layout layout, ic_error *error) {
    ic_color_transform *transform = calloc(1, sizeof *transform);
    if (transform) transform->context = ic_color_context();
    if (!transform || !transform->context) {
        free(transform);
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a colour transform");
        return NULL;
    }
    cmsHPROFILE from = ic_color_open_profile(transform->context, source);
    cmsHPROFILE to = ic_color_open_profile(transform->context, target);
    ic_status status = from && to ? connect(transform, from, to, layout, error)
                                  : ic_fail(error, IC_UNSUPPORTED, "The colour profile cannot be read");
    if (from) cmsCloseProfile(from);
    if (to) cmsCloseProfile(to);
    if (status == IC_OK) return transform;
    ic_color_transform_close(transform);
    return NULL;
}

void ic_color_transform_close(ic_color_transform *transform) {
    if (!transform) return;
    if (transform->transform) cmsDeleteTransform(transform->transform);
    cmsDeleteContext(transform->context);
    free(transform->gray_codes);
    free(transform);
}

static void fill_fourth(uint8_t *row, int32_t width) {
    for (int32_t x = 0; x < width; x++) row[x * 4 + 3] = 255;
}

static void look_up_gray(const uint8_t *codes, uint8_t *row, int32_t width) {
    for (int32_t x = 0; x < width; x++, row += 4) memset(row, codes[row[0]], 3);
}

/// Green's value is as near to the exact one as any.
static void make_neutral(ic_color_layout layout, void *row, int32_t width) {
    uint16_t *wide = row;
    float *floats = row;
    for (size_t i = 0; i < (size_t)width * 4; i += 4) {
        if (layout == IC_COLOR_RGBAF32) {
            floats[i] = floats[i + 2] = floats[i + 1];
        } else {
            wide[i] = wide[i + 2] = wide[i + 1];
        }
    }
}

void ic_color_transform_apply(
    ic_color_transform *transform, void *rows, size_t stride_bytes, int32_t width, int32_t count) {
    for (int32_t y = 0; y < count; y++) {
        uint8_t *row = (uint8_t *)rows + (size_t)y * stride_bytes;
        if (transform->gray_codes) {
            look_up_gray(transform->gray_codes, row, width);
            continue;
        }
        cmsDoTransform(transform->transform, row, row, (cmsUInt32Number)width);
        if (transform->is_gray) make_neutral(transform->layout, row, width);
        if (transform->sets_fourth_byte) fill_fourth(row, width);
    }
}

void ic_color_cmyk_without_profile(uint8_t *rows, size_t stride_bytes, int32_t width, int32_t count) {
    for (int32_t y = 0; y < count; y++) {
        uint8_t *row = rows + (size_t)y * stride_bytes;
        for (int32_t x = 0; x < width; x++, row += 4) {
            unsigned light = 255u - row[3];
            for (int c = 0; c < 3; c++) row[c] = (uint8_t)(((255u - row[c]) * light + 127) / 255);
            row[3] = 255;
        }
    }
}
