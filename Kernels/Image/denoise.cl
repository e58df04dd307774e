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
// transformed once for all blocks beside each other, and back once for their sum. A work-item goes down its tile by DENOISE_STEP rows
// at a time; what it holds meanwhile are rows of all planes, so that it stays in the second-level cache of a CPU.
//
// Where pixels are clear (alpha 0), denoise_fill first gives each the mean of the visible ones within DENOISE_FILL of it, so that
// what it hides has no say. No block of a visible pixel reaches further.
//
// Reference  ChainReference in the tests, float64 with plain sums; within 2 of 65535 but where a coefficient lies on its threshold.
// Chunking   A chunk is a band of rows; the grid of blocks is the picture's, so bands do not depend on each other.
// Launch     denoise_fill: 1-D, one work-item a row, with DENOISE_RADIUS rows more on each side, local size 1 (CPU form);
//            denoise_fill_pixel: 2-D, one work-item a pixel of them, (width rounded up, rows), local (WGS, 1) (GPU form).
//            denoise_tile: 1-D, one work-item a tile of DENOISE_COLUMNS x DENOISE_ROWS, local size 1 (CPU form).
//            denoise_group: 1-D, a work-group of DENOISE_GROUP work-items DENOISE_GROUP_COLUMNS x DENOISE_GROUP_ROWS pixels, each
//            work-item a column of them and then, of each plane, a coefficient of four blocks side by side (GPU form).
// Barriers   GPU form: two a plane of DENOISE_STEP rows.
//
// Buffers
//   src, dst   rows as in chain.cl; src has DENOISE_RADIUS rows more on each side, as far as the picture has them, and DENOISE_FILL
//              more where it is filled; on the CPU codes may take the place of either (chain_codes)
//   rows       src, changed in its place
//   limits     [2][8][8] float: squared threshold of luma and chroma times the squared scale; negative for the mean
//   scratch    DENOISE_SCRATCH floats a work-item (CPU form)

#ifndef DENOISE_COLUMNS
#define DENOISE_COLUMNS 496 // columns a work-item makes: a multiple of 32 and 16 more
#endif
#ifndef DENOISE_ROWS
#define DENOISE_ROWS 128 // rows a work-item makes: 16 ... 256
#endif
#define DENOISE_GROUP 128                          // columns that a work-group reads
#define DENOISE_GROUP_COLUMNS (DENOISE_GROUP - 12) // columns that it makes, those of which it has every block
#define DENOISE_GROUP_ROWS 64                      // rows that it makes
#define DENOISE_RADIUS 7
#define DENOISE_FILL 7 // pixels on each side of a clear one that it is filled from: DENOISE_RADIUS, at most 8
#define DENOISE_STEP 4 // rows from one block to the next below it, half of one; 2 columns to the next beside it
#define DENOISE_HALF (DENOISE_COLUMNS / 2 + 24) // even or odd columns of a tile with the blocks that reach into it
#define DENOISE_PITCH (2 * DENOISE_HALF)        // rows of scratch have the even columns first, then the odd ones
#define DENOISE_SCRATCH (DENOISE_PITCH * (12 * DENOISE_STEP + 16))

#define AAN_1 0.707106781186547524f // cos(pi / 4)
#define AAN_2 0.382683432365089772f // cos(3 pi / 8)
#define AAN_3 0.541196100146196985f // sqrt 2 cos(3 pi / 8)
#define AAN_4 1.306562964876376527f // sqrt 2 cos(pi / 8)

