#pragma once

#include "ic_picture_internal.h"

/// What a HEIF file's boxes say of its pictures that its library does not tell (ISO/IEC 14496-12 and 23008-12).
typedef struct ic_heif_boxes {
    /// Which kinds of coded pictures there are.
    int has_hevc;
    int has_av1;
    /// Of the largest picture that is put together from others, a grid or an overlay; 0 without one.
    int64_t canvas_pixels;
    /// How many pictures wait at a time for others, at most, while the main one is made: 0 where it is made of itself alone.
    int depth;
    /// Of the main picture, where it is a grid; 1 else.
    int tiles;
    /// Bytes of all items together.
    int64_t item_bytes;
} ic_heif_boxes;

/// Fails for a file whose pictures are made of themselves, or whose items are many times what it has.
ic_status ic_heif_read_boxes(const ic_picture_source *source, ic_heif_boxes *boxes, ic_error *error);
