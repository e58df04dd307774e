// deconvolve: luma before a Gaussian blur made it what it is, by a few rounds of Richardson and Lucy.
//
//   e0 = y,  e' = e * blur(y / blur(e)),  out = in + limit(e) - y
//
// (Richardson, "Bayesian-Based Iterative Method of Image Restoration", JOSA 1972; Lucy, AJ 1974.) The result stays within what luma
// has in the 5 x 5 pixels around it and DECONVOLVE_OVERSHOOT of their spread, so that edges get no halos. Luma counts from
// DECONVOLVE_FLOOR on, which keeps the quotient tame in the dark.
//
// Clear pixels (alpha 0) take no part: their luma is 0 throughout, blurs are divided by the share of their weights that falls on
// visible pixels, and the 5 x 5 pixels are the visible ones among them.
//
// Reference  ChainReference in the tests, float64; within 2 of 65535.
// Chunking   A chunk is a band of rows: it reads halo = max(2 * radius * rounds, 2) rows more on each side.
// Launch     deconvolve_tile: 1-D, one work-item a tile of DECONVOLVE_COLUMNS x DECONVOLVE_ROWS, local size 1 (CPU form).
//            *_pixel: 2-D, one work-item a pixel of the chunk, (width rounded up, rows), local (WGS, 1): deconvolve_luma_pixel with the
//            halo, two of deconvolve_half_pixel a round, whose work-items make DECONVOLVE_STEP rows, deconvolve_apply_pixel (GPU form).
// Barriers   GPU form: one.
//
// Buffers
//   src, dst   rows as in chain.cl
//   weights    [DECONVOLVE_RADIUS + 1] float: of the middle and of the distances 1 ... radius on each side; sum with both sides 1
//   scratch    work-items * p.scratch_stride floats, at least (p.planes * (DECONVOLVE_ROWS + 2 * halo) + 3) * pitch, where
//              pitch = DECONVOLVE_COLUMNS + 2 * halo + 32, rounded up to a multiple of 16 (CPU form)
//   luma, estimate, ratio, share   [rows + 2 * halo][pitch] float, pitch at least width + 2 * halo; share is read and written with
//              p.clear alone (GPU form)

#define DECONVOLVE_COLUMNS 256
#define DECONVOLVE_ROWS 128
#define DECONVOLVE_RADIUS 4
#define DECONVOLVE_STEP 4 // rows that a work-item of the GPU form makes of a blur
#define DECONVOLVE_FLOOR 0.01f
#define DECONVOLVE_OVERSHOOT 0.25f
#define DECONVOLVE_BRIGHT 1e30f // stands for clear pixels where the least luma is looked for

// Field for field the C struct bg_deconvolve_params.
typedef struct {
    int radius; // of the blur, 1 ... DECONVOLVE_RADIUS
    int rounds;
    int halo;   // pixels a result depends on in each direction
    int pitch;  // floats from one row of a tile to the next
    float amount;
} deconvolve_params;

// A row of `plane` blurred in both directions, 16 columns at a time from `x`: `line` gets the vertical sums.
inline void blur_columns(__global const float *row, __global float *line, int pitch, int from, int to,
                         __global const float *weights, int radius) {
    for (int x = from; x < to; x += 16) {
        float16 sum = vload16(0, row + x) * weights[0];
        for (int k = 1; k <= radius; ++k)
            sum += (vload16(0, row + x - k * pitch) + vload16(0, row + x + k * pitch)) * weights[k];
        vstore16(sum, 0, line + x);
    }
}

inline float16 blur_row(__global const float *line, __global const float *weights, int radius) {
    float16 sum = vload16(0, line) * weights[0];
    for (int k = 1; k <= radius; ++k)
        sum += (vload16(0, line - k) + vload16(0, line + k)) * weights[k];
    return sum;
}