// s[0 ... 7] to coefficients in their place.
#define COSINE_FORWARD(T, s)                                                                                                    \
    {                                                                                                                           \
        const T a0 = s[0] + s[7], a1 = s[1] + s[6], a2 = s[2] + s[5], a3 = s[3] + s[4];                                         \
        const T b0 = s[0] - s[7], b1 = s[1] - s[6], b2 = s[2] - s[5], b3 = s[3] - s[4];                                         \
        const T c0 = a0 + a3, c1 = a1 + a2, c2 = a1 - a2, c3 = a0 - a3;                                                         \
        const T d = (c2 + c3) * AAN_1;                                                                                          \
        s[0] = c0 + c1;                                                                                                         \
        s[4] = c0 - c1;                                                                                                         \
        s[2] = c3 + d;                                                                                                          \
        s[6] = c3 - d;                                                                                                          \
        const T e0 = b3 + b2, e1 = b2 + b1, e2 = b1 + b0;                                                                       \
        const T f = (e0 - e2) * AAN_2, g = e0 * AAN_3 + f, h = e2 * AAN_4 + f, m = e1 * AAN_1;                                  \
        const T p = b0 + m, q = b0 - m;                                                                                         \
        s[5] = q + g;                                                                                                           \
        s[3] = q - g;                                                                                                           \
        s[1] = p + h;                                                                                                           \
        s[7] = p - h;                                                                                                           \
    }

// Coefficients as COSINE_FORWARD leaves them back to 8 times the samples.
#define COSINE_INVERSE(T, s)                                                                                                    \
    {                                                                                                                           \
        const T a0 = s[0] + s[4], a1 = s[0] - s[4], a2 = s[2] + s[6], a3 = (s[2] - s[6]) * (2 * AAN_1) - a2;                    \
        const T c0 = a0 + a2, c3 = a0 - a2, c1 = a1 + a3, c2 = a1 - a3;                                                         \
        const T p = s[5] + s[3], q = s[5] - s[3], r = s[1] + s[7], t = s[1] - s[7];                                             \
        const T d7 = r + p, m = (r - p) * (2 * AAN_1), z = (q + t) * 1.847759065022573512f;                                     \
        const T u = t * 1.082392200292393968f - z, v = z - q * 2.613125929752753055f;                                           \
        const T d6 = v - d7, d5 = m - d6, d4 = u + d5;                                                                          \
        s[0] = c0 + d7;                                                                                                         \
        s[7] = c0 - d7;                                                                                                         \
        s[1] = c1 + d6;                                                                                                         \
        s[6] = c1 - d6;                                                                                                         \
        s[2] = c2 + d5;                                                                                                         \
        s[5] = c2 - d5;                                                                                                         \
        s[4] = c3 + d4;                                                                                                         \
        s[3] = c3 - d4;                                                                                                         \
    }

// Only visible pixels are read and only clear ones written, so rows may be filled in any order and more than once.
CPU_FORM void denoise_fill(__global float *rows, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global float *row = chain_target(rows, p, y, 0);
    const float16 none = (float16)(0.0f), one = (float16)(1.0f);
    for (int x = 0; x < p.width; x += 16) {
        const int16 clear = vload16(0, row + 3 * p.stride + x) <= 0.0f;
        if (!any(clear))
            continue;
        // Sums of the columns from x - 8 on: R, G, B and how many are visible.
        float columns[4][32];
        for (int i = 0; i < 2; ++i) {
            float16 sum[4] = {none, none, none, none};
            for (int k = -DENOISE_FILL; k <= DENOISE_FILL; ++k) {
                __global const float *from = chain_source(rows, p, y + k, 0);
                const int at = x - 8 + 16 * i;
                const int16 visible = load_edge16(from + 3 * p.stride, at, p.width) > 0.0f;
                for (int c = 0; c < 3; ++c)
                    sum[c] += select(none, load_edge16(from + c * p.stride, at, p.width), visible);
                sum[3] += select(none, one, visible);
            }
            for (int c = 0; c < 4; ++c)
                vstore16(sum[c], i, columns[c]);
        }
        float16 sum[4] = {none, none, none, none};
        for (int k = 8 - DENOISE_FILL; k <= 8 + DENOISE_FILL; ++k)
            for (int c = 0; c < 4; ++c)
                sum[c] += vload16(0, columns[c] + k);
        const float16 share = one / max(sum[3], one);
        for (int c = 0; c < 3; ++c)
            vstore16(select(vload16(0, row + c * p.stride + x), sum[c] * share, clear), 0, row + c * p.stride + x);
    }
}

// The column before each of `here`, whose first has the last of `before` in front of it.
inline float16 denoise_beside(float16 before, float16 here) {
    float16 v;
    v.s0 = before.sf;
    v.s12345678 = here.s01234567;
    v.s9abc = here.s89ab;
    v.sde = here.scd;
    v.sf = here.se;
    return v;
}

