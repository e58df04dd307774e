#include "CWeightCache.h"

#include <stdbool.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

// First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
static const uint32_t K[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t FIRST[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

enum { BLOCK = 64 };

typedef void (*absorb_function)(uint32_t state[8], const uint8_t *bytes, size_t blocks);

static uint32_t turned(uint32_t x, int count) {
    return x >> count | x << (32 - count);
}

static void absorb_portable(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
    for (; blocks > 0; blocks--, bytes += BLOCK) {
        uint32_t w[64];
        for (int i = 0; i < 16; i++) {
            const uint8_t *p = bytes + 4 * i;
            w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        }
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
        }
        uint32_t v[8];
        memcpy(v, state, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t e = v[4], a = v[0];
            uint32_t t1 = v[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + K[i] + w[i];
            uint32_t t2 = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += t1;
            v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) state[i] += v[i];
    }
}

static void digest_with(absorb_function absorb, const void *bytes, size_t count, uint8_t digest[BG_SHA256_BYTES]) {
    uint32_t state[8];
    memcpy(state, FIRST, sizeof state);
    size_t whole = count / BLOCK;
    if (whole > 0) absorb(state, bytes, whole);
    // The rest, a bit that is set, zeros, and the number of bits.
    uint8_t end[2 * BLOCK] = {0};
    size_t rest = count - whole * BLOCK;
    if (rest > 0) memcpy(end, (const uint8_t *)bytes + whole * BLOCK, rest);
    end[rest] = 0x80;
    size_t blocks = rest + 9 > BLOCK ? 2 : 1;
    uint64_t bits = (uint64_t)count * 8;
    for (int i = 0; i < 8; i++) end[blocks * BLOCK - 1 - i] = (uint8_t)(bits >> (8 * i));
    absorb(state, end, blocks);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void bg_sha256_portable(const void *bytes, size_t count, uint8_t digest[BG_SHA256_BYTES]) {
    digest_with(absorb_portable, bytes, count, digest);
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

// The instructions hold the state as the halves ABEF and CDGH, and make two rounds each (Intel 64 manual, SHA256RNDS2).
__attribute__((target("sha,sse4.1,ssse3"))) static void absorb_native(
    uint32_t state[8], const uint8_t *bytes, size_t blocks) {
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    for (; blocks > 0; blocks--, bytes += BLOCK) {
        __m128i oldABEF = abef, oldCDGH = cdgh, w[4];
        for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)bytes + i), order);
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            __m128i sum = _mm_add_epi32(w[i % 4], _mm_load_si128((const __m128i *)K + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            if (i < 12) {
                // The four words that come sixteen later.
                __m128i last = w[(i + 3) % 4];
                __m128i next = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
                w[i % 4] = _mm_sha256msg2_epu32(next, last);
            }
        }
        abef = _mm_add_epi32(abef, oldABEF);
        cdgh = _mm_add_epi32(cdgh, oldCDGH);
    }
    uint32_t high[4], low[4];
    _mm_storeu_si128((__m128i *)high, abef);
    _mm_storeu_si128((__m128i *)low, cdgh);
    state[0] = high[3], state[1] = high[2], state[4] = high[1], state[5] = high[0];
    state[2] = low[3], state[3] = low[2], state[6] = low[1], state[7] = low[0];
}

static bool has_instructions(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) || !(c & bit_SSSE3)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}

void bg_sha256(const void *bytes, size_t count, uint8_t digest[BG_SHA256_BYTES]) {
    digest_with(has_instructions() ? absorb_native : absorb_portable, bytes, count, digest);
}

#else

void bg_sha256(const void *bytes, size_t count, uint8_t digest[BG_SHA256_BYTES]) {
    digest_with(absorb_portable, bytes, count, digest);
}

#endif

uint64_t bg_weights_xxh3_64(const void *bytes, size_t count) {
    return XXH3_64bits(bytes, count);
}
