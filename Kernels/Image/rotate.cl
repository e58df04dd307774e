// rotate: turns a picture about its middle by a small angle, in a frame of the same size.
//
//   dst(x, y) = sum over 6 x 6 source pixels around (u, v) of w(u - i) w(v - j) src(i, j)
//   u - (W - 1) / 2 = c dx + s dy,  v - (H - 1) / 2 = c dy - s dx,  (dx, dy) from the middle of the picture,
//
// with w the Lanczos window of order 3 (Duchon, "Lanczos Filtering in One and Two Dimensions", 1979), its weights brought to a sum
// of 1. Places are whole numbers of 1 / 2^32 pixel, so that every device reads the same pixels. With alpha, colours are weighted by
// it. The picture repeats its edges; what they fill is cut off by the host.
//
// Reference  ChainReference in the tests, float64 with exact weights; within 2 of 65535.
// Chunking   A chunk is a band of rows; reads as many rows around it as the angle reaches.
// Launch     1-D, one work-item makes ROTATE_COLUMNS pixels of a row, local size 1 (CPU form); rotate_part_pixel: 2-D, one work-item
//            a pixel, (width rounded up, rows), local (WGS, 1) (GPU form).
// Barriers   None.
//
// Buffers
//   src, dst  rows as in chain.cl
//   weights   [ROTATE_STEPS + 1][8] float: of pixels -2 ... 3 from the whole place, 2 zeros, for each step of the rest of a place

#define ROTATE_COLUMNS 64 // pixels that a work-item makes
#define ROTATE_STEP_BITS 10
#define ROTATE_STEPS (1 << ROTATE_STEP_BITS)

// Field for field the C struct bg_rotate_params.
typedef struct {
    long cosine; // times 2^31
    long sine;   // times 2^31; positive turns clockwise
} rotate_params;

inline float8 rotate_weights(long place, __global const float *weights) {
    const uint rest = (uint)(place & 0xFFFFFFFF);
    __global const float *low = weights + 8 * (size_t)(rest >> (32 - ROTATE_STEP_BITS));
    const uint between = rest & ((1u << (32 - ROTATE_STEP_BITS)) - 1);
    const float t = (float)(int)between * (1.0f / (float)(1 << (32 - ROTATE_STEP_BITS)));
    const float8 from = vload8(0, low);
    return from + (vload8(1, low) - from) * t;
}

inline float rotate_sum(float8 v) { return ((v.s0 + v.s1) + (v.s2 + v.s3)) + (v.s4 + v.s5); }

CPU_FORM void rotate_part(__global const float *src, __global float *dst, __global const float *weights,
                          const rotate_params q, const chain_rows p) {
    const int parts = (p.width + ROTATE_COLUMNS - 1) / ROTATE_COLUMNS;
    const int part = (int)get_global_id(0);
    const int y = p.first_row + part / parts;
    const int first = part % parts * ROTATE_COLUMNS;
    const int last = min(first + ROTATE_COLUMNS, p.width);
    const long down = 2 * y + 1 - p.height;
    __global float *to = chain_target(dst, p, y, 0);
    for (int x = first; x < last; ++x) {
        const long across = 2 * x + 1 - p.width;
        const long u = across * q.cosine + down * q.sine + ((long)(p.width - 1) << 31);
        const long v = down * q.cosine - across * q.sine + ((long)(p.height - 1) << 31);
        // Of eight columns the last two have no weight.
        const float8 along = rotate_weights(u, weights);
        float rows[8];
        vstore8(rotate_weights(v, weights), 0, rows);
        const int left = (int)(u >> 32) - 2, top = (int)(v >> 32) - 2;
        float8 sums[4];
        for (int c = 0; c < p.planes; ++c)
            sums[c] = (float8)(0.0f);
        for (int k = 0; k < 6; ++k) {
            __global const float *from = chain_source(src, p, top + k, 0);
            float8 weight = along * rows[k];
            if (p.planes == 4) {
                weight = weight * load_edge8(from + 3 * p.stride, left, p.width);
                sums[3] += weight;
            }
            for (int c = 0; c < 3; ++c)
                sums[c] += load_edge8(from + c * p.stride, left, p.width) * weight;
        }
        float divisor = 1.0f;
        if (p.planes == 4) {
            const float alpha = rotate_sum(sums[3]);
            to[3 * p.stride + x] = alpha;
            divisor = alpha > 0.0f ? alpha : 1.0f;
        }
        for (int c = 0; c < 3; ++c)
            to[c * p.stride + x] = rotate_sum(sums[c]) / divisor;
    }
}

#ifdef PIXELS_FORM

// The same sums in the same order.
GPU_FORM void rotate_part_pixel(__global const float *src, __global float *dst, __global const float *weights,
                                const rotate_params q, const chain_rows p) {
    const int x = get_global_id(0), y = p.first_row + (int)get_global_id(1);
    if (x >= p.width)
        return;
    const long across = 2 * x + 1 - p.width, down = 2 * y + 1 - p.height;
    const long u = across * q.cosine + down * q.sine + ((long)(p.width - 1) << 31);
    const long v = down * q.cosine - across * q.sine + ((long)(p.height - 1) << 31);
    float along[8], rows[8];
    vstore8(rotate_weights(u, weights), 0, along);
    vstore8(rotate_weights(v, weights), 0, rows);
    const int left = (int)(u >> 32) - 2, top = (int)(v >> 32) - 2;
    int columns[6];
    float sums[4][6];
#pragma unroll
    for (int i = 0; i < 6; ++i) {
        columns[i] = edge(left + i, p.width);
#pragma unroll
        for (int c = 0; c < 4; ++c)
            sums[c][i] = 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 6; ++k) {
        __global const float *from = chain_source(src, p, top + k, 0);
#pragma unroll
        for (int i = 0; i < 6; ++i) {
            float weight = along[i] * rows[k];
            if (p.planes == 4) {
                weight *= from[3 * p.stride + columns[i]];
                sums[3][i] += weight;
            }
#pragma unroll
            for (int c = 0; c < 3; ++c)
                sums[c][i] += from[c * p.stride + columns[i]] * weight;
        }
    }
    float sum[4];
#pragma unroll
    for (int c = 0; c < 4; ++c)
        sum[c] = ((sums[c][0] + sums[c][1]) + (sums[c][2] + sums[c][3])) + (sums[c][4] + sums[c][5]);
    const float divisor = p.planes == 4 && sum[3] > 0.0f ? sum[3] : 1.0f;
    write_pixel((float4)(sum[0] / divisor, sum[1] / divisor, sum[2] / divisor, sum[3]), chain_target(dst, p, y, 0), p, x);
}

#endif
