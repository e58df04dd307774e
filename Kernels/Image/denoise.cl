// denoise: shrinkage of sliding 8 x 8 cosine transforms, the mean over all positions on a grid of every second column and fourth row.
//
//   out = mean over the 8 blocks that cover a pixel of inverse(threshold(transform(block)))
//
// in three planes that noise of equal strength in R, G and B leaves uncorrelated: luma (R + G + B) / sqrt 3 and chroma
// (R - B) / sqrt 2, (R - 2 G + B) / sqrt 6 (Yu and Sapiro, "DCT image denoising: a simple and effective image denoising algorithm",
// IPOL 2011). A coefficient is kept when its square exceeds the threshold of its plane, the mean of a block always.
//
// The transforms are the scaled ones of Arai, Agui and Nakajima (Transactions of the IEICE, 1988): coefficient k is larger than the
// orthonormal one by sqrt 8 for k = 0 and by 4 cos(k pi / 16) else, and there and back makes 8 times the samples. Columns are
// transformed once for all blocks beside each other, and back once for their sum.
//
// Reference  ChainReference in the tests, float64 with plain sums; within 2 of 65535 but where a coefficient lies on its threshold.
// Chunking   A chunk is a band of rows; the grid of blocks is the picture's, so bands do not depend on each other.
// Launch     1-D, one work-item a tile of DENOISE_COLUMNS x DENOISE_ROWS, local size 1.
// Barriers   None.
//
// Buffers
//   src, dst   rows as in chain.cl; src has DENOISE_RADIUS rows more on each side, as far as the picture has them
//   limits     [2][8][8] float: squared threshold of luma and chroma times the squared scale; negative for the mean
//   scratch    DENOISE_SCRATCH floats a work-item

#ifndef DENOISE_COLUMNS
#define DENOISE_COLUMNS 480 // columns a work-item makes: a multiple of 32
#endif
#ifndef DENOISE_ROWS
#define DENOISE_ROWS 128 // rows a work-item makes: 16 ... 256
#endif
#define DENOISE_RADIUS 7
#define DENOISE_STEP 4 // rows from one block to the next below it; 2 columns to the next beside it
#define DENOISE_PITCH (DENOISE_COLUMNS + 64) // columns of a tile with the blocks that reach into it, and room for whole vectors
#define DENOISE_SCRATCH (DENOISE_PITCH * (DENOISE_ROWS + 16 + 8 + 8 + 8))

#define AAN_1 0.707106781186547524f // cos(pi / 4)
#define AAN_2 0.382683432365089772f // cos(3 pi / 8)
#define AAN_3 0.541196100146196985f // sqrt 2 cos(3 pi / 8)
#define AAN_4 1.306562964876376527f // sqrt 2 cos(pi / 8)

// s[0 ... 7] to coefficients in their place.
#define COSINE_FORWARD(s)                                                                                                       \
    {                                                                                                                           \
        const float16 a0 = s[0] + s[7], a1 = s[1] + s[6], a2 = s[2] + s[5], a3 = s[3] + s[4];                                   \
        const float16 b0 = s[0] - s[7], b1 = s[1] - s[6], b2 = s[2] - s[5], b3 = s[3] - s[4];                                   \
        const float16 c0 = a0 + a3, c1 = a1 + a2, c2 = a1 - a2, c3 = a0 - a3;                                                   \
        const float16 d = (c2 + c3) * AAN_1;                                                                                    \
        s[0] = c0 + c1;                                                                                                         \
        s[4] = c0 - c1;                                                                                                         \
        s[2] = c3 + d;                                                                                                          \
        s[6] = c3 - d;                                                                                                          \
        const float16 e0 = b3 + b2, e1 = b2 + b1, e2 = b1 + b0;                                                                 \
        const float16 f = (e0 - e2) * AAN_2, g = e0 * AAN_3 + f, h = e2 * AAN_4 + f, m = e1 * AAN_1;                            \
        const float16 p = b0 + m, q = b0 - m;                                                                                   \
        s[5] = q + g;                                                                                                           \
        s[3] = q - g;                                                                                                           \
        s[1] = p + h;                                                                                                           \
        s[7] = p - h;                                                                                                           \
    }

