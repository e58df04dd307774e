#pragma once

#include "ic_picture_internal.h"

// What a JP2 file says of the picture around its codestream (ISO/IEC 15444-1, annex I). The library tells it with the
// pixels, and it is to be known before. Everything points into the file.

/// A box's content; nothing where there is no such box.
typedef struct ic_jp2_box {
    const uint8_t *bytes;
    size_t size;
} ic_jp2_box;

typedef struct ic_jp2_boxes {
    /// Where the codestream begins; the file's size where none does.
    size_t codestream;
    /// Colour specification, palette, component mapping, channel definition.
    ic_jp2_box colr, pclr, cmap, cdef;
} ic_jp2_boxes;

/// Enumerated colour spaces.
enum { IC_JP2_CMYK = 12, IC_JP2_SYCC = 18, IC_JP2_EYCC = 24 };

/// One channel: a component's samples, or what a palette has in their place.
typedef struct ic_jp2_channel {
    uint32_t component;
    /// The channel's number in the palette's first entry; NULL without a palette.
    const uint8_t *column;
    /// Of the palette's numbers.
    int bits;
    int is_signed;
} ic_jp2_channel;

typedef enum ic_jp2_alpha { IC_JP2_OPAQUE, IC_JP2_STRAIGHT, IC_JP2_PREMULTIPLIED } ic_jp2_alpha;

/// What the picture is made of.
typedef struct ic_jp2_layout {
    /// 1 or 3.
    int colors;
    ic_jp2_alpha alpha;
    /// R, G and B or gray three times, and alpha where there is one.
    ic_jp2_channel channels[4];
    /// Of the palette.
    uint32_t entries;
    size_t entry_bytes;
} ic_jp2_layout;

ic_jp2_boxes ic_jp2_find_boxes(const uint8_t *bytes, size_t size);

/// The enumerated colour space, or 0; the profile goes to `icc`, where there is one.
uint32_t ic_jp2_color_space(const ic_jp2_boxes *boxes, ic_jp2_box *icc);

/// `components` are those of the codestream, at least one.
ic_status ic_jp2_arrange(const ic_jp2_boxes *boxes, uint32_t components, ic_jp2_layout *layout, ic_error *error);

/// The palette's number for an index, which may be any, of 0 to the largest with the channel's bits.
uint32_t ic_jp2_palette_number(const ic_jp2_layout *layout, const ic_jp2_channel *channel, int64_t index);

/// So many bytes as a number, at most 4.
static inline uint32_t ic_jp2_number(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}
