#include <gif_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_picture_internal.h"

_Static_assert(GIFLIB_MAJOR == 5, "libgif.so.7 has the structures of 5");

#define IC_GIF_FUNCTIONS(FUNCTION)                                                                                     \
    FUNCTION(DGifCloseFile)                                                                                            \
    FUNCTION(DGifGetCode)                                                                                              \
    FUNCTION(DGifGetCodeNext)                                                                                          \
    FUNCTION(DGifGetExtension)                                                                                         \
    FUNCTION(DGifGetExtensionNext)                                                                                     \
    FUNCTION(DGifGetImageDesc)                                                                                         \
    FUNCTION(DGifGetLine)                                                                                              \
    FUNCTION(DGifGetRecordType)                                                                                        \
    FUNCTION(DGifOpen)                                                                                                 \
    FUNCTION(GifErrorString)

IC_LIBRARY_TABLE(ic_gif, IC_LIBRARY_GIF, IC_GIF_FUNCTIONS)

/// Pulses and damage are looked at once for so many rows.
enum { ROWS_AT_ONCE = 64 };

typedef struct gif_state {
    const ic_gif_table *gif;
    ic_picture_source source;
    size_t position;
    GifFileType *file;
    int transparent;
    /// The file goes on to its last byte, which says so.
    int has_end;
    /// The first frame, whose rows the library is about to decode.
    GifImageDesc frame;
    GifByteType *line;
} gif_state;

static int read_bytes(GifFileType *file, GifByteType *target, int count) {
    gif_state *state = file->UserData;
    size_t left = state->source.size - state->position;
    size_t taken = (size_t)count < left ? (size_t)count : left;
    memcpy(target, state->source.bytes + state->position, taken);
    state->position += taken;
    return (int)taken;
}

static ic_status fail(const gif_state *state, int code, ic_error *error) {
    const char *reason = state->gif->GifErrorString(code);
    if (code == D_GIF_ERR_NOT_ENOUGH_MEM) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding GIF");
    return ic_fail(error, IC_DAMAGED, "GIF: %s", reason ? reason : "it cannot be read");
}

static void close_file(gif_state *state) {
    int code = 0;
    if (state->file) state->gif->DGifCloseFile(state->file, &code);
    state->file = NULL;
}

static void close_gif(void *opaque) {
    gif_state *state = opaque;
    close_file(state);
    free(state->line);
    free(state);
}

/// Passes an extension, and keeps which colour is clear.
static int pass_extension(gif_state *state) {
    int kind = 0;
    GifByteType *block = NULL;
    if (state->gif->DGifGetExtension(state->file, &kind, &block) != GIF_OK) return 0;
    while (block) {
        if (kind == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4) state->transparent = block[1] & 1 ? block[4] : -1;
        if (state->gif->DGifGetExtensionNext(state->file, &block) != GIF_OK) return 0;
    }
    return 1;
}

/// From the beginning to the rows of the first frame.
static ic_status find_first_frame(gif_state *state, ic_error *error) {
    int code = 0;
    close_file(state);
    state->position = 0;
    state->transparent = -1;
    state->file = state->gif->DGifOpen(state, read_bytes, &code);
    if (!state->file) return fail(state, code, error);
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    while (state->gif->DGifGetRecordType(state->file, &record) == GIF_OK && record == EXTENSION_RECORD_TYPE) {
        if (!pass_extension(state)) return fail(state, state->file->Error, error);
    }
    if (record != IMAGE_DESC_RECORD_TYPE) return ic_fail(error, IC_DAMAGED, "The GIF has no picture");
    if (state->gif->DGifGetImageDesc(state->file) != GIF_OK) return fail(state, state->file->Error, error);
    state->frame = state->file->Image;
    return IC_OK;
}

/// Passes the rows of a frame without decoding them.
static int pass_rows(gif_state *state) {
    int size = 0;
    GifByteType *block = NULL;
    if (state->gif->DGifGetCode(state->file, &size, &block) != GIF_OK) return 0;
    while (block) {
        if (state->gif->DGifGetCodeNext(state->file, &block) != GIF_OK) return 0;
    }
    return 1;
}

