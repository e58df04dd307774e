#include "ic_jp2_boxes.h"

#include <string.h>

enum {
    /// A box's length and kind, and where its length is 1 another one behind them.
    SHORT_HEAD = 8,
    LONG_HEAD = 16,
    /// Methods of a colour specification, which begins with three bytes.
    ENUMERATED = 1,
    RESTRICTED_PROFILE = 2,
    ANY_PROFILE = 3,
    METHOD_BYTES = 3,
    MAPPING_BYTES = 4,
    DEFINITION_BYTES = 6,
    MOST_ENTRIES = 1024,
    /// Kinds of channels.
    COLOR = 0,
    OPACITY = 1,
    PREMULTIPLIED_OPACITY = 2
};

static int is_of(const uint8_t *head, const char *kind) { return memcmp(head + 4, kind, 4) == 0; }

static int says_color(ic_jp2_box colr) {
    if (colr.size <= METHOD_BYTES) return 0;
    int method = colr.bytes[0];
    if (method == ENUMERATED) return colr.size >= METHOD_BYTES + 4;
    return method == RESTRICTED_PROFILE || method == ANY_PROFILE;
}

/// Keeps the first of each kind, as readers are asked to.
static void keep(ic_jp2_boxes *boxes, const uint8_t *head, ic_jp2_box box) {
    if (is_of(head, "colr") && !boxes->colr.bytes && says_color(box)) boxes->colr = box;
    if (is_of(head, "pclr") && !boxes->pclr.bytes) boxes->pclr = box;
    if (is_of(head, "cmap") && !boxes->cmap.bytes) boxes->cmap = box;
    if (is_of(head, "cdef") && !boxes->cdef.bytes) boxes->cdef = box;
}

ic_jp2_boxes ic_jp2_find_boxes(const uint8_t *bytes, size_t size) {
    ic_jp2_boxes boxes = {.codestream = size};
    // A file may also be a codestream without boxes.
    if (size >= 4 && ic_jp2_number(bytes, 4) == 0xFF4FFF51) {
        boxes.codestream = 0;
        return boxes;
    }
    size_t place = 0, header_end = 0;
    // The codestream comes last, and is longer than what is read of it here.
    while (size - place >= LONG_HEAD) {
        const uint8_t *head = bytes + place;
        uint64_t length = ic_jp2_number(head, 4);
        size_t head_bytes = length == 1 ? LONG_HEAD : SHORT_HEAD;
        if (length == 1) length = (uint64_t)ic_jp2_number(head + 8, 4) << 32 | ic_jp2_number(head + 12, 4);
        int is_inside = place < header_end;
        if (!is_inside && is_of(head, "jp2c")) {
            boxes.codestream = place + head_bytes;
            break;
        }
        if (length < head_bytes || length > size - place) break;
        if (!is_inside && is_of(head, "jp2h")) {
            header_end = place + (size_t)length;
            place += head_bytes;
        } else {
            // The library takes those behind the header too.
            if (header_end > 0) {
                keep(&boxes, head, (ic_jp2_box){head + head_bytes, (size_t)length - head_bytes});
            }
            place += (size_t)length;
        }
    }
    return boxes;
}

uint32_t ic_jp2_color_space(const ic_jp2_boxes *boxes, ic_jp2_box *icc) {
    ic_jp2_box colr = boxes->colr;
    *icc = (ic_jp2_box){NULL, 0};
    if (!colr.bytes) return 0;
    if (colr.bytes[0] == ENUMERATED) return ic_jp2_number(colr.bytes + METHOD_BYTES, 4);
    *icc = (ic_jp2_box){colr.bytes + METHOD_BYTES, colr.size - METHOD_BYTES};
    // A profile's header names the space of its colours at byte 16 (ICC.1, 7.2.6).
    return icc->size >= 20 && memcmp(icc->bytes + 16, "CMYK", 4) == 0 ? IC_JP2_CMYK : 0;
}

static int number_bytes(uint8_t depth) { return ((depth & 0x7F) + 8) / 8; }

/// The bytes of an entry; 0 where the palette is not whole.
static size_t entry_bytes(ic_jp2_box pclr) {
    if (pclr.size < 3) return 0;
    size_t entries = ic_jp2_number(pclr.bytes, 2), columns = pclr.bytes[2], bytes = 0;
    if (entries == 0 || entries > MOST_ENTRIES || pclr.size - 3 < columns) return 0;
    for (size_t i = 0; i < columns; i++) bytes += (size_t)number_bytes(pclr.bytes[3 + i]);
    return bytes > (pclr.size - 3 - columns) / entries ? 0 : bytes;
}

