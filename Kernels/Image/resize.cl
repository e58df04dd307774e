// resize: separable resampling of opaque 8-bit pictures in integer arithmetic; the same bytes on every device.
//
//   out(y, x) = sum_j h(x, j) * sum_i v(y, i) * in(start_v(y) + i, start_h(x) + j)
//
// The host computes v and h (Lanczos-3, support 3 * scale, centre-aligned, normalised at the edges) as Q14 integers whose
// sum is exactly 16384, so a flat field stays flat. Samples are 8-bit values, or Q14 light (0 ... 16384) when resizing in linear
// light; between the two passes they are 16-bit with 6 (8-bit) or 14 (light) fractional bits.
//
// Reference  ResizeReference in the tests; at most 1 level from float64 arithmetic, PSNR >= 58 dB.
// Chunking   A chunk is a band of output rows; rows do not depend on each other.
// Launch     *_strip: 1-D, one work-item makes STRIP rows, local size 1 (CPU form).
//            *_rows, *_columns: 2-D, one work-item a pixel, (width rounded up, rows), local (WGS, 1) (GPU form).
// Barriers   None.
//
// Buffers
//   src      [rows + 1][src_width + 8] RGBX, uchar or short; row 0 is picture row src_first_row. The extra row and columns are
//            read with weight 0 and may hold anything.
//   dst      [dst_rows][dst_width] RGBX uchar; row 0 is output row dst_first_row.
//   v_start  [output height] first source row;    v_weights [output height][v_taps], v_taps even
//   h_start  [dst_width] first source pixel pair; h_weights [dst_width][h_pairs][2]
//   scratch  strips * scratch_stride shorts (CPU form) or [dst_rows][src_width + 8][4] shorts (GPU form)
//   encode   [16385] uchar: light to 8-bit code, only for light; one table for each of R, G, B after the other

#ifndef STRIP
#define STRIP 8 // output rows a strip work-item makes; fixed, the register block below is written for 8
#endif
#ifndef WGS
#define WGS 64 // work-items per group of the GPU form: 32 ... 256
#endif

// Field for field the C struct bg_resize_params.
typedef struct {
    int src_width;      // pixels
    int src_stride;     // samples from one source row to the next
    int src_first_row;  // picture row of the band's row 0
    int dst_width;      // pixels
    int dst_stride;     // bytes from one output row to the next
    int dst_first_row;  // output row of dst's row 0
    int dst_rows;       // output rows in this chunk
    int v_taps;         // even
    int h_pairs;
    int scratch_stride; // shorts from one strip's scratch to the next; 0 when strips run one after the other
} resize_params;

#define V_SHIFT_CODE 8   // Q14 * 8-bit -> 6 fractional bits
#define H_SHIFT_CODE 20  // Q6 * Q14 -> integer
#define V_SHIFT_LIGHT 14 // Q14 * Q14 -> Q14
#define H_SHIFT_LIGHT 14

// One strip's vertical pass. The result goes to `columns` as [pixel pair][row of the strip][R R G G B B X X], which lets the
// horizontal pass read all rows of a column pair in one go, already paired for a multiply-add.
#define STRIP_VERTICAL(LOAD, SHIFT)                                                                                             \
    for (int x = 0; x < p.src_width; x += 4) {                                                                                  \
        for (int r = 0; r < rows; ++r) {                                                                                        \
            const int y = p.dst_first_row + y0 + r;                                                                             \
            __global const short *w = v_weights + (size_t)y * p.v_taps;                                                         \
            size_t at = (size_t)(v_start[y] - p.src_first_row) * p.src_stride + 4 * x;                                          \
            pair_sum sum = pair_sum_zero();                                                                                     \
            for (int k = 0; k < p.v_taps; k += 2, at += 2 * (size_t)p.src_stride)                                               \
                sum = pair_sum_add(sum, LOAD(src + at), LOAD(src + at + p.src_stride), w + k);                                  \
            const short16 v = pair_sum_round(sum, SHIFT).s041526378c9daebf;                                                     \
            __global short *to = columns + (size_t)(x / 2) * (STRIP * 8) + r * 8;                                               \
            vstore8(v.lo, 0, to);                                                                                               \
            vstore8(v.hi, 0, to + STRIP * 8);                                                                                   \
        }                                                                                                                       \
    }

