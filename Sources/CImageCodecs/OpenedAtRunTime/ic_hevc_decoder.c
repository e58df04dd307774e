#include <libde265/de265.h>
#include <libheif/heif_plugin.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ic_heif_boxes.h"
#include "ic_hevc.h"

_Static_assert(LIBDE265_NUMERIC_VERSION < 0x02000000, "libde265.so.0 has the functions of version 1");

#define IC_DE265_FUNCTIONS(FUNCTION)                                                                                   \
    FUNCTION(de265_decode)                                                                                             \
    FUNCTION(de265_flush_data)                                                                                         \
    FUNCTION(de265_free_decoder)                                                                                       \
    FUNCTION(de265_get_bits_per_pixel)                                                                                 \
    FUNCTION(de265_get_chroma_format)                                                                                  \
    FUNCTION(de265_get_error_text)                                                                                     \
    FUNCTION(de265_get_image_colour_primaries)                                                                         \
    FUNCTION(de265_get_image_full_range_flag)                                                                          \
    FUNCTION(de265_get_image_height)                                                                                   \
    FUNCTION(de265_get_image_matrix_coefficients)                                                                      \
    FUNCTION(de265_get_image_plane)                                                                                    \
    FUNCTION(de265_get_image_transfer_characteristics)                                                                 \
    FUNCTION(de265_get_image_width)                                                                                    \
    FUNCTION(de265_get_next_picture)                                                                                   \
    FUNCTION(de265_get_warning)                                                                                        \
    FUNCTION(de265_new_decoder)                                                                                        \
    FUNCTION(de265_push_NAL)

IC_LIBRARY_TABLE(ic_de265, IC_LIBRARY_DE265, IC_DE265_FUNCTIONS)

enum {
    /// Before other decoders that libheif may have, which say 100 or less.
    PRIORITY = 200,
    LENGTH_BYTES = 4,
    HEADER_BYTES = 2,
    /// Kinds of NAL units (ITU-T H.265, table 7-1).
    IDR_W_RADL = 19,
    IDR_N_LP = 20,
    LAST_SLICE = 31,
    VIDEO_PARAMETERS = 32,
    SEQUENCE_PARAMETERS = 33,
    PICTURE_PARAMETERS = 34,
    /// For each of them the library keeps tables of a quarter of the picture's bytes; files have one, or another like it.
    MOST_PICTURE_PARAMETERS = 4,
    PROFILE_BITS = 88,
    LEVEL_BITS = 8
};

typedef struct decoder {
    de265_decoder_context *context;
    int64_t bytes;
    int picture_parameters;
    int has_picture;
    int is_whole;
} decoder;

/// What the plugin's functions use, set before libheif is told of them.
static const ic_heif_table *heif;
static const ic_de265_table *de265;
static _Thread_local ic_hevc_watch *watching;

void ic_hevc_begin(ic_hevc_watch *watch) { watching = watch; }

void ic_hevc_end(void) { watching = NULL; }

static struct heif_error done(void) { return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, "Success"}; }

static struct heif_error failed(const char *reason) {
    return (struct heif_error){heif_error_Decoder_plugin_error, heif_suberror_Unspecified, reason};
}

static struct heif_error unsupported(const char *reason) {
    return (struct heif_error){heif_error_Unsupported_feature, heif_suberror_Unspecified, reason};
}

static const char *get_name(void) { return "libde265, held to what the file says"; }

static int get_priority(enum heif_compression_format format) { return format == heif_compression_HEVC ? PRIORITY : 0; }

static struct heif_error new_decoder(void **made) {
    decoder *new = calloc(1, sizeof *new);
    if (new) new->context = de265->de265_new_decoder();
    if (new && new->context) {
        *made = new;
        return done();
    }
    free(new);
    return (struct heif_error){heif_error_Memory_allocation_error, heif_suberror_Unspecified, "no decoder of HEVC"};
}

static void free_decoder(void *opaque) {
    decoder *old = opaque;
    de265->de265_free_decoder(old->context);
    free(old);
}

/// The bits of a NAL unit, without the bytes that keep its beginnings apart (7.3.1.1).
typedef struct bits {
    const uint8_t *at;
    size_t left;
    int zeros;
    uint8_t byte;
    int unread;
    int is_short;
} bits;

static uint32_t next_bit(bits *from) {
    if (from->unread == 0) {
        if (from->left > 0 && from->zeros >= 2 && *from->at == 3) {
            from->zeros = 0;
            from->at++;
            from->left--;
        }
        if (from->left == 0) {
            from->is_short = 1;
            return 0;
        }
        from->byte = *from->at++;
        from->left--;
        from->zeros = from->byte == 0 ? from->zeros + 1 : 0;
        from->unread = 8;
    }
    return from->byte >> --from->unread & 1;
}

static uint32_t take(bits *from, int count) {
    uint32_t number = 0;
    for (int i = 0; i < count; i++) number = number << 1 | next_bit(from);
    return number;
}

