#pragma once

#include <stddef.h>
#include <stdint.h>

/// XXH3 with 128 bits, as the canonical 16 bytes.
void ic_xxh3_128(const void *bytes, size_t size, uint8_t digest[16]);
