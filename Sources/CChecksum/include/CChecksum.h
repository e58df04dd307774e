#pragma once

#include <stddef.h>
#include <stdint.h>

// XXH3, 64 bits.
uint64_t bg_xxh3_64(const void *bytes, size_t count);

// XXH3, 128 bits, as the canonical 16 bytes.
void bg_xxh3_128(const void *bytes, size_t count, uint8_t digest[16]);
