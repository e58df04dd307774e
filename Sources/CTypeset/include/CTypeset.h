// The parts of FreeType's and fontconfig's C interfaces that this package calls, opened at run time: only who puts text onto
// pictures needs them. Letters are set one after another from left to right with the font's own kerning; scripts that
// need shaping come out unshaped.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct bg_font bg_font;

// The rectangle that a line of text covers, in pixels; `baseline` counts from its top.
typedef struct {
    int32_t width;
    int32_t height;
    int32_t baseline;
} bg_text_extent;

// Finds the file of the best scalable font for a fontconfig pattern, such as "DejaVu Sans:bold". 0, or -1 with a reason
// where fontconfig is missing or no installed font has the family that was asked for.
int bg_font_find(const char *pattern, char *path, size_t path_size, char *reason, size_t reason_size);

// NULL with a reason where FreeType is missing or the bytes are no scalable font. `bytes` must outlive the font.
bg_font *bg_font_open(const void *bytes, size_t count, char *reason, size_t reason_size);

void bg_font_close(bg_font *font);

// Measures `count` Unicode scalars at a size in pixels an em. 0, or -1 with a reason.
int bg_font_measure(bg_font *font, const uint32_t *text, size_t count, uint32_t pixel_size, bg_text_extent *extent,
                    char *reason, size_t reason_size);

// Draws what was measured into `extent->width * extent->height` bytes of coverage, 0 to 255, that are all 0 before. 0, or -1
// with a reason.
int bg_font_draw(bg_font *font, const uint32_t *text, size_t count, uint32_t pixel_size, const bg_text_extent *extent,
                 uint8_t *coverage, char *reason, size_t reason_size);
