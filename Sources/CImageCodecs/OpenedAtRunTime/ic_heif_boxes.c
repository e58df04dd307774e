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
    COLOR_BYTES = 8,
    /// Layers of all overlays together: the library does not stop between them.
    MOST_LAYERS = 256,
    MOST_BOXES = 1000,
    MOST_TRACKS = 16,
    MOST_BOX_BYTES = 1 << 20,
    /// Where the kind of colour and the bits of light and of colour stand in the configuration of HEVC (ISO/IEC 14496-15,
    /// 8.3.3.1).
    HEVC_CHROMA = 16,
    HEVC_LIGHT_BITS = 17,
    /// What stands before the boxes in the description of a track's pictures (14496-12, 12.1.3).
    SAMPLE_ENTRY_BYTES = 78,
    /// From the corner of a picture to that of a part, to the side.
    FARTHEST = 1 << 24
};

/// The four letters that a kind of box, item or reference is told by.
#define KIND(letters)                                                                                                  \
    ((uint32_t)(letters)[0] << 24 | (uint32_t)(letters)[1] << 16 | (uint32_t)(letters)[2] << 8 | (uint32_t)(letters)[3])

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
    if (found->kind == KIND("uuid")) {
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
    /// A picture belongs to it, such as that of its alpha.
    int has_auxiliary;
} item;

typedef struct survey {
    const ic_picture_source *source;
    /// By their numbers.
    item *items;
    size_t count;
    uint32_t main_id;
    /// What lies among the boxes.
    reader data;
    ic_heif_boxes *boxes;
    ic_error *error;
} survey;

static int compare(const void *left, const void *right) {
    uint32_t a = ((const item *)left)->id, b = ((const item *)right)->id;
    return a < b ? -1 : a > b;
}

static item *find(const survey *among, uint64_t id) {
    item key = {.id = (uint32_t)id};
    return among->count == 0 ? NULL : bsearch(&key, among->items, among->count, sizeof key, compare);
}

static ic_status damaged(const survey *of, const char *why) { return ic_fail(of->error, IC_DAMAGED, "HEIF: %s", why); }

/// Behind a text that ends with 0.
static void skip_text(reader *from) {
    while (from->left > 0 && take(from, 1) != 0) {}
}

/// Whether the library would inflate an item, which may come out as anything.
static int is_packed(reader behind_kind) {
    static const char packed[] = "deflate";
    skip_text(&behind_kind);
    skip_text(&behind_kind);
    return behind_kind.left >= sizeof packed - 1 && memcmp(behind_kind.at, packed, sizeof packed - 1) == 0;
}

static ic_status read_items(survey *into, reader list) {
    uint64_t version = take(&list, 4) >> 24;
    take(&list, version == 0 ? 2 : 4);
    box entry;
    reader counting = list;
    size_t room = 0;
    while (next(&counting, &entry)) room += entry.kind == KIND("infe");
    if (room > MOST_ITEMS) return ic_fail(into->error, IC_LIMIT, "HEIF: its items are more than %d", MOST_ITEMS);
    into->items = calloc(room + 1, sizeof *into->items);
    if (!into->items) return ic_fail(into->error, IC_OUT_OF_MEMORY, "No memory for the items of a HEIF");
    while (next(&list, &entry)) {
        if (entry.kind != KIND("infe")) continue;
        version = take(&entry.body, 4) >> 24;
        item found = {.id = (uint32_t)take(&entry.body, version <= 2 ? 2 : 4)};
        take(&entry.body, 2);
        // Those before say no kind, and hold no pictures.
        if (version >= 2) found.kind = (uint32_t)take(&entry.body, 4);
        if (found.kind == KIND("mime") && is_packed(entry.body)) {
            return ic_fail(into->error, IC_UNSUPPORTED, "HEIF with metadata that is packed is not read");
        }
        into->boxes->has_hevc |= found.kind == KIND("hvc1");
        into->boxes->has_av1 |= found.kind == KIND("av01");
        into->items[into->count++] = found;
    }
    qsort(into->items, into->count, sizeof *into->items, compare);
    for (size_t i = 1; i < into->count; i++) {
        if (into->items[i].id == into->items[i - 1].id) return damaged(into, "two of its items have the same number");
    }
    return IC_OK;
}

/// The picture that waits for the other is one deeper at least. Whether one has become so.
static int deepen(item *waiting, const item *other) {
    if (!waiting || !other || waiting->depth > other->depth) return 0;
    waiting->depth = other->depth + 1;
    return 1;
}

