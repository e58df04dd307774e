#include <libraw/libraw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_picture_internal.h"

_Static_assert(LIBRAW_MAJOR_VERSION == 0 && LIBRAW_MINOR_VERSION == 20, "libraw_r.so.20 has the structures of 0.20");

// Its library's own, for as many threads as a worker has.
extern void omp_set_num_threads(int count);

#define IC_RAW_FUNCTIONS(FUNCTION)                                                                                     \
    FUNCTION(libraw_adjust_sizes_info_only)                                                                            \
    FUNCTION(libraw_close)                                                                                             \
    FUNCTION(libraw_dcraw_clear_mem)                                                                                   \
    FUNCTION(libraw_dcraw_make_mem_image)                                                                              \
    FUNCTION(libraw_dcraw_process)                                                                                     \
    FUNCTION(libraw_init)                                                                                              \
    FUNCTION(libraw_open_buffer)                                                                                       \
    FUNCTION(libraw_recycle)                                                                                           \
    FUNCTION(libraw_set_dataerror_handler)                                                                             \
    FUNCTION(libraw_set_progress_handler)                                                                              \
    FUNCTION(libraw_strerror)                                                                                          \
    FUNCTION(libraw_unpack)                                                                                            \
    FUNCTION(libraw_unpack_function_name)                                                                              \
    FUNCTION(libraw_unpack_thumb)                                                                                      \
    FUNCTION(omp_set_num_threads)

IC_LIBRARY_TABLE(ic_raw, IC_LIBRARY_RAW, IC_RAW_FUNCTIONS)

typedef struct raw_state {
    const ic_raw_table *raw;
    ic_picture_source source;
    libraw_data_t *data;
    /// Some of the sensor's values cannot be what was written. The library goes on, and says so by a call alone.
    int has_bad_values;
    int is_packed_otherwise;
} raw_state;

static void keep_bad_values(void *opaque, const char *file, const int place) {
    (void)file;
    (void)place;
    ((raw_state *)opaque)->has_bad_values = 1;
}

/// Whether values are packed in a way that the library knows and was built without: it calls that damage.
static int is_packed_otherwise(const raw_state *state) {
    static const char *const missing[] = {
        "deflate_dng_load_raw()", "float_dng_load_raw_placeholder()", "vc5_dng_load_raw_placeholder()"};
    const char *name = state->raw->libraw_unpack_function_name(state->data);
    for (size_t i = 0; name && i < sizeof missing / sizeof missing[0]; i++) {
        if (strcmp(name, missing[i]) == 0) return 1;
    }
    return 0;
}

/// Begins with the file, whatever was done with it before; settings stay. Returns the library's code.
static int begin(raw_state *state) {
    state->raw->libraw_recycle(state->data);
    // It does not write there.
    return state->raw->libraw_open_buffer(
        state->data, (void *)(uintptr_t)state->source.bytes, state->source.size);
}

static ic_status fail(const raw_state *state, int code, ic_error *error) {
    // Positive codes are those of the system.
    if (code == LIBRAW_UNSUFFICIENT_MEMORY) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for developing");
    if (code == LIBRAW_CANCELLED_BY_CALLBACK) return ic_fail(error, IC_STOPPED, "Asked to stop");
    if (code == LIBRAW_DATA_ERROR && state->is_packed_otherwise) {
        return ic_fail(error, IC_UNSUPPORTED, "Camera raw: its values are packed in a way that is not supported");
    }
    const char *reason = code < 0 ? state->raw->libraw_strerror(code) : "it cannot be read";
    int is_unknown = code == LIBRAW_FILE_UNSUPPORTED || code == LIBRAW_NOT_IMPLEMENTED;
    if (code == LIBRAW_TOO_BIG) return ic_fail(error, IC_LIMIT, "Camera raw: %s", reason);
    return ic_fail(error, is_unknown ? IC_UNSUPPORTED : IC_DAMAGED, "Camera raw: %s", reason);
}

static void close_raw(void *opaque) {
    raw_state *state = opaque;
    if (state->data) state->raw->libraw_close(state->data);
    free(state);
}

/// Its numbers are those of dcraw: 3 half a turn, 5 a quarter to the left, 6 to the right.
static int32_t orientation(int flip) { return flip == 3 ? 3 : flip == 5 ? 8 : flip == 6 ? 6 : 1; }

