#include "ic_heif_boxes.h"

#include <stdlib.h>
#include <string.h>

enum {
    /// The library reads no more items.
    MOST_ITEMS = 20000,
    /// A grid of overlays of grids, each with a picture of its alpha, is less.
    MOST_DEPTH = 6,
    /// Items may share bytes, such as tiles that are all white; not as often as this.
    MOST_SHARES = 8,
    SHARED_ANYWAY = 1 << 20,
    COLOR_BYTES = 8
};

#define KIND(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static const uint32_t meta_box = KIND('m', 'e', 't', 'a'), primary_item = KIND('p', 'i', 't', 'm');
static const uint32_t item_list = KIND('i', 'i', 'n', 'f'), item_entry = KIND('i', 'n', 'f', 'e');
static const uint32_t references_box = KIND('i', 'r', 'e', 'f'), user_box = KIND('u', 'u', 'i', 'd');
static const uint32_t places_box = KIND('i', 'l', 'o', 'c'), data_box = KIND('i', 'd', 'a', 't');
static const uint32_t made_of = KIND('d', 'i', 'm', 'g'), belongs_to = KIND('a', 'u', 'x', 'l');
static const uint32_t grid = KIND('g', 'r', 'i', 'd'), overlay = KIND('i', 'o', 'v', 'l');
static const uint32_t hevc = KIND('h', 'v', 'c', '1'), av1 = KIND('a', 'v', '0', '1');

typedef struct reader {
    const uint8_t *at;
    size_t left;
    int is_short;
} reader;

/// The next number, big-endian; 0 where it is not whole.
static uint64_t take(reader *from, size_t bytes) {
    if (from->left < bytes) {
        from->is_short = 1;
        from->left = 0;
        return 0;
    }
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++) number = number << 8 | from->at[i];
    from->at += bytes;
    from->left -= bytes;
    return number;
}

typedef struct box {
    uint32_t kind;
    reader body;
} box;

/// The next box that is whole, as only those are read by the library; 0 at the end.
static int next(reader *from, box *found) {
    reader rest = *from;
    uint64_t size = take(&rest, 4);
    found->kind = (uint32_t)take(&rest, 4);
    if (size == 1) size = take(&rest, 8);
    if (found->kind == user_box) {
        take(&rest, 8);
        take(&rest, 8);
    }
    size_t head = from->left - rest.left;
    if (rest.is_short) return 0;
    if (size == 0) size = from->left;
    if (size < head || size > from->left) return 0;
    found->body = (reader){.at = rest.at, .left = (size_t)size - head};
    from->at += size;
    from->left -= (size_t)size;
    return 1;
}

/// The first of a kind, as the library takes it.
static reader first(reader in, uint32_t kind) {
    box found;
    while (next(&in, &found)) {
        if (found.kind == kind) return found.body;
    }
    return (reader){0};
}

typedef struct item {
    uint32_t id;
    uint32_t kind;
    /// How many pictures are waited for while this one is made.
    int depth;
} item;

typedef struct items {
    item *all;
    size_t count;
    uint32_t main_id;
} items;

static int compare(const void *left, const void *right) {
    uint32_t a = ((const item *)left)->id, b = ((const item *)right)->id;
    return a < b ? -1 : a > b;
}

static item *find(items among, uint64_t id) {
    item key = {.id = (uint32_t)id};
    return among.count == 0 ? NULL : bsearch(&key, among.all, among.count, sizeof key, compare);
}

static ic_status damaged(ic_error *error, const char *why) { return ic_fail(error, IC_DAMAGED, "HEIF: %s", why); }