static int is_made(uint32_t kind) { return kind == KIND("grid") || kind == KIND("iovl") || kind == KIND("iden"); }

/// Whether libheif can take the other one for a part. It takes whatever is referred to, but for a grid, and alpha of whatever
/// size.
static ic_status check_part(const survey *of, const item *whole, const item *part) {
    if (!whole || !is_made(whole->kind)) return IC_OK;
    int is_picture = part && (is_made(part->kind) || part->kind == KIND("hvc1") || part->kind == KIND("av01"));
    if (!is_picture && whole->kind != KIND("grid")) return damaged(of, "a picture is made of what is none");
    if (!is_picture || !part->has_auxiliary) return IC_OK;
    return ic_fail(
        of->error, IC_UNSUPPORTED, "HEIF with a picture made of others that have such as alpha or depth is not read");
}

/// Follows each reference once, and says whether a picture has become deeper.
static ic_status follow(const survey *among, reader references, int *is_deeper) {
    size_t id_bytes = take(&references, 4) >> 24 == 0 ? 2 : 4;
    *is_deeper = 0;
    ic_status status = IC_OK;
    int layers = 0;
    box reference;
    while (status == IC_OK && next(&references, &reference)) {
        reader *body = &reference.body;
        item *from = find(among, take(body, id_bytes));
        uint64_t count = take(body, 2);
        if (reference.kind == KIND("cdsc") && from && (from->kind == KIND("hvc1") || from->kind == KIND("av01"))) {
            return damaged(among, "a picture is said to be a text about one");
        }
        for (uint64_t i = 0; i < count && status == IC_OK && !body->is_short; i++) {
            item *to = find(among, take(body, id_bytes));
            if (reference.kind == KIND("dimg")) {
                status = check_part(among, from, to);
                *is_deeper |= deepen(from, to);
                int is_of_main = from && to && from->id == among->main_id;
                if (is_of_main && to->depth >= among->boxes->depth) among->boxes->depth = to->depth + 1;
                if (from && from->kind == KIND("iovl") && ++layers > MOST_LAYERS) {
                    return damaged(among, "its pictures lie over each other in too many layers");
                }
            } else if (reference.kind == KIND("auxl")) {
                if (to) to->has_auxiliary = 1;
                *is_deeper |= deepen(to, from);
            }
        }
        // libheif goes on behind the last number, whatever the box's size.
        if (body->is_short || body->left > 0) references.is_short = 1;
    }
    if (status != IC_OK) return status;
    if (references.is_short || references.left > 0) return damaged(among, "what its pictures are made of is not whole");
    return IC_OK;
}

static ic_status measure_depth(const survey *among, reader references) {
    if (!references.at) return IC_OK;
    int is_deeper = 1;
    for (int depth = 0; is_deeper && depth <= MOST_DEPTH; depth++) {
        ic_status status = follow(among, references, &is_deeper);
        if (status != IC_OK) return status;
    }
    if (is_deeper) return damaged(among, "a picture is made of itself, or of others of others without end");
    const item *main = find(among, among->main_id);
    if (main) among->boxes->full_depth = main->depth;
    return IC_OK;
}

/// The most that a side of a tile may have: one tile less would not do (ISO/IEC 23000-22, 7.3.11.4.2).
static int64_t tile_side(int64_t side, int tiles) {
    int64_t most = (tiles > 1 ? side / (tiles - 1) : side) + IC_LARGEST_BLOCK;
    return most < IC_TILE_SIDE ? IC_TILE_SIDE : most;
}

