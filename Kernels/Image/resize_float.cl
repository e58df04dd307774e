// resize_float: separable resampling of pictures with alpha or 16 bits a channel, in float; premultiplied while it lasts.
//
// The same sums as resize.cl with float weights. Rows are first decoded to premultiplied float4 (codes or linear light by table),
// and encoded at the end: unpremultiplied, or laid over a matte, then back to 16-bit codes by table.
//
// Reference  ResizeReference in the tests; PSNR >= 90 dB at 16 bits. Products are not contracted, so devices that round sums and
//            products as IEEE 754 agree; square root may differ in the last place, hence at most 1 level of 65535 between devices.
// Chunking   A chunk is a band of output rows; rows do not depend on each other.
// Launch     *_strip: 1-D, one work-item makes FLOAT_STRIP rows, local size 1 (CPU form); *_row: 1-D, one work-item a row.
//            *_rows, *_columns: 2-D, one work-item a pixel, local (WGS, 1) (GPU form).
// Barriers   None.
//
// Buffers
//   codes    [rows][width] RGBA ushort, straight alpha
//   decode   [3][65536] float; code to value for R, G, B (strides of decode_stride, 0 when they share one)
//   light    [rows][src_width + 4] float4, premultiplied; the extra columns may hold anything
//   scratch  strips * scratch_stride floats (CPU form) or [dst_rows][src_width + 4] float4 (GPU form)
//   encode   [3][65538] float: square root of a value, times 65536, to code 0 ... 65535 (strides of encode_stride)

#ifndef FLOAT_STRIP
#define FLOAT_STRIP 4 // output rows a strip work-item makes; fixed, the register block below is written for 4
#endif

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#endif

// Field for field the C struct bg_resize_float_params.
typedef struct {
    int src_width;
    int src_stride;     // floats from one source row to the next
    int src_first_row;
    int dst_width;
    int dst_stride;     // floats
    int dst_first_row;
    int dst_rows;
    int v_taps;
    int h_taps;
    int scratch_stride; // floats
} resize_float_params;

// Field for field the C struct bg_encode_float_params.
typedef struct {
    int width;
    int src_stride;    // floats
    int dst_stride;    // ushorts
    int encode_stride; // floats; 0 when R, G, B share one table
    int has_matte;     // 0: keep alpha
    float matte[3];    // values, not codes
} encode_float_params;

inline void decode_float_pixel(__global const ushort *from, __global float *to, __global const float *decode, int stride) {
    const float alpha = from[3] * (1.0f / 65535.0f);
    vstore4(pack_float4(decode[from[0]] * alpha, decode[stride + from[1]] * alpha, decode[2 * stride + from[2]] * alpha, alpha),
            0, to);
}

CPU_FORM void decode_float_row(__global const ushort *codes, __global float *light, __global const float *decode,
                               const int width, const int src_stride, const int dst_stride, const int decode_stride) {
    const size_t row = get_global_id(0);
    for (int x = 0; x < width; ++x)
        decode_float_pixel(codes + row * src_stride + 4 * x, light + row * dst_stride + 4 * x, decode, decode_stride);
}

inline ushort encode_float(float value, __global const float *table) {
    const float at = sqrt(clamp(value, 0.0f, 1.0f)) * 65536.0f;
    const int i = (int)at;
    const float low = table[i];
    return convert_ushort(low + (table[i + 1] - low) * (at - (float)i) + 0.5f);
}

inline void encode_float_pixel(__global const float *from, __global ushort *to, __global const float *table,
                               const encode_float_params p) {
    float4 v = vload4(0, from);
    const float alpha = clamp(v.w, 0.0f, 1.0f);
    // Colours have the same overshoot as their alpha, so they lose it before alpha does.
    if (v.w > 0.0f)
        v = v / v.w;
    if (p.has_matte) {
        const float clear = 1.0f - alpha;
        v = v * alpha + pack_float4(p.matte[0] * clear, p.matte[1] * clear, p.matte[2] * clear, 0.0f);
    }
    to[0] = encode_float(v.x, table);
    to[1] = encode_float(v.y, table + p.encode_stride);
    to[2] = encode_float(v.z, table + 2 * p.encode_stride);
    to[3] = p.has_matte ? convert_ushort(65535) : convert_ushort(alpha * 65535.0f + 0.5f);
}

CPU_FORM void encode_float_row(__global const float *light, __global ushort *codes, __global const float *table,
                               const encode_float_params p) {
    const size_t row = get_global_id(0);
    for (int x = 0; x < p.width; ++x)
        encode_float_pixel(light + row * p.src_stride + 4 * x, codes + row * p.dst_stride + 4 * x, table, p);
}