static ic_status read_items(reader list, items *into, ic_heif_boxes *boxes, ic_error *error) {
    uint64_t version = take(&list, 4) >> 24;
    take(&list, version == 0 ? 2 : 4);
    box entry;
    reader counting = list;
    size_t room = 0;
    while (next(&counting, &entry)) room += entry.kind == item_entry;
    if (room > MOST_ITEMS) return ic_fail(error, IC_LIMIT, "HEIF: its items are more than %d", MOST_ITEMS);
    into->all = calloc(room + 1, sizeof *into->all);
    if (!into->all) return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for the items of a HEIF");
    while (next(&list, &entry)) {
        if (entry.kind != item_entry) continue;
        version = take(&entry.body, 4) >> 24;
        // Those before say no kind, and hold no pictures.
        if (version < 2) continue;
        item found = {.id = (uint32_t)take(&entry.body, version == 2 ? 2 : 4)};
        take(&entry.body, 2);
        found.kind = (uint32_t)take(&entry.body, 4);
        boxes->has_hevc |= found.kind == hevc;
        boxes->has_av1 |= found.kind == av1;
        into->all[into->count++] = found;
    }
    qsort(into->all, into->count, sizeof *into->all, compare);
    for (size_t i = 1; i < into->count; i++) {
        if (into->all[i].id == into->all[i - 1].id) return damaged(error, "two of its items have the same number");
    }
    return IC_OK;
}

/// The picture that waits for the other is one deeper at least. Whether one has become so.
static int deepen(item *waiting, const item *other) {
    if (!waiting || !other || waiting->depth > other->depth) return 0;
    waiting->depth = other->depth + 1;
    return 1;
}

/// Follows each reference once. Whether a picture has become deeper; -1 where they are not whole.
static int follow(reader references, items among) {
    size_t id_bytes = take(&references, 4) >> 24 == 0 ? 2 : 4;
    int is_deeper = 0;
    box reference;
    while (next(&references, &reference)) {
        reader *body = &reference.body;
        item *from = find(among, take(body, id_bytes));
        uint64_t count = take(body, 2);
        for (uint64_t i = 0; i < count; i++) {
            item *to = find(among, take(body, id_bytes));
            if (body->is_short) return -1;
            if (reference.kind == made_of) is_deeper |= deepen(from, to);
            if (reference.kind == belongs_to) is_deeper |= deepen(to, from);
        }
        // The library goes on behind the last number, whatever the box's size.
        if (body->is_short || body->left > 0) return -1;
    }
    return references.left > 0 ? -1 : is_deeper;
}

static ic_status measure_depth(reader references, items among, ic_heif_boxes *boxes, ic_error *error) {
    if (!references.at) return IC_OK;
    int is_deeper = 1;
    for (int depth = 0; is_deeper && depth <= MOST_DEPTH; depth++) {
        is_deeper = follow(references, among);
        if (is_deeper < 0) return damaged(error, "what its pictures are made of is not whole");
    }
    if (is_deeper) return damaged(error, "a picture is made of itself, or of others of others without end");
    const item *main = find(among, among.main_id);
    if (main) boxes->depth = main->depth;
    return IC_OK;
}

/// The size of what is put together, from the bytes that say how (23008-12, 6.6.2).
static ic_status measure_canvas(
    const ic_picture_source *source, const item *canvas, int is_main, reader how, ic_heif_boxes *boxes,
    ic_error *error) {
    take(&how, 1);
    size_t number_bytes = take(&how, 1) & 1 ? 4 : 2;
    if (canvas->kind == grid) {
        int rows = (int)take(&how, 1) + 1, columns = (int)take(&how, 1) + 1;
        if (is_main) boxes->tiles = rows * columns;
    } else {
        take(&how, COLOR_BYTES);
    }
    uint32_t width = (uint32_t)take(&how, number_bytes), height = (uint32_t)take(&how, number_bytes);
    if (how.is_short) return damaged(error, "how a picture is put together is not whole");
    int64_t pixels = ic_picture_bytes(width, height, 1);
    if (pixels > boxes->canvas_pixels) boxes->canvas_pixels = pixels;
    return ic_check_pixels(source, width, height, error);
}

/// The sizes in bytes of an item's fields.
typedef struct widths {
    size_t id, offset, length, base, index;
} widths;

