// points: what changes each pixel by itself, and the way between codes and the rows of chain.cl.
//
// A program is a row of segments, each: R, G and B through a table of their own, then the distance from luma times a factor,
//
//   c' = y + s (c - y),  y = 0.2126 R' + 0.7152 G' + 0.0722 B'
//
// so that any row of exposure, white balance, contrast, curves and saturation is one pass. Tables reach from 0 to 2 and are read with
// linear interpolation; what lies outside is taken at their ends.
//
// Reference  ChainReference in the tests, float64 without tables; within 3 of 65535 for one operation of up to two stops, 6 for a row.
//            Between two values of a table a curve is straight: 8 at three stops of exposure, 76 at five.
// Chunking   A chunk is a band of rows.
// Launch     1-D, one work-item a row, local size 1 (CPU form); *_pixel: 2-D, one work-item a pixel, (width rounded up, rows),
//            local (WGS, 1) (GPU form).
// Barriers   None.
//
// Buffers
//   codes     [rows][width] RGBX uchar or RGBA ushort
//   rows      as in chain.cl
//   program   [segments][POINT_SEGMENT] float: whether there are tables, the factor, then at POINT_HEADER [3][POINT_TABLE] values

#define POINT_TABLE 2064       // values at 0, 1 / 1024 ... 2, and some that are not read
#define POINT_STEPS 1024.0f    // values of a table to 1
#define POINT_HEADER 16        // floats in front of a segment's tables
#define POINT_SEGMENT (POINT_HEADER + 3 * POINT_TABLE)

// Field for field the C struct bg_point_params.
typedef struct {
    int segments;
    int code_stride;      // samples from one row of the source's codes to the next
    int code_first_row;   // picture row of the source's row 0
    int target_stride;    // samples from one row of the target's codes to the next
    int target_first_row; // picture row of the target's row 0
} point_params;

typedef struct {
    float16 r, g, b;
} pixels;

inline float16 point_table(float16 v, __global const float *table) {
    const float16 at = clamp(v, (float16)(0.0f), (float16)(2.0f)) * POINT_STEPS;
    const int16 index = convert_int16(at);
    float low[16], high[16];
    int i[16];
    vstore16(index, 0, i);
    for (int k = 0; k < 16; ++k) {
        low[k] = table[i[k]];
        high[k] = table[i[k] + 1];
    }
    const float16 a = vload16(0, low);
    return a + (vload16(0, high) - a) * (at - convert_float16(index));
}

inline pixels point_program(pixels v, __global const float *program, int segments) {
    for (int i = 0; i < segments; ++i, program += POINT_SEGMENT) {
        if (program[0] != 0.0f) {
            v.r = point_table(v.r, program + POINT_HEADER);
            v.g = point_table(v.g, program + POINT_HEADER + POINT_TABLE);
            v.b = point_table(v.b, program + POINT_HEADER + 2 * POINT_TABLE);
        }
        const float factor = program[1];
        if (factor != 1.0f) {
            const float16 y = v.r * LUMA_R + v.g * LUMA_G + v.b * LUMA_B;
            v.r = y + (v.r - y) * factor;
            v.g = y + (v.g - y) * factor;
            v.b = y + (v.b - y) * factor;
        }
    }
    return v;
}

// 16 pixels of 4 bytes or 8.
inline pixels word_pixels8(int16 v) {
    pixels p;
    p.r = convert_float16(v & 255) * (1.0f / 255.0f);
    p.g = convert_float16((v >> 8) & 255) * (1.0f / 255.0f);
    p.b = convert_float16((v >> 16) & 255) * (1.0f / 255.0f);
    return p;
}

inline pixels load_pixels8(__global const uchar *from) { return word_pixels8(vload16(0, (__global const int *)from)); }

inline pixels load_pixels16(__global const ushort *from, float16 *alpha) {
    const int16 v = vload16(0, (__global const int *)from), w = vload16(1, (__global const int *)from);
    int16 even, odd;
    even.lo = v.even;
    even.hi = w.even;
    odd.lo = v.odd;
    odd.hi = w.odd;
    pixels p;
    p.r = convert_float16(even & 65535) * (1.0f / 65535.0f);
    p.g = convert_float16((even >> 16) & 65535) * (1.0f / 65535.0f);
    p.b = convert_float16(odd & 65535) * (1.0f / 65535.0f);
    *alpha = convert_float16((odd >> 16) & 65535) * (1.0f / 65535.0f);
    return p;
}

