#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ic_error.h"

// Colour management by Little CMS. Every handle has a context of its own, so that handles of different threads share
// nothing.

typedef enum ic_color_profile {
    IC_COLOR_SRGB = 0,
    IC_COLOR_DISPLAY_P3,
    IC_COLOR_ADOBE_RGB,
} ic_color_profile;

typedef enum ic_color_layout {
    IC_COLOR_RGBX8 = 0,
    IC_COLOR_RGBA16,
    IC_COLOR_RGBAF32,
    IC_COLOR_CMYK8,
} ic_color_layout;

/// Where a colour comes from or goes to: the bytes of an ICC profile, or without them a built-in one.
typedef struct ic_color_space {
    const uint8_t *icc;
    size_t icc_size;
    ic_color_profile built_in;
} ic_color_space;

typedef struct ic_color_transform ic_color_transform;

/// Relative colorimetric with black point compensation. Rows in CMYK become R, G, B, 255.
ic_color_transform *ic_color_transform_open(
    const ic_color_space *source, const ic_color_space *target, ic_color_layout layout, ic_error *error);
void ic_color_transform_close(ic_color_transform *transform);

/// Converts rows in place; alpha stays.
void ic_color_transform_apply(
    ic_color_transform *transform, void *rows, size_t stride_bytes, int32_t width, int32_t count);

/// C, M, Y, K with 0 = no ink to R, G, B, 255 without a profile: 255 (1 - ink) (1 - black), in place.
void ic_color_cmyk_without_profile(uint8_t *rows, size_t stride_bytes, int32_t width, int32_t count);

/// Largest CIE 1976 difference of two RGB or gray profiles over a grid of their colours; negative when one cannot be
/// read or they are for different kinds of colour.
double ic_color_largest_difference(const ic_color_space *a, const ic_color_space *b);

/// The bytes of a built-in profile, the same each time, to be freed by the caller; NULL without memory.
uint8_t *ic_color_copy_profile(ic_color_profile profile, size_t *size);

/// Colours by their chromaticities x, y and a power of the coded value.
typedef struct ic_color_primaries {
    double white[2];
    double red[2];
    double green[2];
    double blue[2];
    double exponent;
    /// The chromaticities say nothing then.
    int32_t is_gray;
} ic_color_primaries;

/// The bytes of a profile that says the same, to be freed by the caller; NULL where no such colours can be.
uint8_t *ic_color_copy_profile_of(const ic_color_primaries *colors, size_t *size);

/// Samples the tone curves of a matrix or gray profile: `forward` gets `entries` linear values for each of R, G and B
/// one after another, `inverse` the way back at `inverse_entries` places, `colorants` the nine numbers of the matrix
/// from linear R, G, B to XYZ under D50, row by row.
/// Returns 0 for profiles of other kinds.
int ic_color_curves(
    const ic_color_space *space, float *forward, int32_t entries, float *inverse, int32_t inverse_entries,
    float *colorants);
