#pragma once

#include "ic_picture_internal.h"

/// What the boxes of a HEIF or AVIF file say of its pictures that the libraries do not tell (ISO/IEC 14496-12, 23008-12).
typedef struct ic_heif_boxes {
    /// Which kinds of coded pictures there are.
    int has_hevc;
    int has_av1;
    /// Of the largest picture that is put together from others, a grid or an overlay; 0 without one.
    int64_t canvas_pixels;
    /// The most that a tile of the main picture may have, where it is a grid; 0 else.
    int64_t tile_pixels;
    /// Of the grid that has the most; 1 without one.
    int tiles;
    /// How many pictures wait at a time for others, at most, while the main one is made: 0 where it is made of itself alone.
    int depth;
    size_t items;
    /// Of all of them together.
    int64_t item_bytes;
} ic_heif_boxes;

enum {
    /// What is coded ends with a block.
    IC_LARGEST_BLOCK = 64,
    /// A side of the tile that a small picture may be a part of.
    IC_TILE_SIDE = 512,
    /// What a library keeps of an item at most, with its boxes.
    IC_ITEM_BYTES = 4096
};

/// Fails for a file whose pictures are made of themselves, or whose items are many times what it has.
ic_status ic_heif_read_boxes(const ic_picture_source *source, ic_heif_boxes *boxes, ic_error *error);