// The least and the most of 5 x 5 pixels.
inline void extremes_columns(__global const float *row, __global float *low, __global float *high, int pitch, int from,
                             int to, const int clear) {
    for (int x = from; x < to; x += 16) {
        float16 a = (float16)(DECONVOLVE_BRIGHT), b = (float16)(0.0f);
        for (int k = -2; k <= 2; ++k) {
            const float16 v = vload16(0, row + x + k * pitch);
            a = min(a, clear ? select((float16)(DECONVOLVE_BRIGHT), v, v > 0.0f) : v);
            b = max(b, v);
        }
        vstore16(a, 0, low + x);
        vstore16(b, 0, high + x);
    }
}

inline void deconvolve_make(__global const float *src, __global float *dst, __global const float *weights,
                            __global float *scratch, deconvolve_params q, chain_rows p, const int clear) {
    const int tile = get_global_id(0);
    const int across = (p.width + DECONVOLVE_COLUMNS - 1) / DECONVOLVE_COLUMNS;
    const int x0 = tile % across * DECONVOLVE_COLUMNS;
    const int y0 = p.first_row + tile / across * DECONVOLVE_ROWS;
    const int rows = min(DECONVOLVE_ROWS, p.first_row + p.rows - y0);
    if (rows <= 0)
        return;
    const int columns = min(DECONVOLVE_COLUMNS, p.width - x0);
    const int halo = q.halo, pitch = q.pitch;
    const int height = rows + 2 * halo, width = columns + 2 * halo;
    // Planes of the tile with its halo; 16 columns in front, so that whole vectors may begin before the first.
    __global float *luma = scratch + (size_t)tile * p.scratch_stride + 16;
    __global float *estimate = luma + (DECONVOLVE_ROWS + 2 * halo) * pitch;
    __global float *ratio = estimate + (DECONVOLVE_ROWS + 2 * halo) * pitch;
    __global float *line = ratio + (DECONVOLVE_ROWS + 2 * halo) * pitch;
    __global float *line2 = line + pitch;
    __global float *share = line2 + pitch;
    const float16 none = (float16)(0.0f), one = (float16)(1.0f);

    for (int y = 0; y < height; ++y) {
        __global const float *from = chain_source(src, p, y0 - halo + y, 0);
        for (int x = 0; x < width; x += 16) {
            const int at = x0 - halo + x;
            const float16 v = load_edge16(from, at, p.width) * LUMA_R + load_edge16(from + p.stride, at, p.width) * LUMA_G +
                              load_edge16(from + 2 * p.stride, at, p.width) * LUMA_B;
            float16 w = max(v, none) + DECONVOLVE_FLOOR;
            if (clear) {
                const int16 visible = load_edge16(from + 3 * p.stride, at, p.width) > 0.0f;
                w = select(none, w, visible);
                vstore16(select(one, none, visible), 0, ratio + y * pitch + x);
            }
            vstore16(w, 0, luma + y * pitch + x);
            vstore16(w, 0, estimate + y * pitch + x);
        }
    }
    const int r = q.radius;
    if (clear) {
        // What blurs of visible pixels are multiplied with: exactly 1 where all are visible.
        for (int y = r; y < height - r; ++y) {
            blur_columns(ratio + y * pitch, line, pitch, 0, width, weights, r);
            for (int x = r; x < width - r; x += 16) {
                const float16 all = one / (one - blur_row(line + x, weights, r));
                vstore16(select(none, all, vload16(0, luma + y * pitch + x) > 0.0f), 0, share + y * pitch + x);
            }
        }
    }
    for (int round = 0; round < q.rounds; ++round) {
        // What the quotient and the new estimate are still right in.
        const int a = (2 * round + 1) * r, b = (2 * round + 2) * r;
        for (int y = a; y < height - a; ++y) {
            blur_columns(estimate + y * pitch, line, pitch, a - r, width - a + r, weights, r);
            for (int x = a; x < width - a; x += 16) {
                const float16 wanted = vload16(0, luma + y * pitch + x);
                float16 blurred = blur_row(line + x, weights, r);
                if (clear)
                    blurred *= vload16(0, share + y * pitch + x);
                const float16 quotient = wanted / blurred;
                vstore16(clear ? select(none, quotient, wanted > 0.0f) : quotient, 0, ratio + y * pitch + x);
            }
        }
        for (int y = b; y < height - b; ++y) {
            blur_columns(ratio + y * pitch, line, pitch, b - r, width - b + r, weights, r);
            for (int x = b; x < width - b; x += 16) {
                float16 blurred = blur_row(line + x, weights, r);
                if (clear)
                    blurred *= vload16(0, share + y * pitch + x);
                vstore16(vload16(0, estimate + y * pitch + x) * blurred, 0, estimate + y * pitch + x);
            }
        }
    }
    for (int y = 0; y < rows; ++y) {
        extremes_columns(luma + (y + halo) * pitch, line, line2, pitch, halo - 2, width - halo + 2, clear);
        __global const float *from = chain_source(src, p, y0 + y, 0) + x0;
        __global float *to = chain_target(dst, p, y0 + y, 0) + x0;
        for (int x = 0; x < columns; x += 16) {
            float16 low = vload16(0, line + halo + x), high = vload16(0, line2 + halo + x);
            for (int k = -2; k <= 2; ++k) {
                low = min(low, vload16(0, line + halo + x + k));
                high = max(high, vload16(0, line2 + halo + x + k));
            }
            const float16 spread = (high - low) * DECONVOLVE_OVERSHOOT;
            const float16 sharp = clamp(vload16(0, estimate + (y + halo) * pitch + halo + x), low - spread, high + spread);
            const float16 before = vload16(0, luma + (y + halo) * pitch + halo + x);
            float16 d = (sharp - before) * q.amount;
            if (clear)
                d = select(none, d, before > 0.0f);
            pixels v = load_rows(from, p.stride, x);
            v.r += d;
            v.g += d;
            v.b += d;
            store_rows(v, to, p.stride, x);
            if (p.planes == 4)
                vstore16(vload16(0, from + 3 * p.stride + x), 0, to + 3 * p.stride + x);
        }
    }
}

