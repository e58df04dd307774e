#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "ic_internal.h"
#include "include/ic_large.h"
#include "include/ic_webp.h"

enum { PIECE_BYTES = 64 << 10 };

struct ic_webp_decoder {
    WebPData file;
    WebPDemuxer *demuxer;
    WebPIterator frame;
    ic_webp_info info;
    uint8_t *canvas;
    const char *damage;
    ic_pulse pulse;
};

static size_t canvas_bytes(const ic_webp_decoder *decoder) {
    return (size_t)decoder->info.width * 4 * (size_t)decoder->info.height;
}

ic_webp_decoder *ic_webp_decoder_open(const uint8_t *bytes, size_t size, ic_webp_info *info, ic_error *error) {
    ic_webp_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a WebP decoder");
        return NULL;
    }
    decoder->file = (WebPData){.bytes = bytes, .size = size};
    WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
    decoder->demuxer = WebPDemuxPartial(&decoder->file, &state);
    if (!decoder->demuxer || state <= WEBP_DEMUX_PARSING_HEADER ||
        !WebPDemuxGetFrame(decoder->demuxer, 1, &decoder->frame)) {
        const char *reason = decoder->demuxer && state != WEBP_DEMUX_PARSE_ERROR
                                 ? "The WebP ends before its picture"
                                 : "The WebP's structure is damaged";
        ic_fail(error, IC_DAMAGED, "%s", reason);
        ic_webp_decoder_close(decoder);
        return NULL;
    }
    const WebPIterator *frame = &decoder->frame;
    int32_t width = (int32_t)WebPDemuxGetI(decoder->demuxer, WEBP_FF_CANVAS_WIDTH);
    int32_t height = (int32_t)WebPDemuxGetI(decoder->demuxer, WEBP_FF_CANVAS_HEIGHT);
    int covers_canvas = frame->x_offset == 0 && frame->y_offset == 0 && frame->width == width && frame->height == height;
    int fits = frame->x_offset >= 0 && frame->y_offset >= 0 && frame->width > 0 && frame->height > 0 &&
               frame->width <= width - frame->x_offset && frame->height <= height - frame->y_offset;
    if (!fits) {
        ic_fail(error, IC_DAMAGED, "The WebP's first frame does not lie on its canvas");
        ic_webp_decoder_close(decoder);
        return NULL;
    }
    decoder->info = (ic_webp_info){
        .width = width,
        .height = height,
        .has_alpha = frame->has_alpha || !covers_canvas,
        .frames = (int32_t)WebPDemuxGetI(decoder->demuxer, WEBP_FF_FRAME_COUNT),
        .is_incomplete = state != WEBP_DEMUX_DONE || !frame->complete,
    };
    if (decoder->info.is_incomplete) decoder->damage = "The WebP ends early";
    *info = decoder->info;
    return decoder;
}

void ic_webp_decoder_set_pulse(ic_webp_decoder *decoder, ic_pulse pulse) { decoder->pulse = pulse; }

void ic_webp_decoder_close(ic_webp_decoder *decoder) {
    if (!decoder) return;
    WebPDemuxReleaseIterator(&decoder->frame);
    WebPDemuxDelete(decoder->demuxer);
    ic_large_close(decoder->canvas, canvas_bytes(decoder));
    free(decoder);
}

int ic_webp_decoder_chunk(const ic_webp_decoder *decoder, const char *kind, const uint8_t **payload, size_t *size) {
    WebPChunkIterator chunk = {0};
    int found = WebPDemuxGetChunk(decoder->demuxer, kind, 1, &chunk);
    if (found) {
        *payload = chunk.chunk.bytes;
        *size = chunk.chunk.size;
    }
    WebPDemuxReleaseChunkIterator(&chunk);
    return found;
}

/// Rows that never came are clear, or black where the picture is opaque.
static void clear_rows(uint8_t *first, size_t stride, int width, int rows, int is_opaque) {
    for (int y = 0; y < rows; y++, first += stride) {
        memset(first, 0, (size_t)width * 4);
        for (int x = 0; is_opaque && x < width; x++) first[x * 4 + 3] = 255;
    }
}

ic_status ic_webp_decoder_start(ic_webp_decoder *decoder, ic_error *error) {
    const WebPIterator *frame = &decoder->frame;
    size_t stride = (size_t)decoder->info.width * 4;
    size_t bytes = canvas_bytes(decoder);
    decoder->canvas = ic_large_open(bytes);
    WebPDecoderConfig config;
    if (!decoder->canvas || !WebPInitDecoderConfig(&config)) {
        return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for a WebP picture");
    }
    uint8_t *first = decoder->canvas + (size_t)frame->y_offset * stride + (size_t)frame->x_offset * 4;
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = first;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = bytes - (size_t)(first - decoder->canvas);
    // The incremental form keeps what came before an error or an early end.
    WebPIDecoder *incremental = WebPIDecode(NULL, 0, &config);
    if (!incremental) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding WebP");
    VP8StatusCode code = VP8_STATUS_SUSPENDED;
    // In pieces, so that the pulse is heard between them.
    size_t total = frame->fragment.size, size = 0;
    do {
        if (!ic_may_go_on(&decoder->pulse)) {
            WebPIDelete(incremental);
            return ic_fail(error, IC_STOPPED, "Asked to stop");
        }
        size = total - size > PIECE_BYTES ? size + PIECE_BYTES : total;
        code = WebPIUpdate(incremental, frame->fragment.bytes, size);
    } while (code == VP8_STATUS_SUSPENDED && size < total);
    int rows = 0;
    if (!WebPIDecGetRGB(incremental, &rows, NULL, NULL, NULL)) rows = 0;
    if (code == VP8_STATUS_OK) rows = frame->height;
    WebPIDelete(incremental);
    if (code == VP8_STATUS_OUT_OF_MEMORY) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for decoding WebP");
    if (code == VP8_STATUS_UNSUPPORTED_FEATURE) return ic_fail(error, IC_UNSUPPORTED, "This kind of WebP is not supported");
    if (code != VP8_STATUS_OK) {
        if (rows == 0) return ic_fail(error, IC_DAMAGED, "The WebP's picture data is damaged");
        decoder->damage = code == VP8_STATUS_SUSPENDED ? "The WebP ends early" : "The WebP's picture data is damaged";
    }
    if (rows < frame->height) {
        clear_rows(
            first + (size_t)rows * stride, stride, frame->width, frame->height - rows, !decoder->info.has_alpha);
    }
    return IC_OK;
}

const uint8_t *ic_webp_decoder_canvas(const ic_webp_decoder *decoder) { return decoder->canvas; }

const char *ic_webp_decoder_damage(const ic_webp_decoder *decoder) { return decoder->damage; }
