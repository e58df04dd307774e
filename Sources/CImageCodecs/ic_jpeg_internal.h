#pragma once

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "include/ic_jpeg.h"

enum {
    IC_JPEG_DAMAGE_KINDS = 8,
    /// libjpeg calls back for every row, which is more often than anybody needs to be asked.
    IC_JPEG_ROWS_BETWEEN_PULSES = 8,
    /// Those of one leader: there are three scales beside the largest.
    IC_JPEG_FOLLOWERS = 3,
};

/// libjpeg's error manager with a place to jump to. Must stay the first member for the cast from `cinfo->err`.
typedef struct ic_jpeg_errors {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    /// libjpeg codes seen as warnings, so that each kind is kept once.
    int damage_codes[IC_JPEG_DAMAGE_KINDS];
    char damage[IC_JPEG_DAMAGE_KINDS][JMSG_LENGTH_MAX];
    int damage_count;
    /// Set by our own guards; takes the place of libjpeg's code.
    const char *limit_reason;
    /// The pulse ended the call.
    int is_stopped;
} ic_jpeg_errors;

void ic_jpeg_errors_install(ic_jpeg_errors *errors);

/// Adds libjpeg's current message to the list of damage, once for each kind.
void ic_jpeg_errors_keep_damage(j_common_ptr cinfo);

/// After a jump: turns the pending libjpeg error into `error`.
ic_status ic_jpeg_errors_report(j_common_ptr cinfo, ic_status fallback, ic_error *error);

/// What a decoder keeps for those that follow it; see ic_jpeg_follow.c. A unit is what libjpeg calls an MCU.
typedef struct ic_jpeg_leader {
    ic_jpeg_decoder *followers[IC_JPEG_FOLLOWERS];
    int follower_count;
    /// Reads a unit from the file.
    boolean (*read_unit)(j_decompress_ptr cinfo, JBLOCKROW *blocks);
    /// A ring of the coefficients of `capacity` units.
    JBLOCK *blocks;
    size_t capacity;
    int blocks_in_unit;
    /// Units read so far.
    size_t units;
    /// The blocks of which some follower needs more than the first coefficient.
    uint8_t is_whole[D_MAX_BLOCKS_IN_MCU];
} ic_jpeg_leader;

/// How far a decoder has come that follows another one.
typedef struct ic_jpeg_following {
    /// NULL where it reads the file itself.
    ic_jpeg_decoder *decoder;
    size_t units;
    uint8_t is_whole[D_MAX_BLOCKS_IN_MCU];
} ic_jpeg_following;

struct ic_jpeg_decoder {
    struct jpeg_decompress_struct cinfo;
    ic_jpeg_errors errors;
    struct jpeg_progress_mgr progress;
    int max_scans;
    /// Adobe writes 255 for no ink.
    int inverts_cmyk;
    int is_finished;
    ic_pulse pulse;
    ic_jpeg_leader leader;
    ic_jpeg_following following;
};

/// To be called before a decoder goes.
void ic_jpeg_decoder_unfollow(ic_jpeg_decoder *decoder);
