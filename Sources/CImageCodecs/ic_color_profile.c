#include <stdlib.h>
#include <string.h>

#include "ic_color_internal.h"

static void say_nothing(cmsContext context, cmsUInt32Number code, const char *text) {
    (void)context;
    (void)code;
    (void)text;
}

cmsContext ic_color_context(void) {
    cmsContext context = cmsCreateContext(NULL, NULL);
    if (context) cmsSetLogErrorHandlerTHR(context, say_nothing);
    return context;
}

static void describe(cmsContext context, cmsHPROFILE profile, cmsTagSignature tag, const char *text) {
    cmsMLU *value = cmsMLUalloc(context, 1);
    if (!value) return;
    if (cmsMLUsetASCII(value, "en", "US", text)) cmsWriteTag(profile, tag, value);
    cmsMLUfree(value);
}

static cmsHPROFILE create(cmsContext context, ic_color_profile kind) {
    // Primaries: ITU-R BT.709, SMPTE EG 432-1 and Adobe RGB (1998), all with D65; the curve of IEC 61966-2-1, and for Adobe RGB
    // a power of 2 + 51/256.
    static const cmsCIExyYTRIPLE bt709 = {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
    static const cmsCIExyYTRIPLE p3 = {{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.150, 0.060, 1}};
    static const cmsCIExyYTRIPLE adobe = {{0.64, 0.33, 1}, {0.21, 0.71, 1}, {0.15, 0.06, 1}};
    static const cmsCIExyY d65 = {0.3127, 0.3290, 1};
    static const cmsFloat64Number curve[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    const cmsCIExyYTRIPLE *primaries = kind == IC_COLOR_SRGB ? &bt709 : kind == IC_COLOR_DISPLAY_P3 ? &p3 : &adobe;
    const char *name = kind == IC_COLOR_SRGB ? "sRGB" : kind == IC_COLOR_DISPLAY_P3 ? "Display P3" : "Adobe RGB (1998)";
    cmsToneCurve *tone = kind == IC_COLOR_ADOBE_RGB ? cmsBuildGamma(context, 2.0 + 51.0 / 256)
                                                    : cmsBuildParametricToneCurve(context, 4, curve);
    if (!tone) return NULL;
    cmsToneCurve *tones[] = {tone, tone, tone};
    cmsHPROFILE profile = cmsCreateRGBProfileTHR(context, &d65, primaries, tones);
    cmsFreeToneCurve(tone);
    if (profile) {
        describe(context, profile, cmsSigProfileDescriptionTag, name);
        describe(context, profile, cmsSigCopyrightTag, "Free of copyright");
    }
    return profile;
}

cmsHPROFILE ic_color_open_profile(cmsContext context, const ic_color_space *space) {
    if (!space->icc) return create(context, space->built_in);
    if (space->icc_size > UINT32_MAX) return NULL;
    return cmsOpenProfileFromMemTHR(context, space->icc, (cmsUInt32Number)space->icc_size);
}

/// The profile's bytes, the same each time; closes it.
static uint8_t *save(cmsHPROFILE profile, size_t *size) {
    cmsUInt32Number length = 0;
    uint8_t *bytes = NULL;
    if (profile && cmsSaveProfileToMem(profile, NULL, &length) && (bytes = malloc(length))) {
        if (!cmsSaveProfileToMem(profile, bytes, &length)) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (bytes && length >= 128) {
        // The header's date, ICC.1 section 7.2.8: a constant, so that equal outputs are equal byte for byte.
        static const uint8_t date[] = {0x07, 0xE8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0};
        memcpy(bytes + 24, date, sizeof date);
        *size = length;
    }
    if (profile) cmsCloseProfile(profile);
    return bytes;
}

uint8_t *ic_color_copy_profile(ic_color_profile kind, size_t *size) {
    cmsContext context = ic_color_context();
    if (!context) return NULL;
    uint8_t *bytes = save(create(context, kind), size);
    cmsDeleteContext(context);
    return bytes;
}

uint8_t *ic_color_copy_profile_of(const ic_color_primaries *colors, size_t *size) {
    cmsContext context = ic_color_context();
    if (!context) return NULL;
    const cmsCIExyY white = {colors->white[0], colors->white[1], 1};
    const cmsCIExyYTRIPLE primaries = {
        {colors->red[0], colors->red[1], 1},
        {colors->green[0], colors->green[1], 1},
        {colors->blue[0], colors->blue[1], 1},
    };
    cmsHPROFILE profile = NULL;
    cmsToneCurve *tone = cmsBuildGamma(context, colors->exponent);
    if (tone && colors->is_gray) {
        profile = cmsCreateGrayProfileTHR(context, cmsD50_xyY(), tone);
    } else if (tone) {
        cmsToneCurve *tones[] = {tone, tone, tone};
        profile = cmsCreateRGBProfileTHR(context, &white, &primaries, tones);
    }
    if (tone) cmsFreeToneCurve(tone);
    if (profile) {
        describe(context, profile, cmsSigProfileDescriptionTag, "By gamma and primaries");
        describe(context, profile, cmsSigCopyrightTag, "Free of copyright");
    }
    uint8_t *bytes = save(profile, size);
    cmsDeleteContext(context);
    return bytes;
}

/// Steps of each channel in the grid that two profiles are compared on.
enum { GRID = 9 };

static int grid_to_lab(cmsContext context, cmsHPROFILE profile, cmsHPROFILE lab, cmsCIELab *out) {
    float grid[GRID * GRID * GRID * 3];
    double lab_values[GRID * GRID * GRID * 3];
    cmsColorSpaceSignature space = cmsGetColorSpace(profile);
    int is_gray = space == cmsSigGrayData;
    if (!is_gray && space != cmsSigRgbData) return 0;
    int count = GRID * GRID * GRID;
    for (int i = 0; i < count; i++) {
        if (is_gray) {
            grid[i] = (float)i / (float)(count - 1);
            continue;
        }
        grid[i * 3] = (float)(i / (GRID * GRID)) / (GRID - 1);
        grid[i * 3 + 1] = (float)(i / GRID % GRID) / (GRID - 1);
        grid[i * 3 + 2] = (float)(i % GRID) / (GRID - 1);
    }
    cmsUInt32Number input = is_gray ? TYPE_GRAY_FLT : TYPE_RGB_FLT;
    cmsHTRANSFORM transform = cmsCreateTransformTHR(
        context, profile, input, lab, TYPE_Lab_DBL, INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_NOCACHE);
    if (!transform) return 0;
    cmsDoTransform(transform, grid, lab_values, (cmsUInt32Number)count);
    cmsDeleteTransform(transform);
    for (int i = 0; i < count; i++) {
        out[i] = (cmsCIELab){lab_values[i * 3], lab_values[i * 3 + 1], lab_values[i * 3 + 2]};
    }
    return count;
}

double ic_color_largest_difference(const ic_color_space *a, const ic_color_space *b) {
    cmsContext context = ic_color_context();
    if (!context) return -1;
    cmsHPROFILE first = ic_color_open_profile(context, a);
    cmsHPROFILE second = ic_color_open_profile(context, b);
    cmsHPROFILE lab = cmsCreateLab4ProfileTHR(context, NULL);
    double largest = -1;
    if (first && second && lab && cmsGetColorSpace(first) == cmsGetColorSpace(second)) {
        cmsCIELab from[GRID * GRID * GRID], to[GRID * GRID * GRID];
        int count = grid_to_lab(context, first, lab, from);
        if (count > 0 && grid_to_lab(context, second, lab, to) == count) {
            largest = 0;
            for (int i = 0; i < count; i++) {
                double difference = cmsDeltaE(&from[i], &to[i]);
                if (!(difference <= largest)) largest = difference;
            }
        }
    }
    if (first) cmsCloseProfile(first);
    if (second) cmsCloseProfile(second);
    if (lab) cmsCloseProfile(lab);
    cmsDeleteContext(context);
    return largest;
}

static int sample(const cmsToneCurve *curve, float *forward, int32_t entries, float *inverse, int32_t inverse_entries) {
    cmsToneCurve *reversed = cmsReverseToneCurveEx(4096, curve);
    if (!reversed) return 0;
    for (int32_t i = 0; i < entries; i++) {
        forward[i] = cmsEvalToneCurveFloat(curve, (float)i / (float)(entries - 1));
    }
    for (int32_t i = 0; i < inverse_entries; i++) {
        inverse[i] = cmsEvalToneCurveFloat(reversed, (float)i / (float)(inverse_entries - 1));
    }
    cmsFreeToneCurve(reversed);
    return 1;
}

static int sample_profile(
    cmsHPROFILE profile, float *forward, int32_t entries, float *inverse, int32_t inverse_entries, float *colorants) {
    static const cmsTagSignature curves[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    static const cmsTagSignature columns[] = {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};
    int is_gray = cmsGetColorSpace(profile) == cmsSigGrayData;
    // A profile with tables is used through them, so its curves alone would say something else.
    if (cmsIsTag(profile, cmsSigAToB0Tag) || cmsIsTag(profile, cmsSigAToB1Tag)) return 0;
    if (!is_gray && !cmsIsMatrixShaper(profile)) return 0;
    for (int c = 0; c < 3; c++) {
        const cmsToneCurve *curve = cmsReadTag(profile, is_gray ? cmsSigGrayTRCTag : curves[c]);
        if (!curve) return 0;
        if (!sample(curve, forward + c * entries, entries, inverse + c * inverse_entries, inverse_entries)) return 0;
        const cmsCIEXYZ *column = is_gray ? NULL : cmsReadTag(profile, columns[c]);
        if (!is_gray && !column) return 0;
        colorants[c] = column ? (float)column->X : (float)(cmsD50_XYZ()->X / 3);
        colorants[c + 3] = column ? (float)column->Y : 1.0f / 3;
        colorants[c + 6] = column ? (float)column->Z : (float)(cmsD50_XYZ()->Z / 3);
    }
    return 1;
}

int ic_color_curves(
    const ic_color_space *space, float *forward, int32_t entries, float *inverse, int32_t inverse_entries,
    float *colorants) {
    cmsContext context = ic_color_context();
    if (!context) return 0;
    cmsHPROFILE profile = ic_color_open_profile(context, space);
    int is_done = profile && sample_profile(profile, forward, entries, inverse, inverse_entries, colorants);
    if (profile) cmsCloseProfile(profile);
    cmsDeleteContext(context);
    return is_done;
}
