#include "include/ic_checksum.h"

#include <string.h>

#include <xxhash.h>

void ic_xxh3_128(const void *bytes, size_t size, uint8_t digest[16]) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
    memcpy(digest, canonical.digest, sizeof canonical.digest);
}