/// What the mapping's entry makes a channel of; 0 where it is not among what there is.
static int map(ic_jp2_box pclr, const uint8_t *entry, uint32_t components, ic_jp2_channel *channel) {
    uint32_t component = ic_jp2_number(entry, 2), is_mapped = entry[2], column = entry[3];
    *channel = (ic_jp2_channel){.component = component};
    if (component >= components || is_mapped > 1) return 0;
    if (!is_mapped) return 1;
    if (column >= pclr.bytes[2]) return 0;
    const uint8_t *depths = pclr.bytes + 3;
    channel->bits = (depths[column] & 0x7F) + 1;
    channel->is_signed = depths[column] >> 7;
    channel->column = depths + pclr.bytes[2];
    for (uint32_t i = 0; i < column; i++) channel->column += number_bytes(depths[i]);
    return 1;
}

/// Which channels are the colours and alpha.
typedef struct roles {
    uint32_t color[3];
    uint32_t alpha;
} roles;

/// By the channel definitions, and where there are none by how many channels there are.
static roles find_roles(ic_jp2_box cdef, uint32_t channels, ic_jp2_layout *layout) {
    roles found = {{0, channels >= 3 ? 1 : 0, channels >= 3 ? 2 : 0}, channels - 1};
    layout->colors = channels >= 3 ? 3 : 1;
    layout->alpha = channels == 2 || channels == 4 ? IC_JP2_STRAIGHT : IC_JP2_OPAQUE;
    if (cdef.size < 2) return found;
    layout->alpha = IC_JP2_OPAQUE;
    size_t count = ic_jp2_number(cdef.bytes, 2), others = 0;
    for (size_t i = 0; i < count && cdef.size - 2 >= (i + 1) * DEFINITION_BYTES; i++) {
        const uint8_t *definition = cdef.bytes + 2 + i * DEFINITION_BYTES;
        uint32_t channel = ic_jp2_number(definition, 2), kind = ic_jp2_number(definition + 2, 2);
        uint32_t color = ic_jp2_number(definition + 4, 2);
        if (channel >= channels) continue;
        if (kind == COLOR) {
            if (color >= 1 && color <= 3) found.color[color - 1] = channel;
            continue;
        }
        others++;
        if (layout->alpha != IC_JP2_OPAQUE || (kind != OPACITY && kind != PREMULTIPLIED_OPACITY)) continue;
        layout->alpha = kind == OPACITY ? IC_JP2_STRAIGHT : IC_JP2_PREMULTIPLIED;
        found.alpha = channel;
    }
    layout->colors = channels >= others + 3 ? 3 : 1;
    return found;
}

ic_status ic_jp2_arrange(const ic_jp2_boxes *boxes, uint32_t components, ic_jp2_layout *layout, ic_error *error) {
    *layout = (ic_jp2_layout){0};
    // Either both or none (I.5.3.4).
    int has_palette = boxes->pclr.bytes && boxes->cmap.bytes;
    uint32_t channels = components;
    if (has_palette) {
        layout->entry_bytes = entry_bytes(boxes->pclr);
        if (layout->entry_bytes) layout->entries = ic_jp2_number(boxes->pclr.bytes, 2);
        channels = (uint32_t)(boxes->cmap.size / MAPPING_BYTES);
        if (layout->entries == 0 || channels == 0) {
            return ic_fail(error, IC_DAMAGED, "The JPEG 2000's palette is damaged");
        }
    }
    roles found = find_roles(boxes->cdef, channels, layout);
    for (int i = 0; i < (layout->alpha == IC_JP2_OPAQUE ? 3 : 4); i++) {
        uint32_t index = i == 3 ? found.alpha : found.color[layout->colors == 3 ? i : 0];
        layout->channels[i] = (ic_jp2_channel){.component = index};
        if (!has_palette) continue;
        if (!map(boxes->pclr, boxes->cmap.bytes + (size_t)index * MAPPING_BYTES, components, &layout->channels[i])) {
            return ic_fail(error, IC_DAMAGED, "The JPEG 2000's palette is damaged");
        }
    }
    return IC_OK;
}

uint32_t ic_jp2_palette_number(const ic_jp2_layout *layout, const ic_jp2_channel *channel, int64_t index) {
    size_t entry = index < 0 ? 0 : index >= layout->entries ? layout->entries - 1 : (size_t)index;
    uint32_t value = ic_jp2_number(channel->column + entry * layout->entry_bytes, (channel->bits + 7) / 8);
    uint32_t largest = (uint32_t)((UINT64_C(1) << channel->bits) - 1);
    // A number below 0 becomes one of the lower half.
    return (channel->is_signed ? value ^ (largest / 2 + 1) : value) & largest;
}