// DENOISE_STEP rows from y on as decorrelated planes, DENOISE_RADIUS + 1 columns in front of x0.
inline void denoise_planes(__global const float *src, chain_codes codes, __global float *planes, chain_rows p, int x0, int y,
                           int vectors) {
    for (int r = 0; r < DENOISE_STEP; ++r, planes += DENOISE_PITCH) {
        for (int k = 0; k < vectors; ++k) {
            float16 c[3][2];
            for (int i = 0; i < 2; ++i) {
                const pixels v = chain_load(src, codes, p, y + r, x0 - DENOISE_RADIUS - 1 + 32 * k + 16 * i);
                const float16 both = v.r + v.b;
                c[0][i] = (both + v.g) * 0.577350269f;
                c[1][i] = (v.r - v.b) * 0.707106781f;
                c[2][i] = (both - 2.0f * v.g) * 0.408248290f;
            }
            for (int i = 0; i < 3; ++i) {
                float16 even, odd;
                even.lo = c[i][0].even;
                even.hi = c[i][1].even;
                odd.lo = c[i][0].odd;
                odd.hi = c[i][1].odd;
                vstore16(even, k, planes + 2 * DENOISE_STEP * DENOISE_PITCH * i);
                vstore16(odd, k, planes + 2 * DENOISE_STEP * DENOISE_PITCH * i + DENOISE_HALF);
            }
        }
    }
}

// Columns of eight rows, DENOISE_STEP of them at `upper` and the others at `lower`, to coefficients.
inline void denoise_columns(__global const float *upper, __global const float *lower, __global float *columns, int vectors) {
    for (int parity = 0; parity < DENOISE_PITCH; parity += DENOISE_HALF) {
        for (int k = 0; k < vectors; ++k) {
            float16 s[8];
            for (int i = 0; i < DENOISE_STEP; ++i) {
                s[i] = vload16(k, upper + parity + i * DENOISE_PITCH);
                s[i + DENOISE_STEP] = vload16(k, lower + parity + i * DENOISE_PITCH);
            }
            COSINE_FORWARD(float16, s)
            for (int u = 0; u < 8; ++u)
                vstore16(s[u], k, columns + parity + u * DENOISE_PITCH);
        }
    }
}

// One coefficient of all columns: the blocks' shrunken sum, transformed back along the row.
inline void denoise_row(__global const float *from, __global float *to, __global const float *limits, int vectors) {
    // What the blocks of the vector before add to the columns of this one.
    float16 before[6];
    for (int i = 0; i < 6; ++i)
        before[i] = (float16)(0.0f);
    int overlap = 0;
    for (int k = 0; k < vectors; ++k) {
        float16 s[8];
        for (int i = 0; i < 8; ++i)
            s[i] = vload16(0, from + (i & 1) * DENOISE_HALF + 16 * k + i / 2);
        COSINE_FORWARD(float16, s)
        int16 kept = (int16)(0);
        for (int i = 0; i < 8; ++i) {
            const int16 keep = s[i] * s[i] > limits[i];
            kept |= keep;
            s[i] = select((float16)(0.0f), s[i], keep);
        }
        // Most coefficients of most blocks are noise: then there is nothing to transform back.
        const int some = any(kept);
        if (some || overlap) {
            COSINE_INVERSE(float16, s)
            for (int i = 5; i >= 0; --i) {
                const float16 here = s[i + 2];
                s[i] += denoise_beside(before[i], here);
                before[i] = here;
            }
        }
        overlap = some;
        vstore16(s[0], k, to);
        vstore16(s[1], k, to + DENOISE_HALF);
    }
}

// Back along the columns: adds to the upper rows' `pending` for the rows that are `ready`, and leaves the lower ones as pending.
inline void denoise_add(__global const float *sums, __global float *pending, __global float *ready, int vectors) {
    for (int parity = 0; parity < DENOISE_PITCH; parity += DENOISE_HALF) {
        for (int k = 0; k < vectors; ++k) {
            float16 s[8];
            for (int u = 0; u < 8; ++u)
                s[u] = vload16(k, sums + parity + u * DENOISE_PITCH);
            COSINE_INVERSE(float16, s)
            for (int i = 0; i < DENOISE_STEP; ++i) {
                const int at = parity + i * DENOISE_PITCH;
                vstore16(vload16(k, pending + at) + s[i], k, ready + at);
                vstore16(s[i + DENOISE_STEP], k, pending + at);
            }
        }
    }
}

