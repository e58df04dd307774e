#include "include/ic_exif.h"

#include <stdlib.h>
#include <string.h>

#include <libexif/exif-data.h>

static const uint8_t prefix[6] = {'E', 'x', 'i', 'f', 0, 0};

/// Sets the first number of an entry that is there, in the form it has.
static void set_number(ExifData *data, ExifIfd directory, ExifTag tag, uint32_t value) {
    ExifEntry *entry = exif_content_get_entry(data->ifd[directory], tag);
    if (!entry || !entry->data) return;
    ExifByteOrder order = exif_data_get_byte_order(data);
    if (entry->format == EXIF_FORMAT_LONG && entry->size >= 4) {
        exif_set_long(entry->data, order, value);
    } else if (entry->format == EXIF_FORMAT_SHORT && entry->size >= 2 && value <= UINT16_MAX) {
        exif_set_short(entry->data, order, (ExifShort)value);
    } else {
        exif_content_remove_entry(data->ifd[directory], entry);
    }
}

static void remove_all(ExifContent *content) {
    while (content->count) exif_content_remove_entry(content, content->entries[content->count - 1]);
}

/// The second directory describes the thumbnail and nothing else.
static void drop_thumbnail(ExifData *data) {
    remove_all(data->ifd[EXIF_IFD_1]);
    // Reserved with the library's default functions, which are the C library's.
    free(data->data);
    data->data = NULL;
    data->size = 0;
}

static void exchange_resolutions(ExifContent *directory) {
    ExifEntry *x = exif_content_get_entry(directory, EXIF_TAG_X_RESOLUTION);
    ExifEntry *y = exif_content_get_entry(directory, EXIF_TAG_Y_RESOLUTION);
    uint8_t ratio[8];
    if (!x || !y || !x->data || !y->data || x->size != sizeof ratio || y->size != sizeof ratio) return;
    memcpy(ratio, x->data, sizeof ratio);
    memcpy(x->data, y->data, sizeof ratio);
    memcpy(y->data, ratio, sizeof ratio);
}

static unsigned count_entries(const ExifData *data) {
    unsigned count = 0;
    for (int i = 0; i < EXIF_IFD_COUNT; i++) count += data->ifd[i] ? data->ifd[i]->count : 0;
    return count;
}

static ExifData *load(const uint8_t *exif, size_t size) {
    uint8_t *framed = malloc(size + sizeof prefix);
    if (!framed) return NULL;
    memcpy(framed, prefix, sizeof prefix);
    memcpy(framed + sizeof prefix, exif, size);
    ExifData *data = exif_data_new();
    if (data) {
        exif_data_unset_option(data, EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS);
        exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
        exif_data_load_data(data, framed, (unsigned)(size + sizeof prefix));
    }
    free(framed);
    return data;
}

/// A copy of what is there, without its prefix, to be given back with `free`; NULL where nothing is. Ends the data.
static uint8_t *saved_copy(ExifData *data, size_t *copy_size) {
    uint8_t *saved = NULL, *edited = NULL;
    unsigned saved_size = 0;
    if (count_entries(data) > 0) exif_data_save_data(data, &saved, &saved_size);
    if (saved && saved_size > sizeof prefix) {
        *copy_size = saved_size - sizeof prefix;
        edited = malloc(*copy_size);
        if (edited) memcpy(edited, saved + sizeof prefix, *copy_size);
    }
    free(saved);
    exif_data_unref(data);
    return edited;
}

static ExifEntry *interoperability_index(ExifData *data) {
    ExifEntry *entry =
        exif_content_get_entry(data->ifd[EXIF_IFD_INTEROPERABILITY], EXIF_TAG_INTEROPERABILITY_INDEX);
    return entry && entry->data && entry->format == EXIF_FORMAT_ASCII && entry->size >= 3 ? entry : NULL;
}

static int has_index(ExifData *data, const char *index) {
    ExifEntry *entry = interoperability_index(data);
    return entry && memcmp(entry->data, index, 3) == 0;
}

static void set_index(ExifData *data, const char *index) {
    ExifEntry *entry = interoperability_index(data);
    if (entry) memcpy(entry->data, index, 3);
}

int ic_exif_is_adobe_rgb(const uint8_t *exif, size_t size) {
    if (size > UINT32_MAX / 2) return 0;
    ExifData *data = load(exif, size);
    if (!data) return 0;
    ExifEntry *space = exif_content_get_entry(data->ifd[EXIF_IFD_EXIF], EXIF_TAG_COLOR_SPACE);
    int is_srgb = space && space->data && space->format == EXIF_FORMAT_SHORT && space->size >= 2 &&
        exif_get_short(space->data, exif_data_get_byte_order(data)) == 1;
    int answer = !is_srgb && has_index(data, "R03");
    exif_data_unref(data);
    return answer;
}