CPU_FORM void resize_float_strip(__global const float *src, __global float *dst, __global const int *v_start,
                                 __global const float *v_weights, __global const int *h_start,
                                 __global const float *h_weights, __global float *scratch,
                                 const resize_float_params p) {
    const int strip = get_global_id(0);
    const int y0 = strip * FLOAT_STRIP;
    const int rows = min(FLOAT_STRIP, p.dst_rows - y0);
    if (rows <= 0)
        return;
    // [source pixel][row of the strip] float4
    __global float *columns = scratch + (size_t)strip * p.scratch_stride;
    for (int x = 0; x < p.src_width; x += 4) {
        for (int r = 0; r < rows; ++r) {
            const int y = p.dst_first_row + y0 + r;
            __global const float *w = v_weights + (size_t)y * p.v_taps;
            __global const float *from = src + (size_t)(v_start[y] - p.src_first_row) * p.src_stride + 4 * (size_t)x;
            float16 sum = (float16)(0.0f);
            for (int k = 0; k < p.v_taps; ++k, from += p.src_stride)
                sum += vload16(0, from) * w[k];
            __global float *to = columns + (size_t)x * (4 * FLOAT_STRIP) + 4 * r;
            vstore4(sum.s0123, 0, to);
            vstore4(sum.s4567, FLOAT_STRIP, to);
            vstore4(sum.s89ab, 2 * FLOAT_STRIP, to);
            vstore4(sum.scdef, 3 * FLOAT_STRIP, to);
        }
    }
    __global float *out = dst + (size_t)y0 * p.dst_stride;
    for (int x = 0; x < p.dst_width; ++x, out += 4) {
        __global const float *w = h_weights + (size_t)x * p.h_taps;
        __global const float *from = columns + (size_t)h_start[x] * (4 * FLOAT_STRIP);
        float16 sum = (float16)(0.0f);
        for (int k = 0; k < p.h_taps; ++k)
            sum += vload16(k, from) * w[k];
        const float4 px[FLOAT_STRIP] = {sum.s0123, sum.s4567, sum.s89ab, sum.scdef};
        for (int r = 0; r < rows; ++r)
            vstore4(px[r], 0, out + (size_t)r * p.dst_stride);
    }
}

#ifdef PIXELS_FORM
GPU_FORM void decode_float_pixels(__global const ushort *codes, __global float *light, __global const float *decode,
                                  const int width, const int src_stride, const int dst_stride, const int decode_stride) {
    const int x = get_global_id(0);
    if (x >= width)
        return;
    const size_t row = get_global_id(1);
    decode_float_pixel(codes + row * src_stride + 4 * x, light + row * dst_stride + 4 * x, decode, decode_stride);
}

GPU_FORM void encode_float_pixels(__global const float *light, __global ushort *codes, __global const float *table,
                                  const encode_float_params p) {
    const int x = get_global_id(0);
    if (x >= p.width)
        return;
    const size_t row = get_global_id(1);
    encode_float_pixel(light + row * p.src_stride + 4 * x, codes + row * p.dst_stride + 4 * x, table, p);
}

GPU_FORM void resize_float_rows(__global const float *src, __global float *scratch, __global const int *v_start,
                                __global const float *v_weights, const resize_float_params p) {
    const int x = get_global_id(0);
    if (x >= p.src_width)
        return;
    const int row = get_global_id(1);
    const int y = p.dst_first_row + row;
    __global const float *w = v_weights + (size_t)y * p.v_taps;
    __global const float *from = src + (size_t)(v_start[y] - p.src_first_row) * p.src_stride + 4 * (size_t)x;
    float4 sum = (float4)(0.0f);
    for (int k = 0; k < p.v_taps; ++k, from += p.src_stride)
        sum += vload4(0, from) * w[k];
    vstore4(sum, x, scratch + (size_t)row * 4 * (p.src_width + 4));
}

GPU_FORM void resize_float_columns(__global const float *scratch, __global float *dst, __global const int *h_start,
                                   __global const float *h_weights, const resize_float_params p) {
    const int x = get_global_id(0);
    if (x >= p.dst_width)
        return;
    const int row = get_global_id(1);
    __global const float *w = h_weights + (size_t)x * p.h_taps;
    __global const float *from = scratch + ((size_t)row * (p.src_width + 4) + h_start[x]) * 4;
    float4 sum = (float4)(0.0f);
    for (int k = 0; k < p.h_taps; ++k)
        sum += vload4(k, from) * w[k];
    vstore4(sum, x, dst + (size_t)row * p.dst_stride);
}
#endif