inline int16 point_code(float16 v, float highest) {
    return convert_int16(clamp(v, (float16)(0.0f), (float16)(1.0f)) * highest + 0.5f);
}

inline void store_words(int16 v, __global int *to, int count) {
    if (count >= 16) {
        vstore16(v, 0, to);
        return;
    }
    int words[16];
    vstore16(v, 0, words);
    for (int i = 0; i < count; ++i)
        to[i] = words[i];
}

inline void store_pixels8(pixels p, __global uchar *to, int count) {
    const int16 v = point_code(p.r, 255.0f) | (point_code(p.g, 255.0f) << 8) | (point_code(p.b, 255.0f) << 16) | (255 << 24);
    store_words(v, (__global int *)to, count);
}

inline void store_pixels16(pixels p, float16 alpha, __global ushort *to, int count) {
    const int16 even = point_code(p.r, 65535.0f) | (point_code(p.g, 65535.0f) << 16);
    const int16 odd = point_code(p.b, 65535.0f) | (point_code(alpha, 65535.0f) << 16);
    int16 v, w;
    v.even = even.lo;
    v.odd = odd.lo;
    w.even = even.hi;
    w.odd = odd.hi;
    store_words(v, (__global int *)to, 2 * count);
    if (count > 8)
        store_words(w, (__global int *)to + 16, 2 * count - 16);
}

inline pixels load_rows(__global const float *row, int stride, int x) {
    pixels v;
    v.r = vload16(0, row + x);
    v.g = vload16(0, row + stride + x);
    v.b = vload16(0, row + 2 * stride + x);
    return v;
}

inline void store_rows(pixels v, __global float *row, int stride, int x) {
    vstore16(v.r, 0, row + x);
    vstore16(v.g, 0, row + stride + x);
    vstore16(v.b, 0, row + 2 * stride + x);
}

// RGBX codes that a level reads and writes in place of rows, through the programs at the ends of a chain.
typedef struct {
    __global const uchar *source; // null where it reads rows
    __global uchar *target;       // null where it writes rows
    __global const float *first;  // program after reading
    __global const float *last;   // program before writing
    point_params reading;
    point_params writing;
} chain_codes;

inline chain_codes chain_no_codes(void) {
    chain_codes codes;
    codes.source = 0;
    codes.target = 0;
    codes.first = 0;
    codes.last = 0;
    return codes;
}

// 16 pixels from column x on of row y; the picture repeats its edges.
inline pixels chain_load(__global const float *src, chain_codes codes, chain_rows p, int y, int x) {
    if (!codes.source) {
        __global const float *from = chain_source(src, p, y, 0);
        pixels v;
        v.r = load_edge16(from, x, p.width);
        v.g = load_edge16(from + p.stride, x, p.width);
        v.b = load_edge16(from + 2 * p.stride, x, p.width);
        return v;
    }
    __global const int *from =
        (__global const int *)(codes.source + (size_t)(edge(y, p.height) - codes.reading.code_first_row) * codes.reading.code_stride);
    int16 words;
    if (x >= 0 && x + 16 <= p.width) {
        words = vload16(0, from + x);
    } else {
        int w[16];
        for (int i = 0; i < 16; ++i)
            w[i] = from[edge(x + i, p.width)];
        words = vload16(0, w);
    }
    return point_program(word_pixels8(words), codes.first, codes.reading.segments);
}

// The same to row y.
inline void chain_store(pixels v, __global float *dst, chain_codes codes, chain_rows p, int y, int x) {
    if (!codes.target) {
        store_rows(v, chain_target(dst, p, y, 0), p.stride, x);
        return;
    }
    __global uchar *to = codes.target + (size_t)(y - codes.writing.target_first_row) * codes.writing.target_stride;
    store_pixels8(point_program(v, codes.last, codes.writing.segments), to + 4 * x, p.width - x);
}