/// A number in the code of Exp-Golomb (9.2).
static uint64_t take_golomb(bits *from) {
    int zeros = 0;
    while (!from->is_short && next_bit(from) == 0) zeros++;
    if (zeros > 31) from->is_short = 1;
    return from->is_short ? 0 : ((uint64_t)1 << zeros) - 1 + take(from, zeros);
}

/// Bytes of the light of a picture by its unit of sequence parameters (7.3.2.2); 0 where it is not whole.
static int64_t coded_bytes(const uint8_t *unit, size_t size) {
    bits from = {.at = unit, .left = size};
    take(&from, 8 * HEADER_BYTES);
    take(&from, 4);
    int layers = (int)take(&from, 3) + 1;
    take(&from, 1);
    take(&from, PROFILE_BITS + LEVEL_BITS);
    int present[8][2] = {{0}};
    for (int i = 0; i < layers - 1; i++) {
        present[i][0] = (int)take(&from, 1);
        present[i][1] = (int)take(&from, 1);
    }
    for (int i = layers - 1; layers > 1 && i < 8; i++) take(&from, 2);
    for (int i = 0; i < layers - 1; i++) {
        if (present[i][0]) take(&from, PROFILE_BITS);
        if (present[i][1]) take(&from, LEVEL_BITS);
    }
    take_golomb(&from);
    if (take_golomb(&from) == 3) take(&from, 1);
    uint64_t width = take_golomb(&from), height = take_golomb(&from);
    // The part that is seen.
    for (int sides = take(&from, 1) ? 4 : 0; sides > 0; sides--) take_golomb(&from);
    uint64_t more_bits = take_golomb(&from), more_color_bits = take_golomb(&from);
    if (from.is_short) return 0;
    if (width > IC_MAX_SIDE || height > IC_MAX_SIDE) return INT64_MAX;
    // The least that libheif makes a side of.
    if (width < IC_LARGEST_BLOCK) width = IC_LARGEST_BLOCK;
    if (height < IC_LARGEST_BLOCK) height = IC_LARGEST_BLOCK;
    return ic_picture_bytes((int64_t)width, (int64_t)height, more_bits > 0 || more_color_bits > 0 ? 2 : 1);
}

static struct heif_error push_unit(decoder *to, const uint8_t *unit, size_t size) {
    if (size <= HEADER_BYTES) return done();
    int kind = unit[0] >> 1 & 0x3F, layer = (unit[0] & 1) << 5 | unit[1] >> 3;
    // Layers above the first are other views of the picture. It keeps the parameters that it began with.
    if (layer > 0 || to->is_whole || (kind > LAST_SLICE && to->has_picture)) return done();
    if (kind <= LAST_SLICE) {
        // What these refer to would be as many pictures again.
        if (kind != IDR_W_RADL && kind != IDR_N_LP) return unsupported("a picture in HEVC that is predicted from others");
        int is_first = unit[HEADER_BYTES] >> 7;
        to->is_whole = is_first && to->has_picture;
        to->has_picture = 1;
        if (to->is_whole) return done();
    } else if (kind == SEQUENCE_PARAMETERS) {
        int64_t bytes = coded_bytes(unit, size);
        if (bytes == 0) return failed("the parameters of a picture in HEVC are not whole");
        watching->is_beyond |= bytes > watching->most_bytes || bytes > watching->bytes_left;
        if (watching->is_beyond) return failed("a picture in HEVC is larger than the file says");
        to->bytes = bytes;
    } else if (kind == PICTURE_PARAMETERS) {
        if (++to->picture_parameters > MOST_PICTURE_PARAMETERS) return failed("a picture in HEVC with too many parameters");
    } else if (kind != VIDEO_PARAMETERS) {
        return done();
    }
    if (size > INT32_MAX) return failed("a part of a picture in HEVC is too long");
    int status = de265->de265_push_NAL(to->context, unit, (int)size, 0, NULL);
    return status == DE265_OK ? done() : failed(de265->de265_get_error_text(status));
}

/// Parameters and picture, each unit behind its length (ISO/IEC 14496-15).
static struct heif_error push_data(void *opaque, const void *data, size_t size) {
    if (!watching) return failed("nobody has asked for a picture in HEVC");
    const uint8_t *at = data;
    while (size > 0) {
        size_t length = SIZE_MAX;
        if (size >= LENGTH_BYTES) length = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
        if (size < LENGTH_BYTES || length > size - LENGTH_BYTES) return failed("a picture in HEVC ends too early");
        struct heif_error result = push_unit(opaque, at + LENGTH_BYTES, length);
        if (result.code != heif_error_Ok) return result;
        at += LENGTH_BYTES + length;
        size -= LENGTH_BYTES + length;
    }
    return done();
}