static ic_status open_raw(const ic_picture_source *source, void **opaque, ic_picture_info *info, ic_error *error) {
    const ic_raw_table *raw = ic_raw(error);
    if (!raw) return error->status;
    raw_state *state = calloc(1, sizeof *state);
    if (!state) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for developing");
    *opaque = state;
    state->raw = raw;
    state->source = *source;
    state->data = raw->libraw_init(0);
    if (!state->data) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for developing");
    raw->libraw_set_dataerror_handler(state->data, keep_bad_values, state);
    int code = begin(state);
    if (code != LIBRAW_SUCCESS) return fail(state, code, error);
    state->is_packed_otherwise = is_packed_otherwise(state);
    libraw_output_params_t *params = &state->data->params;
    params->use_camera_wb = 1;
    params->output_bps = 16;
    params->output_color = 1;
    // The curve of sRGB (IEC 61966-2-1), which the default is not.
    params->gamm[0] = 1 / 2.4;
    params->gamm[1] = 12.92;
    info->orientation = orientation(state->data->sizes.flip);
    // Rows stay as the sensor has them.
    params->user_flip = 0;
    // After this it takes no other call for the same file.
    code = raw->libraw_adjust_sizes_info_only(state->data);
    if (code != LIBRAW_SUCCESS) return fail(state, code, error);
    const libraw_image_sizes_t *sizes = &state->data->sizes;
    info->width = sizes->iwidth;
    info->height = sizes->iheight;
    info->bits = 16;
    info->is_wide = 1;
    info->primaries = 1;
    info->transfer = 13;
    // The sensor's values, four of 16 bits for each pixel, those once more while they are interpolated, and the result.
    info->bytes_held =
        (int64_t)sizes->raw_width * sizes->raw_height * 4 + (int64_t)sizes->iwidth * sizes->iheight * 24 + (16 << 20);
    return IC_OK;
}

static int watch(void *target, enum LibRaw_progress stage, int iteration, int expected) {
    (void)stage;
    (void)iteration;
    (void)expected;
    return !ic_may_go_on(&((const ic_picture_target *)target)->pulse);
}

static ic_status copy_rows(
    const libraw_processed_image_t *image, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    size_t pixels = (size_t)info->width * (size_t)info->height;
    if (image->type != LIBRAW_IMAGE_BITMAP || image->bits != 16 || (image->colors != 3 && image->colors != 1) ||
        image->width != info->width || image->height != info->height ||
        image->data_size < pixels * image->colors * 2) {
        return ic_fail(error, IC_DAMAGED, "The raw file's picture is not what its header says");
    }
    const uint16_t *from = (const uint16_t *)(const void *)image->data;
    uint16_t *to = (uint16_t *)(void *)target->rows;
    int step = image->colors == 3;
    for (size_t i = 0; i < pixels; i++, from += image->colors, to += 4) {
        to[0] = from[0];
        to[1] = from[step];
        to[2] = from[step * 2];
        to[3] = 65535;
    }
    return IC_OK;
}

static ic_status decode_raw(void *opaque, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    raw_state *state = opaque;
    const ic_raw_table *raw = state->raw;
    raw->omp_set_num_threads(1);
    raw->libraw_set_progress_handler(state->data, watch, target);
    int code = begin(state);
    state->has_bad_values = 0;
    // A decoder of JPEG within it prints its warnings.
    ic_quiet_begin();
    if (code == LIBRAW_SUCCESS) code = raw->libraw_unpack(state->data);
    ic_quiet_end();
    if (code == LIBRAW_SUCCESS && state->has_bad_values) {
        snprintf(target->damage, sizeof target->damage, "Some of the raw file's values are damaged or missing");
    }
    if (code == LIBRAW_SUCCESS) code = raw->libraw_dcraw_process(state->data);
    if (code != LIBRAW_SUCCESS) return fail(state, code, error);
    libraw_processed_image_t *image = raw->libraw_dcraw_make_mem_image(state->data, &code);
    if (!image) return fail(state, code, error);
    ic_status status = copy_rows(image, info, target, error);
    raw->libraw_dcraw_clear_mem(image);
    return status;
}

ic_status ic_raw_preview(void *opaque, const uint8_t **bytes, size_t *size, ic_error *error) {
    raw_state *state = opaque;
    int code = begin(state);
    if (code == LIBRAW_SUCCESS) code = state->raw->libraw_unpack_thumb(state->data);
    const libraw_thumbnail_t *preview = &state->data->thumbnail;
    if (code == LIBRAW_NO_THUMBNAIL || (code == LIBRAW_SUCCESS && preview->tformat != LIBRAW_THUMBNAIL_JPEG)) {
        return ic_fail(error, IC_UNSUPPORTED, "The raw file has no preview; --raw develop does without");
    }
    if (code != LIBRAW_SUCCESS) return fail(state, code, error);
    *bytes = (const uint8_t *)preview->thumb;
    *size = preview->tlength;
    return IC_OK;
}

const ic_picture_codec ic_raw_codec = {open_raw, decode_raw, close_raw};
