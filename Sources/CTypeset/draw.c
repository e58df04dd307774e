#include "CTypeset.h"

#include "library.h"
#include <ft2build.h>
#include FT_FREETYPE_H
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BG_FT_FUNCTIONS(X)                                                                                             \
    X(FT_Init_FreeType)                                                                                                \
    X(FT_Done_FreeType)                                                                                                \
    X(FT_New_Memory_Face)                                                                                              \
    X(FT_Done_Face)                                                                                                    \
    X(FT_Set_Pixel_Sizes)                                                                                              \
    X(FT_Get_Char_Index)                                                                                               \
    X(FT_Get_Kerning)                                                                                                  \
    X(FT_Load_Glyph)

static struct {
    BG_FT_FUNCTIONS(BG_FIELD)
    char failure[256];
} lib;

static void load(void) {
    void *handle = dlopen("libfreetype.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        snprintf(lib.failure, sizeof lib.failure, "FreeType is not installed: %s", words ? words : "");
        return;
    }
#define BG_FT_LOOK_UP(function) BG_LOOK_UP(lib, handle, function)
    BG_FT_FUNCTIONS(BG_FT_LOOK_UP)
}

struct bg_font {
    FT_Library library;
    FT_Face face;
};

bg_font *bg_font_open(const void *bytes, size_t count, char *reason, size_t reason_size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (lib.failure[0]) {
        snprintf(reason, reason_size, "%s", lib.failure);
        return NULL;
    }
    bg_font *font = calloc(1, sizeof *font);
    if (!font || lib.FT_Init_FreeType(&font->library)) {
        snprintf(reason, reason_size, "FreeType cannot begin");
        free(font);
        return NULL;
    }
    if (lib.FT_New_Memory_Face(font->library, bytes, (FT_Long)count, 0, &font->face) || !FT_IS_SCALABLE(font->face)) {
        snprintf(reason, reason_size, "it is no font of scalable outlines");
        bg_font_close(font);
        return NULL;
    }
    return font;
}

void bg_font_close(bg_font *font) {
    if (!font) return;
    if (font->face) lib.FT_Done_Face(font->face);
    lib.FT_Done_FreeType(font->library);
    free(font);
}

// Where each letter's pixels come: `left` and `top` from the pen and the baseline.
typedef void placed(void *context, const FT_Bitmap *bitmap, int32_t left, int32_t top);

// Sets the letters one after another; what is outlined is handed on as pixels. Returns 0, or -1 with a reason.
static int set_line(bg_font *font, const uint32_t *text, size_t count, uint32_t pixel_size, placed *body, void *context,
                    char *reason, size_t reason_size) {
    if (lib.FT_Set_Pixel_Sizes(font->face, 0, pixel_size)) {
        snprintf(reason, reason_size, "the font cannot be set at %u pixels", pixel_size);
        return -1;
    }
    // In 64ths of a pixel.
    FT_Pos pen = 0;
    FT_UInt before = 0;
    for (size_t i = 0; i < count; i++) {
        FT_UInt glyph = lib.FT_Get_Char_Index(font->face, text[i]);
        if (!glyph) {
            snprintf(reason, reason_size, "the font has no letter U+%04X", text[i]);
            return -1;
        }
        FT_Vector kerning = {0, 0};
        if (before) lib.FT_Get_Kerning(font->face, before, glyph, FT_KERNING_DEFAULT, &kerning);
        pen += kerning.x;
        if (lib.FT_Load_Glyph(font->face, glyph, FT_LOAD_RENDER | FT_LOAD_NO_BITMAP)) {
            snprintf(reason, reason_size, "the letter U+%04X cannot be drawn", text[i]);
            return -1;
        }
        FT_GlyphSlot slot = font->face->glyph;
        body(context, &slot->bitmap, (int32_t)(pen >> 6) + slot->bitmap_left, slot->bitmap_top);
        pen += slot->advance.x;
        before = glyph;
    }
    return 0;
}

// The box around all letters, y upwards from the baseline.
struct box {
    int32_t left, right, bottom, top;
    int is_set;
};

static void grow(void *context, const FT_Bitmap *bitmap, int32_t left, int32_t top) {
    struct box *box = context;
    if (!bitmap->width || !bitmap->rows) return;
    struct box letter = {left, left + (int32_t)bitmap->width, top - (int32_t)bitmap->rows, top, 1};
    if (!box->is_set) {
        *box = letter;
        return;
    }
    if (letter.left < box->left) box->left = letter.left;
    if (letter.right > box->right) box->right = letter.right;
    if (letter.bottom < box->bottom) box->bottom = letter.bottom;
    if (letter.top > box->top) box->top = letter.top;
}

static int measure(bg_font *font, const uint32_t *text, size_t count, uint32_t pixel_size, struct box *box,
                   char *reason, size_t reason_size) {
    if (set_line(font, text, count, pixel_size, grow, box, reason, reason_size)) return -1;
    if (!box->is_set) {
        snprintf(reason, reason_size, "the text has nothing to be seen");
        return -1;
    }
    return 0;
}

int bg_font_measure(bg_font *font, const uint32_t *text, size_t count, uint32_t pixel_size, bg_text_extent *extent,
                    char *reason, size_t reason_size) {
    struct box box = {0};
    if (measure(font, text, count, pixel_size, &box, reason, reason_size)) return -1;
    *extent = (bg_text_extent){box.right - box.left, box.top - box.bottom, box.top};
    return 0;
}

struct canvas {
    const bg_text_extent *extent;
    int32_t left;
    uint8_t *coverage;
};

// Letters may overlap; the stronger coverage stays.
static void paint(void *context, const FT_Bitmap *bitmap, int32_t left, int32_t top) {
    struct canvas *canvas = context;
    for (int32_t y = 0; y < (int32_t)bitmap->rows; y++) {
        int32_t row = canvas->extent->baseline - top + y;
        if (row < 0 || row >= canvas->extent->height) continue;
        for (int32_t x = 0; x < (int32_t)bitmap->width; x++) {
            int32_t column = left - canvas->left + x;
            if (column < 0 || column >= canvas->extent->width) continue;
            uint8_t *place = canvas->coverage + (size_t)row * (size_t)canvas->extent->width + column;
            uint8_t value = bitmap->buffer[y * bitmap->pitch + x];
            if (value > *place) *place = value;
        }
    }
}

int bg_font_draw(bg_font *font, const uint32_t *text, size_t count, uint32_t pixel_size, const bg_text_extent *extent,
                 uint8_t *coverage, char *reason, size_t reason_size) {
    struct box box = {0};
    if (measure(font, text, count, pixel_size, &box, reason, reason_size)) return -1;
    struct canvas canvas = {extent, box.left, coverage};
    return set_line(font, text, count, pixel_size, paint, &canvas, reason, reason_size);
}