// The horizontal sums of one output pixel for all 8 rows: sums[i] holds rows 2i and 2i + 1, R G B X each.
#define STRIP_HORIZONTAL_SUMS(sums)                                                                                             \
    __global const short *from = columns + (size_t)h_start[x] * (STRIP * 8);                                                    \
    __global const short *w = h_weights + (size_t)x * p.h_pairs * 2;                                                            \
    int8 sums##0 = (int8)(0), sums##1 = (int8)(0), sums##2 = (int8)(0), sums##3 = (int8)(0);                                    \
    for (int k = 0; k < p.h_pairs; ++k, from += STRIP * 8) {                                                                    \
        const short16 weight = pair_weight(w + 2 * k);                                                                          \
        sums##0 += madd(vload16(0, from), weight);                                                                              \
        sums##1 += madd(vload16(1, from), weight);                                                                              \
        sums##2 += madd(vload16(2, from), weight);                                                                              \
        sums##3 += madd(vload16(3, from), weight);                                                                              \
    }

inline uchar8 codes(int8 sum) {
    return convert_uchar8(clamp((sum + (1 << (H_SHIFT_CODE - 1))) >> H_SHIFT_CODE, (int8)(0), (int8)(255)));
}

inline uchar4 encode_light(int4 sum, __global const uchar *encode) {
    const int4 i = clamp((sum + (1 << (H_SHIFT_LIGHT - 1))) >> H_SHIFT_LIGHT, (int4)(0), (int4)(16384));
    return pack_uchar4(encode[i.x], encode[16385 + i.y], encode[2 * 16385 + i.z], 255);
}

CPU_FORM void resize_code_strip(__global const uchar *src, __global uchar *dst, __global const int *v_start,
                                __global const short *v_weights, __global const int *h_start,
                                __global const short *h_weights, __global short *scratch, const resize_params p) {
    const int strip = get_global_id(0);
    const int y0 = strip * STRIP;
    const int rows = min(STRIP, p.dst_rows - y0);
    if (rows <= 0)
        return;
    __global short *columns = scratch + (size_t)strip * p.scratch_stride;
    STRIP_VERTICAL(load_codes, V_SHIFT_CODE)
    __global uchar *out = dst + (size_t)y0 * p.dst_stride;
    for (int x = 0; x < p.dst_width; ++x, out += 4) {
        STRIP_HORIZONTAL_SUMS(sum)
        const uchar8 c0 = codes(sum0), c1 = codes(sum1), c2 = codes(sum2), c3 = codes(sum3);
        const uchar4 px[STRIP] = {c0.lo, c0.hi, c1.lo, c1.hi, c2.lo, c2.hi, c3.lo, c3.hi};
        for (int r = 0; r < rows; ++r)
            vstore4(px[r], 0, out + (size_t)r * p.dst_stride);
    }
}

CPU_FORM void resize_light_strip(__global const short *src, __global uchar *dst, __global const int *v_start,
                                 __global const short *v_weights, __global const int *h_start,
                                 __global const short *h_weights, __global short *scratch,
                                 __global const uchar *encode, const resize_params p) {
    const int strip = get_global_id(0);
    const int y0 = strip * STRIP;
    const int rows = min(STRIP, p.dst_rows - y0);
    if (rows <= 0)
        return;
    __global short *columns = scratch + (size_t)strip * p.scratch_stride;
    STRIP_VERTICAL(load_light, V_SHIFT_LIGHT)
    __global uchar *out = dst + (size_t)y0 * p.dst_stride;
    for (int x = 0; x < p.dst_width; ++x, out += 4) {
        STRIP_HORIZONTAL_SUMS(sum)
        const int4 px[STRIP] = {sum0.lo, sum0.hi, sum1.lo, sum1.hi, sum2.lo, sum2.hi, sum3.lo, sum3.hi};
        for (int r = 0; r < rows; ++r)
            vstore4(encode_light(px[r], encode), 0, out + (size_t)r * p.dst_stride);
    }
}