CPU_FORM void points_load8(__global const uchar *codes, __global float *dst, __global const float *program,
                           const point_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global const uchar *from = codes + (size_t)(y - q.code_first_row) * q.code_stride;
    __global float *to = chain_target(dst, p, y, 0);
    for (int x = 0; x < p.width; x += 16)
        store_rows(point_program(load_pixels8(from + 4 * x), program, q.segments), to, p.stride, x);
}

CPU_FORM void points_load16(__global const ushort *codes, __global float *dst, __global const float *program,
                            const point_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global const ushort *from = codes + (size_t)(y - q.code_first_row) * q.code_stride;
    __global float *to = chain_target(dst, p, y, 0);
    for (int x = 0; x < p.width; x += 16) {
        float16 alpha;
        store_rows(point_program(load_pixels16(from + 4 * x, &alpha), program, q.segments), to, p.stride, x);
        vstore16(alpha, 0, to + 3 * p.stride + x);
    }
}

CPU_FORM void points_store8(__global const float *src, __global uchar *codes, __global const float *program,
                            const point_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global const float *from = chain_source(src, p, y, 0);
    __global uchar *to = codes + (size_t)(y - q.target_first_row) * q.target_stride;
    for (int x = 0; x < p.width; x += 16)
        store_pixels8(point_program(load_rows(from, p.stride, x), program, q.segments), to + 4 * x, p.width - x);
}

CPU_FORM void points_store16(__global const float *src, __global ushort *codes, __global const float *program,
                             const point_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global const float *from = chain_source(src, p, y, 0);
    __global ushort *to = codes + (size_t)(y - q.target_first_row) * q.target_stride;
    for (int x = 0; x < p.width; x += 16)
        store_pixels16(point_program(load_rows(from, p.stride, x), program, q.segments),
                       vload16(0, from + 3 * p.stride + x), to + 4 * x, p.width - x);
}

// From codes to codes; the same memory is allowed.
CPU_FORM void points_codes8(__global const uchar *codes, __global uchar *target, __global const float *program,
                            const point_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global const uchar *from = codes + (size_t)(y - q.code_first_row) * q.code_stride;
    __global uchar *to = target + (size_t)(y - q.target_first_row) * q.target_stride;
    for (int x = 0; x < p.width; x += 16)
        store_pixels8(point_program(load_pixels8(from + 4 * x), program, q.segments), to + 4 * x, p.width - x);
}

CPU_FORM void points_codes16(__global const ushort *codes, __global ushort *target, __global const float *program,
                             const point_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global const ushort *from = codes + (size_t)(y - q.code_first_row) * q.code_stride;
    __global ushort *to = target + (size_t)(y - q.target_first_row) * q.target_stride;
    for (int x = 0; x < p.width; x += 16) {
        float16 alpha;
        const pixels v = point_program(load_pixels16(from + 4 * x, &alpha), program, q.segments);
        store_pixels16(v, alpha, to + 4 * x, p.width - x);
    }
}

// Rows of chain.cl in place.
CPU_FORM void points_rows(__global float *rows, __global const float *program, const point_params q, const chain_rows p) {
    const int y = p.first_row + (int)get_global_id(0);
    __global float *row = chain_target(rows, p, y, 0);
    for (int x = 0; x < p.width; x += 16)
        store_rows(point_program(load_rows(row, p.stride, x), program, q.segments), row, p.stride, x);
}

#ifdef PIXELS_FORM

inline float table_value(float v, __global const float *table) {
    const float at = clamp(v, 0.0f, 2.0f) * POINT_STEPS;
    const int index = convert_int(at);
    const float low = table[index];
    return low + (table[index + 1] - low) * (at - (float)index);
}

inline float pixel_luma(float4 v) { return v.x * LUMA_R + v.y * LUMA_G + v.z * LUMA_B; }

