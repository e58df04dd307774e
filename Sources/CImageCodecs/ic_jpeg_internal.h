#pragma once

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "include/ic_jpeg.h"

enum {
    IC_JPEG_DAMAGE_KINDS = 8,
    /// libjpeg calls back for every row, which is more often than anybody needs to be asked.
    IC_JPEG_ROWS_BETWEEN_PULSES = 8,
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