CPU_FORM void deconvolve_tile(__global const float *src, __global float *dst, __global const float *weights,
                              __global float *scratch, const deconvolve_params q, const chain_rows p) {
    if (p.clear)
        deconvolve_make(src, dst, weights, scratch, q, p, 1);
    else
        deconvolve_make(src, dst, weights, scratch, q, p, 0);
}

#ifdef PIXELS_FORM

GPU_FORM void deconvolve_luma_pixel(__global const float *src, __global float *luma, __global float *estimate,
                                    __global float *ratio, const deconvolve_params q, const chain_rows p) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= p.width + 2 * q.halo)
        return;
    const float4 v = read_pixel(chain_source(src, p, p.first_row - q.halo + y, 0), p, edge(x - q.halo, p.width));
    const bool visible = !p.clear || v.w > 0.0f;
    luma[y * q.pitch + x] = estimate[y * q.pitch + x] = visible ? max(pixel_luma(v), 0.0f) + DECONVOLVE_FLOOR : 0.0f;
    if (p.clear)
        ratio[y * q.pitch + x] = visible ? 0.0f : 1.0f;
}

#define DECONVOLVE_MULTIPLY 0 // target = factor * blur(plane)
#define DECONVOLVE_DIVIDE 1   // target = factor / blur(plane)
#define DECONVOLVE_SHARE 2    // target = 1 / (1 - blur(plane)), of a plane that is 1 where pixels are clear

