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
    /// The same where what belongs to the main one is made too, such as its alpha.
    int full_depth;
    size_t items;
    /// Of all of them together.
    int64_t item_bytes;
    /// Some coded picture, or one that is put together, has more than 8 bits a channel.
    int is_deep;
    /// Some picture in HEVC has colours.
    int has_colors;
    int has_tracks;
    /// The first track that belongs to another one shows what is not its alpha, such as its depth.
    int has_other_track;
    /// Bytes of the boxes that the libraries make something of, but for the items and profiles in them.
    int64_t box_bytes;
    int64_t profile_bytes;
} ic_heif_boxes;

enum {
    /// What is coded ends with a block.
    IC_LARGEST_BLOCK = 64,
    /// A side of the tile that a small picture may be a part of.
    IC_TILE_SIDE = 512,
    /// What a library keeps of an item at most, and of a byte of the boxes, which may be a property of many items.
    IC_ITEM_BYTES = 4096,
    IC_BOX_BYTES = 96,
    /// The longest side for which the libraries count in 31 bits.
    IC_MAX_SIDE = 46340
};

/// What the libraries keep of the file beside its pictures.
static inline int64_t ic_heif_held(const ic_heif_boxes *boxes) {
    int64_t kept = ic_picture_bytes(boxes->box_bytes, IC_BOX_BYTES, 1);
    kept = ic_sum(kept, ic_picture_bytes((int64_t)boxes->items, IC_ITEM_BYTES, 1));
    // Read, grown, and copied.
    return ic_sum(kept, ic_picture_bytes(ic_sum(boxes->item_bytes, boxes->profile_bytes), 4, 1));
}

/// Fails for a file whose pictures are made of themselves, or of which the libraries would make many times what it has.
ic_status ic_heif_read_boxes(const ic_picture_source *source, ic_heif_boxes *boxes, ic_error *error);
