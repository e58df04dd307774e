#include "CWeightCache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bg_weights_xxh3_64(const void *bytes, size_t count) {
    return XXH3_64bits(bytes, count);
}