/// The library passes over others as if they were none.
static int is_width(size_t bytes) { return bytes == 0 || bytes == 4 || bytes == 8; }

/// Adds up one item's bytes, and measures it where a picture is put together by it.
static ic_status read_place(
    const ic_picture_source *source, reader *places, uint64_t version, widths bytes, reader data, items among,
    ic_heif_boxes *boxes, ic_error *error) {
    const item *of = find(among, take(places, bytes.id));
    uint64_t method = version >= 1 ? take(places, 2) & 0xF : 0;
    take(places, 2);
    uint64_t base = take(places, bytes.base), extents = take(places, 2);
    for (uint64_t i = 0; i < extents && !places->is_short; i++) {
        take(places, bytes.index);
        uint64_t offset = take(places, bytes.offset), length = take(places, bytes.length);
        // More is not read.
        if (length <= source->size) boxes->item_bytes = ic_sum(boxes->item_bytes, (int64_t)length);
        if (i > 0 || !of || (of->kind != grid && of->kind != overlay)) continue;
        reader whole = {.at = source->bytes, .left = source->size};
        if (method == 1) whole.at = data.at, whole.left = data.left;
        uint64_t start;
        if (__builtin_add_overflow(base, offset, &start) || start > whole.left) start = whole.left;
        whole.left -= (size_t)start;
        if (whole.left > 0) whole.at += start;
        if (length < whole.left) whole.left = (size_t)length;
        ic_status status = measure_canvas(source, of, of->id == among.main_id, whole, boxes, error);
        if (status != IC_OK) return status;
    }
    return IC_OK;
}

static ic_status read_places(
    const ic_picture_source *source, reader places, reader data, items among, ic_heif_boxes *boxes, ic_error *error) {
    uint64_t version = take(&places, 4) >> 24, sizes = take(&places, 2);
    widths bytes = {
        .id = version < 2 ? 2 : 4,
        .offset = sizes >> 12 & 0xF,
        .length = sizes >> 8 & 0xF,
        .base = sizes >> 4 & 0xF,
        .index = version > 1 ? sizes & 0xF : 0,
    };
    if (!is_width(bytes.offset) || !is_width(bytes.length) || !is_width(bytes.base) || !is_width(bytes.index)) {
        return damaged(error, "where its items are is in numbers of other than 0, 4 or 8 bytes");
    }
    uint64_t count = take(&places, bytes.id);
    for (uint64_t i = 0; i < count && !places.is_short; i++) {
        ic_status status = read_place(source, &places, version, bytes, data, among, boxes, error);
        if (status != IC_OK) return status;
    }
    int64_t most = ic_sum(ic_picture_bytes((int64_t)source->size, MOST_SHARES, 1), SHARED_ANYWAY);
    if (boxes->item_bytes > most) {
        return ic_fail(
            error, IC_DAMAGED, "HEIF: its items take %lld bytes of a file of %zu", (long long)boxes->item_bytes,
            source->size);
    }
    return IC_OK;
}

ic_status ic_heif_read_boxes(const ic_picture_source *source, ic_heif_boxes *boxes, ic_error *error) {
    *boxes = (ic_heif_boxes){.tiles = 1};
    reader file = {.at = source->bytes, .left = source->size}, meta = {0};
    box found;
    while (next(&file, &found)) {
        if (found.kind != meta_box) continue;
        if (meta.at) return damaged(error, "it has two boxes 'meta'");
        meta = found.body;
        take(&meta, 4);
    }
    reader primary = first(meta, primary_item);
    items among = {.main_id = (uint32_t)take(&primary, take(&primary, 4) >> 24 == 0 ? 2 : 4)};
    ic_status status = read_items(first(meta, item_list), &among, boxes, error);
    if (status == IC_OK) status = measure_depth(first(meta, references_box), among, boxes, error);
    if (status == IC_OK) {
        status = read_places(source, first(meta, places_box), first(meta, data_box), among, boxes, error);
    }
    free(among.all);
    return status;
}