// 8-bit codes to Q14 light. One work-item a row (CPU form) or a pixel (GPU form). `decode` is [3][256] of short4 for R, G and B with
// only their own sample set, so that a pixel is three loads put together.
inline short4 decode_light(__global const uchar *from, __global const short *decode) {
    return vload4(from[0], decode) | vload4(256 + from[1], decode) | vload4(512 + from[2], decode);
}

CPU_FORM void decode_light_row(__global const uchar *src, __global short *dst, __global const short *decode,
                               const int width, const int src_stride, const int dst_stride) {
    const size_t row = get_global_id(0);
    __global const uchar *from = src + row * src_stride;
    __global short *to = dst + row * dst_stride;
    for (int x = 0; x < width; ++x, from += 4, to += 4)
        vstore4(decode_light(from, decode), 0, to);
}

#ifdef PIXELS_FORM

GPU_FORM void decode_light_pixel(__global const uchar *src, __global short *dst, __global const short *decode,
                                 const int width, const int src_stride, const int dst_stride) {
    const int x = get_global_id(0);
    if (x >= width)
        return;
    const size_t row = get_global_id(1);
    vstore4(decode_light(src + row * src_stride + 4 * x, decode), x, dst + row * dst_stride);
}

// Vertical pass into scratch [dst_rows][src_width + 8][4].
#define ROWS_KERNEL(NAME, SAMPLE, SHIFT)                                                                                        \
    GPU_FORM void NAME(__global const SAMPLE *src, __global short *scratch, __global const int *v_start,                        \
                       __global const short *v_weights, const resize_params p) {                                                \
        const int x = get_global_id(0);                                                                                         \
        if (x >= p.src_width)                                                                                                   \
            return;                                                                                                             \
        const int row = get_global_id(1);                                                                                       \
        const int y = p.dst_first_row + row;                                                                                    \
        __global const short *w = v_weights + (size_t)y * p.v_taps;                                                             \
        size_t at = (size_t)(v_start[y] - p.src_first_row) * p.src_stride + 4 * (size_t)x;                                      \
        int4 sum = (int4)(0);                                                                                                   \
        for (int k = 0; k < p.v_taps; ++k, at += p.src_stride)                                                                  \
            sum += convert_int4(vload4(0, src + at)) * w[k];                                                                    \
        vstore4(convert_short4((sum + (1 << (SHIFT - 1))) >> SHIFT), x, scratch + (size_t)row * 4 * (p.src_width + 8));         \
    }

ROWS_KERNEL(resize_code_rows, uchar, V_SHIFT_CODE)
ROWS_KERNEL(resize_light_rows, short, V_SHIFT_LIGHT)

inline int4 column_sum(__global const short *scratch, __global const int *h_start, __global const short *h_weights,
                       const resize_params p, int x, int row) {
    __global const short *w = h_weights + (size_t)x * p.h_pairs * 2;
    __global const short *from = scratch + ((size_t)row * (p.src_width + 8) + 2 * h_start[x]) * 4;
    int4 sum = (int4)(0);
    for (int k = 0; k < 2 * p.h_pairs; ++k)
        sum += convert_int4(vload4(k, from)) * w[k];
    return sum;
}

GPU_FORM void resize_code_columns(__global const short *scratch, __global uchar *dst, __global const int *h_start,
                                  __global const short *h_weights, const resize_params p) {
    const int x = get_global_id(0);
    if (x >= p.dst_width)
        return;
    const int row = get_global_id(1);
    const int4 sum = column_sum(scratch, h_start, h_weights, p, x, row);
    const int4 c = clamp((sum + (1 << (H_SHIFT_CODE - 1))) >> H_SHIFT_CODE, (int4)(0), (int4)(255));
    vstore4(convert_uchar4(c), x, dst + (size_t)row * p.dst_stride);
}

GPU_FORM void resize_light_columns(__global const short *scratch, __global uchar *dst, __global const int *h_start,
                                   __global const short *h_weights, __global const uchar *encode,
                                   const resize_params p) {
    const int x = get_global_id(0);
    if (x >= p.dst_width)
        return;
    const int row = get_global_id(1);
    vstore4(encode_light(column_sum(scratch, h_start, h_weights, p, x, row), encode), x,
            dst + (size_t)row * p.dst_stride);
}
#endif
