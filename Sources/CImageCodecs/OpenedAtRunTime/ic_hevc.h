#pragma once

#include "ic_heif.h"

/// What libheif may decode at a time, and what came of it.
typedef struct ic_hevc_watch {
    /// Of the light of one coded picture: a pixel's is one, and two where it has more than 8 bits.
    int64_t most_bytes;
    /// Of all coded pictures.
    int64_t bytes_left;
    /// Asked between the parts of a picture.
    ic_pulse pulse;
    int is_stopped;
    /// A picture was larger, and was not decoded.
    int is_beyond;
    /// What the decoder warned of in a picture that it gave all the same; NULL for nothing.
    const char *warning;
} ic_hevc_watch;

/// Has libheif take its pictures in HEVC from libde265 by way of this library: libheif hands on no limit, and not what it is
/// warned of. Once for a process.
ic_status ic_hevc_register(const ic_heif_table *heif, ic_error *error);

/// Until the end, what the calling thread decodes by libheif is held to this; without a watch nothing is decoded.
void ic_hevc_begin(ic_hevc_watch *watch);
void ic_hevc_end(void);