// Coefficients as COSINE_FORWARD leaves them back to 8 times the samples.
#define COSINE_INVERSE(s)                                                                                                       \
    {                                                                                                                           \
        const float16 a0 = s[0] + s[4], a1 = s[0] - s[4], a2 = s[2] + s[6], a3 = (s[2] - s[6]) * (2 * AAN_1) - a2;              \
        const float16 c0 = a0 + a2, c3 = a0 - a2, c1 = a1 + a3, c2 = a1 - a3;                                                   \
        const float16 p = s[5] + s[3], q = s[5] - s[3], r = s[1] + s[7], t = s[1] - s[7];                                       \
        const float16 d7 = r + p, m = (r - p) * (2 * AAN_1), z = (q + t) * 1.847759065022573512f;                               \
        const float16 u = t * 1.082392200292393968f - z, v = z - q * 2.613125929752753055f;                                     \
        const float16 d6 = v - d7, d5 = m - d6, d4 = u + d5;                                                                    \
        s[0] = c0 + d7;                                                                                                         \
        s[7] = c0 - d7;                                                                                                         \
        s[1] = c1 + d6;                                                                                                         \
        s[6] = c1 - d6;                                                                                                         \
        s[2] = c2 + d5;                                                                                                         \
        s[5] = c2 - d5;                                                                                                         \
        s[4] = c3 + d4;                                                                                                         \
        s[3] = c3 - d4;                                                                                                         \
    }

// One decorrelated plane of a tile with its surroundings, DENOISE_RADIUS + 1 columns and rows in front of it.
inline void denoise_plane(__global const float *src, __global float *plane, chain_rows p, int c, int x0, int y0, int rows) {
    const float wr = c == 0 ? 0.577350269f : c == 1 ? 0.707106781f : 0.408248290f;
    const float wg = c == 0 ? 0.577350269f : c == 1 ? 0.0f : -0.816496581f;
    const float wb = c == 0 ? 0.577350269f : c == 1 ? -0.707106781f : 0.408248290f;
    for (int y = 0; y < rows; ++y, plane += DENOISE_PITCH) {
        __global const float *from = chain_source(src, p, y0 + y, 0);
        for (int x = 0; x < DENOISE_PITCH; x += 16) {
            const float16 r = load_edge16(from, x0 + x, p.width), g = load_edge16(from + p.stride, x0 + x, p.width),
                          b = load_edge16(from + 2 * p.stride, x0 + x, p.width);
            vstore16(r * wr + g * wg + b * wb, 0, plane + x);
        }
    }
}

// Blocks whose first row is `top`: their shrunken sum, transformed back along the rows only, goes to `sums` [8][2][pitch / 2].
inline void denoise_blocks(__global const float *top, __global float *columns, __global float *sums,
                           __global const float *limits) {
    const int phase = DENOISE_PITCH / 2;
    for (int x = 0; x < DENOISE_PITCH; x += 32) {
        float16 s[8], t[8];
        for (int i = 0; i < 8; ++i) {
            s[i] = vload16(0, top + i * DENOISE_PITCH + x);
            t[i] = vload16(1, top + i * DENOISE_PITCH + x);
        }
        COSINE_FORWARD(s)
        COSINE_FORWARD(t)
        for (int u = 0; u < 8; ++u) {
            float16 even, odd;
            even.lo = s[u].even;
            even.hi = t[u].even;
            odd.lo = s[u].odd;
            odd.hi = t[u].odd;
            vstore16(even, 0, columns + (2 * u) * phase + x / 2);
            vstore16(odd, 0, columns + (2 * u + 1) * phase + x / 2);
        }
    }
    for (int x = 0; x < 8 * DENOISE_PITCH; x += 16)
        vstore16((float16)(0.0f), 0, sums + x);
    for (int u = 0; u < 8; ++u) {
        __global const float *from = columns + 2 * u * phase;
        __global float *to = sums + 2 * u * phase;
        __global const float *limit = limits + 8 * u;
        for (int x = 0; x + 19 <= phase; x += 16) {
            float16 s[8];
            for (int i = 0; i < 8; ++i)
                s[i] = vload16(0, from + (i & 1) * phase + x + i / 2);
            COSINE_FORWARD(s)
            for (int i = 0; i < 8; ++i)
                s[i] = select((float16)(0.0f), s[i], s[i] * s[i] > limit[i]);
            COSINE_INVERSE(s)
            for (int i = 0; i < 8; ++i) {
                __global float *at = to + (i & 1) * phase + x + i / 2;
                vstore16(vload16(0, at) + s[i], 0, at);
            }
        }
    }
}