/// The size of what is put together, from the bytes that say how (23008-12, 6.6.2).
static ic_status measure_canvas(const survey *of, const item *canvas, reader how) {
    ic_heif_boxes *boxes = of->boxes;
    take(&how, 1);
    size_t number_bytes = take(&how, 1) & 1 ? 4 : 2;
    int rows = 0, columns = 0;
    if (canvas->kind == KIND("grid")) {
        rows = (int)take(&how, 1) + 1;
        columns = (int)take(&how, 1) + 1;
    } else {
        take(&how, COLOR_BYTES);
    }
    uint32_t width = (uint32_t)take(&how, number_bytes), height = (uint32_t)take(&how, number_bytes);
    if (how.is_short) return damaged(of, "how a picture is put together is not whole");
    // The places of the layers, which libheif adds up and negates whatever they are.
    while (canvas->kind == KIND("iovl") && number_bytes == 4 && how.left >= number_bytes) {
        int32_t place = (int32_t)take(&how, number_bytes);
        if (place > FARTHEST || place < -FARTHEST) return damaged(of, "a part of a picture is too far outside of it");
    }
    // The least that libheif makes a side of.
    int64_t pixels = ic_picture_bytes((int64_t)width + IC_LARGEST_BLOCK, (int64_t)height + IC_LARGEST_BLOCK, 1);
    if (pixels > boxes->canvas_pixels) boxes->canvas_pixels = pixels;
    if (rows * columns > boxes->tiles) boxes->tiles = rows * columns;
    if (canvas->kind == KIND("grid") && canvas->id == of->main_id) {
        boxes->tile_pixels = ic_picture_bytes(tile_side(width, columns), tile_side(height, rows), 1);
    }
    if (width > IC_MAX_SIDE || height > IC_MAX_SIDE) {
        return ic_fail(of->error, IC_LIMIT, "HEIF: a side of %u × %u pixels is too long", width, height);
    }
    return ic_check_pixels(of->source, width, height, of->error);
}

/// The sizes in bytes of an item's fields.
typedef struct widths {
    size_t id, offset, length, base, index;
} widths;

/// The library passes over others as if they were none.
static int is_width(size_t bytes) { return bytes == 0 || bytes == 4 || bytes == 8; }

/// What lies at an item's place; nothing where that is not whole.
static reader contents(const survey *of, uint64_t method, uint64_t base, uint64_t offset, uint64_t length) {
    reader whole = {.at = of->source->bytes, .left = of->source->size};
    if (method == 1) whole = of->data;
    uint64_t start;
    if (__builtin_add_overflow(base, offset, &start) || start > whole.left || length > whole.left - start) {
        return (reader){0};
    }
    return (reader){.at = whole.at ? whole.at + start : NULL, .left = (size_t)length};
}

/// Adds up one item's bytes, and measures it where a picture is put together by it.
static ic_status read_place(const survey *of, reader *places, uint64_t version, widths bytes) {
    const item *canvas = find(of, take(places, bytes.id));
    if (canvas && canvas->kind != KIND("grid") && canvas->kind != KIND("iovl")) canvas = NULL;
    uint64_t method = version >= 1 ? take(places, 2) & 0xF : 0;
    take(places, 2);
    uint64_t base = take(places, bytes.base), extents = take(places, 2);
    // The library passes over those that are not whole.
    if (canvas && extents != 1) return damaged(of, "how a picture is put together is in pieces");
    for (uint64_t i = 0; i < extents && !places->is_short; i++) {
        take(places, bytes.index);
        uint64_t offset = take(places, bytes.offset), length = take(places, bytes.length);
        // More is not read.
        if (length <= of->source->size) of->boxes->item_bytes = ic_sum(of->boxes->item_bytes, (int64_t)length);
        ic_status status = canvas ? measure_canvas(of, canvas, contents(of, method, base, offset, length)) : IC_OK;
        if (status != IC_OK) return status;
    }
    return IC_OK;
}

static ic_status read_places(const survey *of, reader places) {
    uint64_t version = take(&places, 4) >> 24, sizes = take(&places, 2);
    widths bytes = {
        .id = version < 2 ? 2 : 4,
        .offset = sizes >> 12 & 0xF,
        .length = sizes >> 8 & 0xF,
        .base = sizes >> 4 & 0xF,
        .index = version > 0 ? sizes & 0xF : 0,
    };
    if (!is_width(bytes.offset) || !is_width(bytes.length) || !is_width(bytes.base) || !is_width(bytes.index)) {
        return damaged(of, "where its items are is in numbers of other than 0, 4 or 8 bytes");
    }
    // libheif does not know of them there.
    if (version == 1 && bytes.index > 0) return damaged(of, "its items have numbers that their version has not");
    uint64_t count = take(&places, bytes.id);
    // The libraries keep some kilobytes for each.
    if (count > of->count) return damaged(of, "more of its items have a place than there are");
    for (uint64_t i = 0; i < count && !places.is_short; i++) {
        ic_status status = read_place(of, &places, version, bytes);
        if (status != IC_OK) return status;
    }
    if (places.is_short) return damaged(of, "where its items are is not whole");
    int64_t taken = of->boxes->item_bytes;
    if (taken <= ic_sum(ic_picture_bytes((int64_t)of->source->size, MOST_SHARES, 1), SHARED_ANYWAY)) return IC_OK;
    return ic_fail(
        of->error, IC_DAMAGED, "HEIF: its items take %lld bytes of a file of %zu", (long long)taken, of->source->size);
}