static struct heif_error copy_plane(
    const struct de265_image *from, int index, enum heif_channel channel, struct heif_image *to) {
    int bits = de265->de265_get_bits_per_pixel(from, index);
    if (bits != de265->de265_get_bits_per_pixel(from, 0)) return unsupported("HEVC with colour of other bits than its light");
    int width = de265->de265_get_image_width(from, index), height = de265->de265_get_image_height(from, index);
    if (width <= 0 || height <= 0) return failed("a picture in HEVC without pixels");
    struct heif_error result = heif->heif_image_add_plane(to, channel, width, height, bits);
    if (result.code != heif_error_Ok) return result;
    int stride = 0, source_stride = 0;
    uint8_t *rows = heif->heif_image_get_plane(to, channel, &stride);
    const uint8_t *source = de265->de265_get_image_plane(from, index, &source_stride);
    size_t row_bytes = (size_t)width * (bits > 8 ? 2 : 1);
    for (int y = 0; y < height; y++) {
        memcpy(rows + (size_t)y * (size_t)stride, source + (size_t)y * (size_t)source_stride, row_bytes);
    }
    return done();
}

/// What the stream says of its colours, which holds where the file says nothing.
static void copy_colors(const struct de265_image *from, struct heif_image *to) {
    struct heif_color_profile_nclx *nclx = heif->heif_nclx_color_profile_alloc();
    if (!nclx) return;
    // Those that libheif does not know leave "unspecified".
    heif->heif_nclx_color_profile_set_color_primaries(nclx, (uint16_t)de265->de265_get_image_colour_primaries(from));
    heif->heif_nclx_color_profile_set_transfer_characteristics(
        nclx, (uint16_t)de265->de265_get_image_transfer_characteristics(from));
    heif->heif_nclx_color_profile_set_matrix_coefficients(
        nclx, (uint16_t)de265->de265_get_image_matrix_coefficients(from));
    nclx->full_range_flag = de265->de265_get_image_full_range_flag(from) != 0;
    heif->heif_image_set_nclx_color_profile(to, nclx);
    heif->heif_nclx_color_profile_free(nclx);
}

static struct heif_error copy_picture(const struct de265_image *from, struct heif_image **made) {
    static const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    // Both count them alike.
    enum heif_chroma chroma = (enum heif_chroma)de265->de265_get_chroma_format(from);
    int is_gray = chroma == heif_chroma_monochrome;
    struct heif_error result = heif->heif_image_create(
        de265->de265_get_image_width(from, 0), de265->de265_get_image_height(from, 0),
        is_gray ? heif_colorspace_monochrome : heif_colorspace_YCbCr, chroma, made);
    if (result.code != heif_error_Ok) return result;
    for (int i = 0; i < (is_gray ? 1 : 3) && result.code == heif_error_Ok; i++) {
        result = copy_plane(from, i, channels[i], *made);
    }
    if (result.code != heif_error_Ok) {
        heif->heif_image_release(*made);
        *made = NULL;
        return result;
    }
    copy_colors(from, *made);
    return done();
}

/// Keeps the first.
static void read_warnings(const decoder *from) {
    de265_error warning;
    while ((warning = de265->de265_get_warning(from->context)) != DE265_OK) {
        if (!watching->warning) watching->warning = de265->de265_get_error_text(warning);
    }
}

static struct heif_error decode_image(void *opaque, struct heif_image **made) {
    decoder *from = opaque;
    *made = NULL;
    if (!watching) return failed("nobody has asked for a picture in HEVC");
    int status = de265->de265_flush_data(from->context), more = 1;
    const struct de265_image *picture = NULL;
    while (status == DE265_OK && more && !picture) {
        watching->is_stopped |= !ic_may_go_on(&watching->pulse);
        if (watching->is_stopped) return failed("asked to stop");
        more = 0;
        status = de265->de265_decode(from->context, &more);
        picture = de265->de265_get_next_picture(from->context);
    }
    if (!picture) return failed(status == DE265_OK ? "no picture in HEVC" : de265->de265_get_error_text(status));
    watching->bytes_left -= from->bytes;
    read_warnings(from);
    return copy_picture(picture, made);
}

static const struct heif_decoder_plugin plugin = {
    .plugin_api_version = 3,
    .get_plugin_name = get_name,
    .does_support_format = get_priority,
    .new_decoder = new_decoder,
    .free_decoder = free_decoder,
    .push_data = push_data,
    .decode_image = decode_image,
    .id_name = "bgrun-libde265",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

ic_status ic_hevc_register(const ic_heif_table *table, ic_error *error) {
    static int is_registered;
    pthread_mutex_lock(&lock);
    ic_status status = IC_OK;
    if (!is_registered) {
        heif = table;
        de265 = ic_de265(error);
        if (!de265) {
            status = error->status;
        } else if (table->heif_register_decoder_plugin(&plugin).code != heif_error_Ok) {
            status = ic_fail(error, IC_UNSUPPORTED, "libheif takes no decoder of HEVC");
        } else {
            is_registered = 1;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}
