#include "ic_jpeg_internal.h"

#include <string.h>

#include <jerror.h>

#include "ic_internal.h"

static void escape_on_error(j_common_ptr cinfo) {
    ic_jpeg_errors *errors = (ic_jpeg_errors *)cinfo->err;
    longjmp(errors->escape, 1);
}

/// Warnings that say nothing about the picture's data.
static int is_harmless(int code) {
    return code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_ICC || code == JWRN_TOO_MUCH_DATA;
}

static void keep_warning(j_common_ptr cinfo, int level) {
    if (level >= 0) return;
    cinfo->err->num_warnings++;
    if (!is_harmless(cinfo->err->msg_code)) ic_jpeg_errors_keep_damage(cinfo);
}

void ic_jpeg_errors_keep_damage(j_common_ptr cinfo) {
    ic_jpeg_errors *errors = (ic_jpeg_errors *)cinfo->err;
    int code = errors->base.msg_code;
    for (int i = 0; i < errors->damage_count; i++) {
        if (errors->damage_codes[i] == code) return;
    }
    if (errors->damage_count == IC_JPEG_DAMAGE_KINDS) return;
    errors->damage_codes[errors->damage_count] = code;
    errors->base.format_message(cinfo, errors->damage[errors->damage_count]);
    errors->damage_count++;
}

static void print_nothing(j_common_ptr cinfo) { (void)cinfo; }

void ic_jpeg_errors_install(ic_jpeg_errors *errors) {
    jpeg_std_error(&errors->base);
    errors->base.error_exit = escape_on_error;
    errors->base.emit_message = keep_warning;
    errors->base.output_message = print_nothing;
}

static ic_status status_of(int code, ic_status fallback) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
        return IC_OUT_OF_MEMORY;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
        return IC_LIMIT;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
        return IC_UNSUPPORTED;
    default:
        return fallback;
    }
}

ic_status ic_jpeg_errors_report(j_common_ptr cinfo, ic_status fallback, ic_error *error) {
    ic_jpeg_errors *errors = (ic_jpeg_errors *)cinfo->err;
    if (errors->is_stopped) return ic_fail(error, IC_STOPPED, "Asked to stop");
    if (errors->limit_reason) return ic_fail(error, IC_LIMIT, "%s", errors->limit_reason);
    char message[JMSG_LENGTH_MAX];
    errors->base.format_message(cinfo, message);
    return ic_fail(error, status_of(errors->base.msg_code, fallback), "%s", message);
}