/// How many frames there are up to the end or to damage.
static int count_frames(gif_state *state) {
    int count = 1;
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    if (!pass_rows(state)) return count;
    while (state->gif->DGifGetRecordType(state->file, &record) == GIF_OK && record != TERMINATE_RECORD_TYPE) {
        if (record == EXTENSION_RECORD_TYPE && !pass_extension(state)) break;
        if (record == IMAGE_DESC_RECORD_TYPE) {
            if (state->gif->DGifGetImageDesc(state->file) != GIF_OK) break;
            count++;
            if (!pass_rows(state)) break;
        }
    }
    state->has_end = record == TERMINATE_RECORD_TYPE;
    return count;
}

static ic_status open_gif(const ic_picture_source *source, void **opaque, ic_picture_info *info, ic_error *error) {
    const ic_gif_table *gif = ic_gif(error);
    if (!gif) return error->status;
    gif_state *state = calloc(1, sizeof *state);
    if (!state) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a GIF decoder");
    *opaque = state;
    state->gif = gif;
    state->source = *source;
    if (find_first_frame(state, error) != IC_OK) return error->status;
    const GifImageDesc *frame = &state->frame;
    if (frame->Width <= 0 || frame->Height <= 0 || frame->Left < 0 || frame->Top < 0) {
        return ic_fail(error, IC_DAMAGED, "The GIF's first frame has no size");
    }
    // Many say no size of their screen, or too small a one: the canvas then grows to hold the frame.
    int right = frame->Left + frame->Width, bottom = frame->Top + frame->Height;
    info->width = right > state->file->SWidth ? right : state->file->SWidth;
    info->height = bottom > state->file->SHeight ? bottom : state->file->SHeight;
    info->bits = 8;
    info->primaries = 1;
    info->transfer = 13;
    info->has_alpha = state->transparent >= 0 || frame->Width < info->width || frame->Height < info->height;
    info->frames = count_frames(state);
    info->bytes_held = 1 << 20;
    return IC_OK;
}

static void color_row(const gif_state *state, const ColorMapObject *colors, uint8_t *row) {
    for (int x = 0; x < state->frame.Width; x++, row += 4) {
        int index = state->line[x];
        if (index == state->transparent || index >= colors->ColorCount) continue;
        row[0] = colors->Colors[index].Red;
        row[1] = colors->Colors[index].Green;
        row[2] = colors->Colors[index].Blue;
        row[3] = 255;
    }
}

/// Where a row of an interlaced frame belongs (GIF89a, appendix E).
static int place(int row, int height, int is_interlaced) {
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    if (!is_interlaced) return row;
    for (int pass = 0; pass < 4; pass++) {
        int rows = (height - first[pass] + step[pass] - 1) / step[pass];
        if (row < rows) return first[pass] + row * step[pass];
        row -= rows;
    }
    return height - 1;
}

static ic_status decode_gif(void *opaque, const ic_picture_info *info, ic_picture_target *target, ic_error *error) {
    gif_state *state = opaque;
    if (find_first_frame(state, error) != IC_OK) return error->status;
    const ColorMapObject *colors = state->file->Image.ColorMap ? state->file->Image.ColorMap : state->file->SColorMap;
    if (!colors) return ic_fail(error, IC_DAMAGED, "The GIF has no palette");
    state->line = malloc((size_t)state->frame.Width);
    if (!state->line) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding GIF");
    // What no row covers is clear, or black in a picture that has no clear parts.
    for (size_t i = 0; i < (size_t)info->width * (size_t)info->height; i++) {
        memcpy(target->rows + i * 4, (uint8_t[]){0, 0, 0, info->has_alpha ? 0 : 255}, 4);
    }
    for (int row = 0; row < state->frame.Height; row++) {
        if (row % ROWS_AT_ONCE == 0 && !ic_may_go_on(&target->pulse)) {
            return ic_fail(error, IC_STOPPED, "Asked to stop");
        }
        if (state->gif->DGifGetLine(state->file, state->line, state->frame.Width) != GIF_OK) {
            if (row == 0) return fail(state, state->file->Error, error);
            snprintf(target->damage, sizeof target->damage, "The GIF ends early or is damaged");
            return IC_OK;
        }
        int y = state->frame.Top + place(row, state->frame.Height, state->frame.Interlace);
        color_row(state, colors, target->rows + (size_t)y * target->stride_bytes + (size_t)state->frame.Left * 4);
    }
    if (!state->has_end) snprintf(target->damage, sizeof target->damage, "The GIF ends early or is damaged");
    return IC_OK;
}

const ic_picture_codec ic_gif_codec = {open_gif, decode_gif, close_gif};