// One row's columns from x on.
inline float16 denoise_samples(__global const float *row, int x) {
    float16 v;
    v.even = vload8(0, row + (x + DENOISE_RADIUS + 1) / 2);
    v.odd = vload8(0, row + (x + DENOISE_RADIUS + 1) / 2 + DENOISE_HALF);
    return v;
}

// Sums of the decorrelated planes to the means of R, G and B of row y.
inline void denoise_colors(__global const float *ready, __global float *dst, chain_codes codes, chain_rows p, int x0, int y,
                           int columns) {
    const float mean = 1.0f / (64 * 4 * (8 / DENOISE_STEP));
    for (int x = 0; x < columns; x += 16) {
        const float16 luma = denoise_samples(ready, x) * (0.577350269f * mean),
                      a = denoise_samples(ready + DENOISE_STEP * DENOISE_PITCH, x) * (0.707106781f * mean),
                      b = denoise_samples(ready + 2 * DENOISE_STEP * DENOISE_PITCH, x) * (0.408248290f * mean);
        pixels v;
        v.r = luma + a + b;
        v.g = luma - 2.0f * b;
        v.b = luma - a + b;
        chain_store(v, dst, codes, p, y, x0 + x);
    }
}

inline void denoise_make(__global const float *src, __global float *dst, chain_codes codes, __global const float *limits,
                         __global float *scratch, chain_rows p) {
    const int tile = get_global_id(0);
    const int across = (p.width + DENOISE_COLUMNS - 1) / DENOISE_COLUMNS;
    const int x0 = tile % across * DENOISE_COLUMNS;
    const int y0 = p.first_row + tile / across * DENOISE_ROWS;
    const int rows = min(DENOISE_ROWS, p.first_row + p.rows - y0);
    if (rows <= 0)
        return;
    const int columns = min(DENOISE_COLUMNS, p.stride - x0);
    // Of columns of one parity, and of blocks: those that reach into the tile.
    const int vectors = (columns + DENOISE_RADIUS + 1 + 31) / 32;
    __global float *planes = scratch + (size_t)tile * p.scratch_stride; // [3][2][DENOISE_STEP]
    __global float *pending = planes + 6 * DENOISE_STEP * DENOISE_PITCH; // [3][DENOISE_STEP]
    __global float *ready = pending + 3 * DENOISE_STEP * DENOISE_PITCH;  // [3][DENOISE_STEP]
    __global float *transformed = ready + 3 * DENOISE_STEP * DENOISE_PITCH;
    __global float *sums = transformed + 8 * DENOISE_PITCH;
    for (int i = 0; i < 3 * DENOISE_STEP * DENOISE_PITCH; i += 16)
        vstore16((float16)(0.0f), 0, pending + i);
    // Read for blocks behind the tile's last, which reach into no column of it.
    for (int i = 0; i < 16; ++i)
        vstore16((float16)(0.0f), vectors, transformed + i * DENOISE_HALF);
    // First row of the first block that reaches into the tile, on the grid of the picture.
    const int first = (y0 - DENOISE_RADIUS + DENOISE_STEP - 1) & ~(DENOISE_STEP - 1);
    denoise_planes(src, codes, planes, p, x0, first, vectors);
    // The rows of a block's upper half are where those of the lower half of the block above it are.
    int upper = 0, lower = DENOISE_STEP * DENOISE_PITCH;
    for (int top = first; top < y0 + rows; top += DENOISE_STEP) {
        denoise_planes(src, codes, planes + lower, p, x0, top + DENOISE_STEP, vectors);
        for (int c = 0; c < 3; ++c) {
            __global const float *plane = planes + 2 * c * DENOISE_STEP * DENOISE_PITCH;
            denoise_columns(plane + upper, plane + lower, transformed, vectors);
            for (int u = 0; u < 8; ++u)
                denoise_row(transformed + u * DENOISE_PITCH, sums + u * DENOISE_PITCH, limits + (c > 0 ? 64 : 0) + 8 * u, vectors);
            denoise_add(sums, pending + c * DENOISE_STEP * DENOISE_PITCH, ready + c * DENOISE_STEP * DENOISE_PITCH, vectors);
        }
        for (int r = 0; r < DENOISE_STEP; ++r) {
            const int y = top + r;
            if (y < y0 || y >= y0 + rows)
                continue;
            denoise_colors(ready + r * DENOISE_PITCH, dst, codes, p, x0, y, columns);
            if (p.planes == 4)
                for (int x = x0; x < x0 + columns; x += 16)
                    vstore16(vload16(0, chain_source(src, p, y, 3) + x), 0, chain_target(dst, p, y, 3) + x);
        }
        const int above = upper;
        upper = lower;
        lower = above;
    }
}