static int is_alpha(reader kind) {
    static const char *const names[] = {
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (kind.left >= length && memcmp(kind.at, names[i], length) == 0) return 1;
    }
    return 0;
}

/// Looks at what the first track that belongs to another one is (ISO/IEC 23008-12, 7.5.3): libavif takes it for alpha.
static void read_tracks(ic_heif_boxes *boxes, reader movie) {
    box track, entry;
    while (next(&movie, &track)) {
        if (track.kind != KIND("trak")) continue;
        boxes->has_tracks = 1;
        if (!first(first(track.body, KIND("tref")), KIND("auxl")).at) continue;
        reader table = first(first(first(track.body, KIND("mdia")), KIND("minf")), KIND("stbl"));
        reader descriptions = first(table, KIND("stsd"));
        take(&descriptions, 4);
        take(&descriptions, 4);
        if (!next(&descriptions, &entry) || entry.body.left < SAMPLE_ENTRY_BYTES) return;
        entry.body.at += SAMPLE_ENTRY_BYTES;
        entry.body.left -= SAMPLE_ENTRY_BYTES;
        reader kind = first(entry.body, KIND("auxi"));
        // Older files say nothing more of their alpha.
        if (!kind.at) return;
        take(&kind, 4);
        boxes->has_other_track = !is_alpha(kind);
        return;
    }
}

/// Adds up what boxes the libraries make something of.
static ic_status measure_boxes(const survey *of, reader meta, reader movie) {
    ic_heif_boxes *boxes = of->boxes;
    reader properties = first(first(meta, KIND("iprp")), KIND("ipco"));
    box found;
    while (next(&properties, &found)) {
        reader body = found.body;
        if (found.kind == KIND("colr")) boxes->profile_bytes += (int64_t)body.left;
        if (found.kind == KIND("hvcC") && body.left > HEVC_LIGHT_BITS + 1) {
            boxes->has_colors |= body.at[HEVC_CHROMA] & 3;
            boxes->is_deep |= (body.at[HEVC_LIGHT_BITS] & 7) || (body.at[HEVC_LIGHT_BITS + 1] & 7);
        }
        if (found.kind == KIND("pixi")) {
            take(&body, 4);
            for (uint64_t channels = take(&body, 1); channels > 0; channels--) boxes->is_deep |= take(&body, 1) > 8;
        }
    }
    read_tracks(boxes, movie);
    size_t tracks = 0;
    boxes->box_bytes = (int64_t)(meta.left - of->data.left + movie.left) - boxes->profile_bytes;
    while (next(&movie, &found)) tracks += found.kind == KIND("trak");
    if (tracks <= MOST_TRACKS && boxes->box_bytes <= MOST_BOX_BYTES) return IC_OK;
    return ic_fail(of->error, IC_LIMIT, "HEIF: its boxes are too many");
}

ic_status ic_heif_read_boxes(const ic_picture_source *source, ic_heif_boxes *boxes, ic_error *error) {
    *boxes = (ic_heif_boxes){.tiles = 1};
    survey all = {.source = source, .boxes = boxes, .error = error};
    reader file = {.at = source->bytes, .left = source->size}, meta = {0}, movie = {0};
    box found;
    for (int count = 0; next(&file, &found); count++) {
        if (count == MOST_BOXES) return ic_fail(error, IC_LIMIT, "HEIF: its boxes are too many");
        reader *kept = found.kind == KIND("meta") ? &meta : found.kind == KIND("moov") ? &movie : NULL;
        if (!kept) continue;
        if (kept->at) return damaged(&all, "it has two boxes of a kind that there is one of");
        *kept = found.body;
    }
    take(&meta, 4);
    reader primary = first(meta, KIND("pitm"));
    all.main_id = (uint32_t)take(&primary, take(&primary, 4) >> 24 == 0 ? 2 : 4);
    all.data = first(meta, KIND("idat"));
    ic_status status = measure_boxes(&all, meta, movie);
    if (status == IC_OK) status = read_items(&all, first(meta, KIND("iinf")));
    boxes->items = all.count;
    if (status == IC_OK) status = measure_depth(&all, first(meta, KIND("iref")));
    if (status == IC_OK) status = read_places(&all, first(meta, KIND("iloc")));
    free(all.items);
    return status;
}
