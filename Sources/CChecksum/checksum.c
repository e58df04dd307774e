#include "CChecksum.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bg_xxh3_64(const void *bytes, size_t count) {
    return XXH3_64bits(bytes, count);
}

void bg_xxh3_128(const void *bytes, size_t count, uint8_t digest[16]) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, count));
    memcpy(digest, canonical.digest, sizeof canonical.digest);
}