CPU_FORM void denoise_tile(__global const float *src, __global float *dst, __global const float *limits,
                           __global float *scratch, const chain_rows p) {
    denoise_make(src, dst, chain_no_codes(), limits, scratch, p);
}

#ifdef PIXELS_FORM

// The same sums in the same order.
GPU_FORM void denoise_fill_pixel(__global float *rows, const chain_rows p) {
    const int x = get_global_id(0), y = p.first_row + (int)get_global_id(1);
    if (x >= p.width)
        return;
    __global float *to = chain_target(rows, p, y, 0) + x;
    if (to[3 * p.stride] > 0.0f)
        return;
    float4 sum = (float4)(0.0f);
    for (int j = -DENOISE_FILL; j <= DENOISE_FILL; ++j) {
        float4 column = (float4)(0.0f);
        for (int k = -DENOISE_FILL; k <= DENOISE_FILL; ++k) {
            __global const float *from = chain_source(rows, p, y + k, 0) + edge(x + j, p.width);
            if (from[3 * p.stride] > 0.0f)
                column += (float4)(from[0], from[p.stride], from[2 * p.stride], 1.0f);
        }
        sum += column;
    }
    sum.xyz *= 1.0f / max(sum.w, 1.0f);
    to[0] = sum.x;
    to[p.stride] = sum.y;
    to[2 * p.stride] = sum.z;
}

#define DENOISE_SEGMENT 8 // columns of four blocks, without those that they share with the next four
// Floats from one coefficient to the next: eight coefficients of four segments are in 32 different banks.
#define DENOISE_LINE (DENOISE_GROUP + 1)

// DENOISE_STEP rows from y on of a column as decorrelated planes.
inline void denoise_read(__global const float *src, chain_rows p, int x, int y, float planes[3][DENOISE_STEP]) {
#pragma unroll
    for (int i = 0; i < DENOISE_STEP; ++i) {
        __global const float *from = chain_source(src, p, y + i, 0) + x;
        const float r = from[0], g = from[p.stride], b = from[2 * p.stride], both = r + b;
        planes[0][i] = (both + g) * 0.577350269f;
        planes[1][i] = (r - b) * 0.707106781f;
        planes[2][i] = (both - 2.0f * g) * 0.408248290f;
    }
}

// One coefficient of four blocks: their shrunken sum along the row, in `over` what of it belongs to the next segment.
inline void denoise_blocks(__local const float *from, __local float *sums, __local float *over, const float *limits) {
    float line[DENOISE_SEGMENT + 6], before[6];
#pragma unroll
    for (int i = 0; i < DENOISE_SEGMENT + 6; ++i)
        line[i] = from[i];
#pragma unroll
    for (int i = 0; i < 6; ++i)
        before[i] = 0.0f;
#pragma unroll
    for (int block = 0; block < DENOISE_SEGMENT; block += 2) {
        float s[8];
#pragma unroll
        for (int i = 0; i < 8; ++i)
            s[i] = line[block + i];
        COSINE_FORWARD(float, s)
        bool some = false;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const bool keep = s[i] * s[i] > limits[i];
            some |= keep;
            s[i] = keep ? s[i] : 0.0f;
        }
        if (some)
            COSINE_INVERSE(float, s)
#pragma unroll
        for (int i = 0; i < 6; ++i)
            s[i] += before[i];
        sums[block] = s[0];
        sums[block + 1] = s[1];
#pragma unroll
        for (int i = 0; i < 6; ++i)
            before[i] = s[i + 2];
    }