// Half a round, or what comes before them with p.clear, `margin` pixels within the halo. A group makes DECONVOLVE_STEP rows of WGS - 2 * radius columns.
GPU_FORM void deconvolve_half_pixel(__global const float *plane, __global const float *factor, __global float *target,
                                    __global const float *weights, __global const float *share,
                                    const deconvolve_params q, const chain_rows p, const int margin, const int step) {
    __local float lines[DECONVOLVE_STEP][WGS];
    const int t = get_local_id(0), y = margin + (int)get_global_id(1) * DECONVOLVE_STEP;
    const int x = margin + (int)get_group_id(0) * (WGS - 2 * q.radius) + t - q.radius;
    const int right = p.width + 2 * q.halo - margin, bottom = p.rows + 2 * q.halo - margin;
    __global const float *from = plane + min(x, right + q.radius - 1);
    float weight[DECONVOLVE_RADIUS + 1], column[DECONVOLVE_STEP + 2 * DECONVOLVE_RADIUS];
#pragma unroll
    for (int k = 0; k <= DECONVOLVE_RADIUS; ++k)
        weight[k] = weights[k];
#pragma unroll
    for (int i = 0; i < DECONVOLVE_STEP + 2 * DECONVOLVE_RADIUS; ++i) {
        const int row = i - DECONVOLVE_RADIUS;
        if (row >= -q.radius && row < DECONVOLVE_STEP + q.radius)
            column[i] = from[min(y + row, bottom + q.radius - 1) * q.pitch];
    }
#pragma unroll
    for (int i = 0; i < DECONVOLVE_STEP; ++i) {
        const int middle = i + DECONVOLVE_RADIUS;
        float sum = column[middle] * weight[0];
#pragma unroll
        for (int k = 1; k <= DECONVOLVE_RADIUS; ++k)
            if (k <= q.radius)
                sum += (column[middle - k] + column[middle + k]) * weight[k];
        lines[i][t] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < q.radius || t >= WGS - q.radius || x >= right)
        return;
#pragma unroll
    for (int i = 0; i < DECONVOLVE_STEP; ++i) {
        __local const float *here = lines[i] + t;
        float blurred = here[0] * weight[0];
#pragma unroll
        for (int k = 1; k <= DECONVOLVE_RADIUS; ++k)
            if (k <= q.radius)
                blurred += (here[-k] + here[k]) * weight[k];
        if (y + i < bottom) {
            const int at = (y + i) * q.pitch + x;
            const float v = factor[at];
            if (p.clear && v == 0.0f)
                target[at] = 0.0f;
            else if (step == DECONVOLVE_SHARE)
                target[at] = 1.0f / (1.0f - blurred);
            else {
                if (p.clear)
                    blurred *= share[at];
                target[at] = step == DECONVOLVE_DIVIDE ? v / blurred : v * blurred;
            }
        }
    }
}

GPU_FORM void deconvolve_apply_pixel(__global const float *src, __global float *dst, __global const float *luma,
                                     __global const float *estimate, const deconvolve_params q, const chain_rows p) {
    __local float lows[WGS + 4], highs[WGS + 4];
    const int t = get_local_id(0), x = get_global_id(0), y = get_global_id(1);
    __global const float *row = luma + (y + q.halo) * q.pitch + q.halo;
    for (int i = t; i < WGS + 4; i += WGS) {
        const int at = min(x - t - 2 + i, p.width + 1);
        float low = DECONVOLVE_BRIGHT, high = 0.0f;
        for (int k = -2; k <= 2; ++k) {
            const float v = row[at + k * q.pitch];
            low = min(low, v > 0.0f ? v : DECONVOLVE_BRIGHT);
            high = max(high, v);
        }
        lows[i] = low;
        highs[i] = high;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= p.width)
        return;
    float low = lows[t + 2], high = highs[t + 2];
    for (int k = 0; k < 5; ++k) {
        low = min(low, lows[t + k]);
        high = max(high, highs[t + k]);
    }
    const float spread = (high - low) * DECONVOLVE_OVERSHOOT;
    const float sharp = clamp(estimate[(y + q.halo) * q.pitch + q.halo + x], low - spread, high + spread);
    float4 v = read_pixel(chain_source(src, p, p.first_row + y, 0), p, x);
    if (row[x] > 0.0f)
        v.xyz += (sharp - row[x]) * q.amount;
    write_pixel(v, chain_target(dst, p, p.first_row + y, 0), p, x);
}

#endif
