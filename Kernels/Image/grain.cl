// grain: noise like that of film, the same for the same picture, seed and place.
//
//   c' = c + amount * 4 t (1 - t) * n(x, y),  t = luma within 0 ... 1
//
// n has mean 0 and deviation 1: hashes of the places of a lattice with `size` pixels from one to the next, blended between the four
// around a pixel by the square root of their bilinear shares, which keeps the deviation the same everywhere. A hash is the finaliser
// of MurmurHash3 (Appleby, 2011), summed byte by byte to something close to normal.
//
// Reference  ChainReference in the tests, float64; within 2 of 65535.
// Launch     1-D, one work-item a row, local size 1 (CPU form); grain_rows_pixel: 2-D, one work-item a pixel, (width rounded up,
//            rows), local (WGS, 1) (GPU form).
// Barriers   None.
//
// Buffers    rows as in chain.cl, changed in place.

// Field for field the C struct bg_grain_params.
typedef struct {
    uint seed;
    float amount;
    uint step; // lattice places in a pixel, up to 1, times 65536
} grain_params;

inline float grain_at(int x, int y, uint seed) {
    uint h = (uint)x * 0x9E3779B1u ^ (uint)y * 0x85EBCA77u ^ seed;
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    h ^= h >> 16;
    // Four bytes of deviation 73.9 each.
    return ((float)((h & 255) + ((h >> 8) & 255) + ((h >> 16) & 255) + (h >> 24)) - 510.0f) * (1.0f / 147.7995f);
}

CPU_FORM void grain_rows(__global float *rows, const grain_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global float *row = chain_target(rows, p, y, 0);
    const uint down = (uint)y * q.step;
    const int top = (int)(down >> 16);
    const float v = (float)(down & 65535) * (1.0f / 65536.0f);
    for (int x0 = 0; x0 < p.width; x0 += 16) {
        float n[16];
        for (int k = 0; k < 16; ++k) {
            const uint along = (uint)(x0 + k) * q.step;
            const int left = (int)(along >> 16);
            const float u = (float)(along & 65535) * (1.0f / 65536.0f);
            n[k] = grain_at(left, top, q.seed) * sqrt((1.0f - u) * (1.0f - v)) +
                   grain_at(left + 1, top, q.seed) * sqrt(u * (1.0f - v)) +
                   grain_at(left, top + 1, q.seed) * sqrt((1.0f - u) * v) + grain_at(left + 1, top + 1, q.seed) * sqrt(u * v);
        }
        pixels c = load_rows(row, p.stride, x0);
        const float16 t =
            clamp(c.r * LUMA_R + c.g * LUMA_G + c.b * LUMA_B, (float16)(0.0f), (float16)(1.0f));
        const float16 d = vload16(0, n) * t * (1.0f - t) * (4.0f * q.amount);
        c.r += d;
        c.g += d;
        c.b += d;
        store_rows(c, row, p.stride, x0);
    }
}

#ifdef PIXELS_FORM

GPU_FORM void grain_rows_pixel(__global float *rows, const grain_params q, const chain_rows p) {
    const int x = get_global_id(0), y = p.first_row + (int)get_global_id(1);
    if (x >= p.width)
        return;
    const uint down = (uint)y * q.step, along = (uint)x * q.step;
    const int top = (int)(down >> 16), left = (int)(along >> 16);
    const float v = (float)(down & 65535) * (1.0f / 65536.0f), u = (float)(along & 65535) * (1.0f / 65536.0f);
    const float n = grain_at(left, top, q.seed) * sqrt((1.0f - u) * (1.0f - v)) +
                    grain_at(left + 1, top, q.seed) * sqrt(u * (1.0f - v)) +
                    grain_at(left, top + 1, q.seed) * sqrt((1.0f - u) * v) + grain_at(left + 1, top + 1, q.seed) * sqrt(u * v);
    __global float *row = chain_target(rows, p, y, 0);
    float4 c = read_pixel(row, p, x);
    const float t = clamp(pixel_luma(c), 0.0f, 1.0f);
    c.xyz += n * t * (1.0f - t) * (4.0f * q.amount);
    write_pixel(c, row, p, x);
}

#endif