#pragma unroll
    for (int i = 0; i < 6; ++i)
        over[i] = before[i];
}

__kernel __attribute__((reqd_work_group_size(DENOISE_GROUP, 1, 1))) void denoise_group(
    __global const float *src, __global float *dst, __global const float *limits, const chain_rows p) {
    // Behind the last coefficient's columns are those of blocks that reach into no pixel of the group.
    __local float columns[8 * DENOISE_LINE + 8], sums[8 * DENOISE_LINE], over[8 * DENOISE_LINE];
    const int t = get_local_id(0);
    const int across = (p.width + DENOISE_GROUP_COLUMNS - 1) / DENOISE_GROUP_COLUMNS;
    const int group = get_group_id(0);
    const int x = group % across * DENOISE_GROUP_COLUMNS + t - 6;
    const int y0 = p.first_row + group / across * DENOISE_GROUP_ROWS;
    const int y1 = min(y0 + DENOISE_GROUP_ROWS, p.first_row + p.rows);
    const bool makes = t >= 6 && t < DENOISE_GROUP - 6 && x < p.width;
    const int column = edge(x, p.width);
    const int row = t % 8, segment = t / 8, at = row * DENOISE_LINE + segment * DENOISE_SEGMENT;
    const bool shares = segment > 0 && row < 6;
    float limit[2][8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        limit[0][i] = limits[8 * row + i];
        limit[1][i] = limits[64 + 8 * row + i];
    }
    if (t < 8)
        columns[8 * DENOISE_LINE + t] = 0.0f;
    float upper[3][DENOISE_STEP], lower[3][DENOISE_STEP], pending[3][DENOISE_STEP], ready[3][DENOISE_STEP];
#pragma unroll
    for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int i = 0; i < DENOISE_STEP; ++i)
            pending[c][i] = 0.0f;
    const int first = (y0 - DENOISE_RADIUS + DENOISE_STEP - 1) & ~(DENOISE_STEP - 1);
    denoise_read(src, p, column, first, upper);
    for (int top = first; top < y1; top += DENOISE_STEP) {
        denoise_read(src, p, column, top + DENOISE_STEP, lower);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            float s[8];
#pragma unroll
            for (int i = 0; i < DENOISE_STEP; ++i) {
                s[i] = upper[c][i];
                s[i + DENOISE_STEP] = lower[c][i];
                upper[c][i] = lower[c][i];
            }
            COSINE_FORWARD(float, s)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                columns[i * DENOISE_LINE + t] = s[i];
            barrier(CLK_LOCAL_MEM_FENCE);
            denoise_blocks(columns + at, sums + at, over + at, limit[c > 0]);
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                s[i] = sums[i * DENOISE_LINE + t];
                if (shares)
                    s[i] += over[i * DENOISE_LINE + t - DENOISE_SEGMENT];
            }
            COSINE_INVERSE(float, s)
#pragma unroll
            for (int i = 0; i < DENOISE_STEP; ++i) {
                ready[c][i] = pending[c][i] + s[i];
                pending[c][i] = s[i + DENOISE_STEP];
            }
        }
        if (!makes)
            continue;
#pragma unroll
        for (int i = 0; i < DENOISE_STEP; ++i) {
            const int y = top + i;
            if (y < y0 || y >= y1)
                continue;
            const float mean = 1.0f / (64 * 4 * (8 / DENOISE_STEP));
            const float luma = ready[0][i] * (0.577350269f * mean), a = ready[1][i] * (0.707106781f * mean),
                        b = ready[2][i] * (0.408248290f * mean);
            __global float *to = chain_target(dst, p, y, 0) + x;
            to[0] = luma + a + b;
            to[p.stride] = luma - 2.0f * b;
            to[2 * p.stride] = luma - a + b;
            if (p.planes == 4)
                to[3 * p.stride] = chain_source(src, p, y, 3)[x];
        }
    }
}

#endif