// point_program for one pixel; alpha stays.
inline float4 pixel_program(float4 v, __global const float *program, int segments) {
    for (int i = 0; i < segments; ++i, program += POINT_SEGMENT) {
        if (program[0] != 0.0f) {
            v.x = table_value(v.x, program + POINT_HEADER);
            v.y = table_value(v.y, program + POINT_HEADER + POINT_TABLE);
            v.z = table_value(v.z, program + POINT_HEADER + 2 * POINT_TABLE);
        }
        const float factor = program[1];
        if (factor != 1.0f) {
            const float y = pixel_luma(v);
            v.xyz = y + (v.xyz - y) * factor;
        }
    }
    return v;
}

inline float4 read_pixel8(__global const uchar *row, int x) { return convert_float4(vload4(x, row)) * (1.0f / 255.0f); }

inline float4 read_pixel16(__global const ushort *row, int x) { return convert_float4(vload4(x, row)) * (1.0f / 65535.0f); }

inline void write_pixel8(float4 v, __global uchar *row, int x) {
    v.w = 1.0f;
    vstore4(convert_uchar4(clamp(v, 0.0f, 1.0f) * 255.0f + 0.5f), x, row);
}

inline void write_pixel16(float4 v, __global ushort *row, int x) {
    vstore4(convert_ushort4(clamp(v, 0.0f, 1.0f) * 65535.0f + 0.5f), x, row);
}

// Of rows with as many planes as p has; without alpha it is 1.
inline float4 read_pixel(__global const float *row, chain_rows p, int x) {
    return (float4)(row[x], row[p.stride + x], row[2 * p.stride + x], p.planes == 4 ? row[3 * p.stride + x] : 1.0f);
}

inline void write_pixel(float4 v, __global float *row, chain_rows p, int x) {
    row[x] = v.x;
    row[p.stride + x] = v.y;
    row[2 * p.stride + x] = v.z;
    if (p.planes == 4)
        row[3 * p.stride + x] = v.w;
}

#define POINT_PIXELS(SAMPLE, BITS)                                                                                             \
    GPU_FORM void points_load##BITS##_pixel(__global const SAMPLE *codes, __global float *dst, __global const float *program,  \
                                            const point_params q, const chain_rows p) {                                        \
        const int x = get_global_id(0), y = p.first_row + (int)get_global_id(1);                                               \
        if (x >= p.width)                                                                                                      \
            return;                                                                                                            \
        const float4 v = read_pixel##BITS(codes + (size_t)(y - q.code_first_row) * q.code_stride, x);                          \
        write_pixel(pixel_program(v, program, q.segments), chain_target(dst, p, y, 0), p, x);                                  \
    }                                                                                                                          \
    GPU_FORM void points_store##BITS##_pixel(__global const float *src, __global SAMPLE *codes, __global const float *program, \
                                             const point_params q, const chain_rows p) {                                       \
        const int x = get_global_id(0), y = p.first_row + (int)get_global_id(1);                                               \
        if (x >= p.width)                                                                                                      \
            return;                                                                                                            \
        const float4 v = pixel_program(read_pixel(chain_source(src, p, y, 0), p, x), program, q.segments);                     \
        write_pixel##BITS(v, codes + (size_t)(y - q.target_first_row) * q.target_stride, x);                                   \
    }                                                                                                                          \
    GPU_FORM void points_codes##BITS##_pixel(__global const SAMPLE *codes, __global SAMPLE *target,                            \
                                             __global const float *program, const point_params q, const chain_rows p) {        \
        const int x = get_global_id(0), y = p.first_row + (int)get_global_id(1);                                               \
        if (x >= p.width)                                                                                                      \
            return;                                                                                                            \
        const float4 v = read_pixel##BITS(codes + (size_t)(y - q.code_first_row) * q.code_stride, x);                          \
        write_pixel##BITS(pixel_program(v, program, q.segments),                                                               \
                          target + (size_t)(y - q.target_first_row) * q.target_stride, x);                                     \
    }
POINT_PIXELS(uchar, 8)
POINT_PIXELS(ushort, 16)

GPU_FORM void points_rows_pixel(__global float *rows, __global const float *program, const point_params q,
                                const chain_rows p) {
    const int x = get_global_id(0);
    if (x >= p.width)
        return;
    __global float *row = chain_target(rows, p, p.first_row + (int)get_global_id(1), 0);
    write_pixel(pixel_program(read_pixel(row, p, x), program, q.segments), row, p, x);
}

#endif
