#pragma once

#include <stddef.h>
#include <stdint.h>

enum { BG_SHA256_BYTES = 32 };

// SHA-256 (FIPS 180-4) of the bytes, with the processor's own instructions where it has them.
void bg_sha256(const void *bytes, size_t count, uint8_t digest[BG_SHA256_BYTES]);

// The same without those instructions, to be compared with.
void bg_sha256_portable(const void *bytes, size_t count, uint8_t digest[BG_SHA256_BYTES]);

// Memory of so many zeros that has a descriptor, closed on exec, and cannot become longer (memfd_create(2)); -1 and errno on
// failure.
int bg_sheet_make(int64_t limit);

// From now on nobody changes it, whoever has it open (fcntl(2), F_ADD_SEALS). 0, or -1 and errno: EBUSY while somebody has
// it mapped for writing.
int bg_sheet_close(int sheet);

// XXH3, 64 bits.
uint64_t bg_weights_xxh3_64(const void *bytes, size_t count);
