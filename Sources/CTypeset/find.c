#include "CTypeset.h"

#include "library.h"
#include <fontconfig/fontconfig.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#define BG_FC_FUNCTIONS(X)                                                                                             \
    X(FcNameParse)                                                                                                     \
    X(FcPatternGetString)                                                                                              \
    X(FcPatternAddBool)                                                                                                \
    X(FcPatternDestroy)                                                                                                \
    X(FcConfigSubstitute)                                                                                              \
    X(FcDefaultSubstitute)                                                                                             \
    X(FcFontMatch)                                                                                                     \
    X(FcInit)

static struct {
    BG_FC_FUNCTIONS(BG_FIELD)
    char failure[256];
} lib;

static void load(void) {
    void *handle = dlopen("libfontconfig.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        snprintf(lib.failure, sizeof lib.failure, "fontconfig is not installed: %s", words ? words : "");
        return;
    }
#define BG_FC_LOOK_UP(function) BG_LOOK_UP(lib, handle, function)
    BG_FC_FUNCTIONS(BG_FC_LOOK_UP)
    if (!lib.FcInit()) snprintf(lib.failure, sizeof lib.failure, "fontconfig cannot read its configuration");
}

// Whether one of a font's names for its family is the one that was asked for.
static int has_family(FcPattern *font, const char *family) {
    FcChar8 *name = NULL;
    for (int i = 0; lib.FcPatternGetString(font, FC_FAMILY, i, &name) == FcResultMatch; i++) {
        if (strcasecmp((const char *)name, family) == 0) return 1;
    }
    return 0;
}

int bg_font_find(const char *pattern, char *path, size_t path_size, char *reason, size_t reason_size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (lib.failure[0]) {
        snprintf(reason, reason_size, "%s", lib.failure);
        return -1;
    }
    FcPattern *wanted = lib.FcNameParse((const FcChar8 *)pattern);
    if (!wanted) {
        snprintf(reason, reason_size, "\"%s\" is no name of a font", pattern);
        return -1;
    }
    char family[256] = "";
    FcChar8 *name = NULL;
    if (lib.FcPatternGetString(wanted, FC_FAMILY, 0, &name) == FcResultMatch) {
        snprintf(family, sizeof family, "%s", (const char *)name);
    }
    lib.FcPatternAddBool(wanted, FC_SCALABLE, FcTrue);
    lib.FcConfigSubstitute(NULL, wanted, FcMatchPattern);
    lib.FcDefaultSubstitute(wanted);
    FcResult result = FcResultNoMatch;
    FcPattern *font = lib.FcFontMatch(NULL, wanted, &result);
    int found = -1;
    // Where a family is not installed, the match is another one.
    if (!font || (family[0] && !has_family(font, family))) {
        snprintf(reason, reason_size, "no font of the family \"%s\" is installed", family[0] ? family : pattern);
    } else if (lib.FcPatternGetString(font, FC_FILE, 0, &name) != FcResultMatch ||
               strlen((const char *)name) >= path_size) {
        snprintf(reason, reason_size, "the font \"%s\" has no file", pattern);
    } else {
        memcpy(path, name, strlen((const char *)name) + 1);
        found = 0;
    }
    if (font) lib.FcPatternDestroy(font);
    lib.FcPatternDestroy(wanted);
    return found;
}