uint8_t *ic_exif_copy_edited(
    const uint8_t *exif, size_t size, uint32_t width, uint32_t height, int is_transposed, ic_exif_color color,
    size_t *edited_size) {
    if (size > UINT32_MAX / 2) return NULL;
    ExifData *data = load(exif, size);
    if (!data) return NULL;
    drop_thumbnail(data);
    set_number(data, EXIF_IFD_0, EXIF_TAG_ORIENTATION, 1);
    set_number(data, EXIF_IFD_0, EXIF_TAG_IMAGE_WIDTH, width);
    set_number(data, EXIF_IFD_0, EXIF_TAG_IMAGE_LENGTH, height);
    set_number(data, EXIF_IFD_EXIF, EXIF_TAG_PIXEL_X_DIMENSION, width);
    set_number(data, EXIF_IFD_EXIF, EXIF_TAG_PIXEL_Y_DIMENSION, height);
    if (is_transposed) exchange_resolutions(data->ifd[EXIF_IFD_0]);
    if (color != IC_EXIF_COLOR_KEPT) {
        set_number(data, EXIF_IFD_EXIF, EXIF_TAG_COLOR_SPACE, color == IC_EXIF_COLOR_SRGB ? 1 : 0xFFFF);
        if (has_index(data, "R03")) {
            if (color == IC_EXIF_COLOR_SRGB) set_index(data, "R98");
            else remove_all(data->ifd[EXIF_IFD_INTEROPERABILITY]);
        }
    }
    return saved_copy(data, edited_size);
}

// Tags that libexif has no names for (Exif 2.32 and Microsoft's).
enum { TAG_OWNER_NAME = 0xA430, TAG_XP_TITLE = 0x9C9B, TAG_XP_SUBJECT = 0x9C9F, TAG_RATING = 0x4746 };

// Which part of the metadata an entry belongs to: the place of `MetadataGroup` among all.
static unsigned group_of(ExifIfd directory, unsigned tag) {
    enum { GPS, CAMERA, DATES, COPYRIGHT, ARTIST, DESCRIPTION, OTHER };
    if (directory == EXIF_IFD_GPS) return GPS;
    switch (tag) {
    case EXIF_TAG_DATE_TIME:
    case EXIF_TAG_DATE_TIME_ORIGINAL:
    case EXIF_TAG_DATE_TIME_DIGITIZED:
    case EXIF_TAG_SUB_SEC_TIME:
    case EXIF_TAG_SUB_SEC_TIME_ORIGINAL:
    case EXIF_TAG_SUB_SEC_TIME_DIGITIZED: return DATES;
    case EXIF_TAG_COPYRIGHT: return COPYRIGHT;
    case EXIF_TAG_ARTIST:
    case EXIF_TAG_XP_AUTHOR:
    case TAG_OWNER_NAME: return ARTIST;
    case EXIF_TAG_IMAGE_DESCRIPTION:
    case EXIF_TAG_USER_COMMENT:
    case EXIF_TAG_XP_COMMENT:
    case EXIF_TAG_XP_KEYWORDS:
    case TAG_XP_TITLE:
    case TAG_XP_SUBJECT:
    case TAG_RATING: return DESCRIPTION;
    case EXIF_TAG_MAKE:
    case EXIF_TAG_MODEL:
    case EXIF_TAG_SOFTWARE: return CAMERA;
    case EXIF_TAG_EXIF_VERSION:
    case EXIF_TAG_COMPONENTS_CONFIGURATION:
    case EXIF_TAG_FLASH_PIX_VERSION:
    case EXIF_TAG_COLOR_SPACE:
    case EXIF_TAG_PIXEL_X_DIMENSION:
    case EXIF_TAG_PIXEL_Y_DIMENSION: return OTHER;
    }
    // OffsetTime and its kin.
    if (tag >= 0x9010 && tag <= 0x9012) return DATES;
    // What is left there is about how it was taken.
    return directory == EXIF_IFD_EXIF ? CAMERA : OTHER;
}

static void set_text(ExifData *data, ExifTag tag, const char *text) {
    if (!text) return;
    ExifContent *content = data->ifd[EXIF_IFD_0];
    ExifEntry *entry = exif_content_get_entry(content, tag);
    if (entry) exif_content_remove_entry(content, entry);
    size_t size = strlen(text) + 1;
    entry = exif_entry_new();
    if (!entry) return;
    // Given back by the entry with the library's default functions, which are the C library's.
    uint8_t *copy = malloc(size);
    if (copy) {
        memcpy(copy, text, size);
        entry->tag = tag;
        entry->format = EXIF_FORMAT_ASCII;
        entry->components = size;
        entry->data = copy;
        entry->size = (unsigned)size;
        exif_content_add_entry(content, entry);
    }
    exif_entry_unref(entry);
}

uint8_t *ic_exif_copy_selected(
    const uint8_t *exif, size_t size, uint32_t kept, const char *artist, const char *copyright, size_t *edited_size) {
    if (size > UINT32_MAX / 2) return NULL;
    ExifData *data = size ? load(exif, size) : exif_data_new();
    if (!data) return NULL;
    if (!size) exif_data_set_byte_order(data, EXIF_BYTE_ORDER_INTEL);
    for (int i = 0; i < EXIF_IFD_COUNT; i++) {
        ExifContent *content = data->ifd[i];
        for (unsigned j = content->count; j > 0; j--) {
            ExifEntry *entry = content->entries[j - 1];
            // Windows shows its own author before the artist.
            int is_replaced = artist && entry->tag == EXIF_TAG_XP_AUTHOR;
            int is_kept = kept >> group_of((ExifIfd)i, entry->tag) & 1;
            if (is_replaced || !is_kept) exif_content_remove_entry(content, entry);
        }
    }
    drop_thumbnail(data);
    set_text(data, EXIF_TAG_ARTIST, artist);
    set_text(data, EXIF_TAG_COPYRIGHT, copyright);
    return saved_copy(data, edited_size);
}