// Adds the blocks' samples to the rows of `total`.
inline void denoise_add(__global const float *sums, __global float *total) {
    const int phase = DENOISE_PITCH / 2;
    for (int x = 0; x < DENOISE_PITCH; x += 16) {
        float16 s[8];
        for (int u = 0; u < 8; ++u) {
            s[u].even = vload8(0, sums + (2 * u) * phase + x / 2);
            s[u].odd = vload8(0, sums + (2 * u + 1) * phase + x / 2);
        }
        COSINE_INVERSE(s)
        for (int i = 0; i < 8; ++i) {
            __global float *at = total + i * DENOISE_PITCH + x;
            vstore16(vload16(0, at) + s[i], 0, at);
        }
    }
}

// Sums of the decorrelated planes to the means of R, G and B.
inline void denoise_colors(__global float *row, int stride, int columns) {
    const float mean = 1.0f / (64 * 4 * (8 / DENOISE_STEP));
    for (int x = 0; x < columns; x += 16) {
        const float16 y = vload16(0, row + x) * (0.577350269f * mean),
                      a = vload16(0, row + stride + x) * (0.707106781f * mean),
                      b = vload16(0, row + 2 * stride + x) * (0.408248290f * mean);
        vstore16(y + a + b, 0, row + x);
        vstore16(y - 2.0f * b, 0, row + stride + x);
        vstore16(y - a + b, 0, row + 2 * stride + x);
    }
}

__kernel void denoise_tile(__global const float *src, __global float *dst, __global const float *limits,
                           __global float *scratch, const chain_rows p) {
    const int tile = get_global_id(0);
    const int across = (p.width + DENOISE_COLUMNS - 1) / DENOISE_COLUMNS;
    const int x0 = tile % across * DENOISE_COLUMNS;
    const int y0 = p.first_row + tile / across * DENOISE_ROWS;
    const int rows = min(DENOISE_ROWS, p.first_row + p.rows - y0);
    if (rows <= 0)
        return;
    const int columns = min(DENOISE_COLUMNS, p.stride - x0);
    __global float *plane = scratch + (size_t)tile * p.scratch_stride;
    __global float *total = plane + DENOISE_PITCH * (DENOISE_ROWS + 16);
    __global float *transformed = total + DENOISE_PITCH * 8;
    __global float *sums = transformed + DENOISE_PITCH * 8;
    // First row of the first block that reaches into the tile, on the grid of the picture.
    const int first = (y0 - DENOISE_RADIUS + DENOISE_STEP - 1) & ~(DENOISE_STEP - 1);
    for (int c = 0; c < 3; ++c) {
        denoise_plane(src, plane, p, c, x0 - DENOISE_RADIUS - 1, first, y0 + rows + DENOISE_RADIUS - first);
        for (int x = 0; x < 8 * DENOISE_PITCH; x += 16)
            vstore16((float16)(0.0f), 0, total + x);
        for (int top = first; top < y0 + rows; top += DENOISE_STEP) {
            denoise_blocks(plane + (top - first) * DENOISE_PITCH, transformed, sums, limits + (c > 0 ? 64 : 0));
            denoise_add(sums, total);
            for (int r = 0; r < DENOISE_STEP; ++r) {
                const int y = top + r;
                if (y >= y0 && y < y0 + rows) {
                    __global float *to = chain_target(dst, p, y, c) + x0;
                    for (int x = 0; x < columns; x += 16)
                        vstore16(vload16(0, total + r * DENOISE_PITCH + x + DENOISE_RADIUS + 1), 0, to + x);
                }
            }
            for (int x = 0; x < (8 - DENOISE_STEP) * DENOISE_PITCH; x += 16)
                vstore16(vload16(0, total + DENOISE_STEP * DENOISE_PITCH + x), 0, total + x);
            for (int x = (8 - DENOISE_STEP) * DENOISE_PITCH; x < 8 * DENOISE_PITCH; x += 16)
                vstore16((float16)(0.0f), 0, total + x);
        }
    }
    for (int y = y0; y < y0 + rows; ++y) {
        denoise_colors(chain_target(dst, p, y, 0) + x0, p.stride, columns);
        if (p.planes == 4)
            for (int x = 0; x < columns; x += 16)
                vstore16(vload16(0, chain_source(src, p, y, 3) + x0 + x), 0, chain_target(dst, p, y, 3) + x0 + x);
    }
}
