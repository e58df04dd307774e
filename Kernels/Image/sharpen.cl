// sharpen: unsharp mask on luma of opaque 8-bit pictures, in place of the rows it is given a halo for.
//
//   y = (77 R + 150 G + 29 B) / 256,  d = amount * (y - gaussian(y)),  out = clamp(in + d) for R, G and B
//
// gaussian is separable, truncated at `radius`, with weights Q14 that sum to 16384; the edge pixel is repeated beyond the picture.
//
// Reference  SharpenReference in the tests; PSNR >= 55 dB against float64, at most 1 level on 99.9 % of samples.
// Chunking   A chunk is a band of output rows with `radius` source rows around it.
// Launch     sharpen_strip: 1-D, one work-item makes SHARPEN_STRIP rows, local size 1 (CPU form).
//            sharpen_luma_*, sharpen_apply: 2-D, one work-item a pixel, local (WGS, 1) (GPU form).
// Barriers   None.
//
// Buffers
//   src      [rows][width] RGBX uchar; row 0 is picture row src_first_row
//   dst      [dst_rows][width] RGBX uchar; row 0 is picture row dst_first_row; not the same memory as src
//   weights  [2 * radius + 2] short, the last one 0 (an even count, for pairs)
//   scratch  CPU form: strips * scratch_stride shorts, (SHARPEN_STRIP + 2 * radius + 2) rows of luma_stride;
//            GPU form: two planes of [dst_rows + 2 * radius + 1][luma_stride]

#ifndef SHARPEN_STRIP
#define SHARPEN_STRIP 16 // rows a strip work-item makes: 8 ... 64
#endif

// Field for field the C struct bg_sharpen_params.
typedef struct {
    int width;          // pixels
    int height;         // rows of the whole picture
    int src_first_row;  // picture row of src's row 0
    int src_stride;     // bytes
    int dst_first_row;  // picture row of dst's row 0
    int dst_rows;       // rows in this chunk
    int dst_stride;     // bytes
    int radius;         // 1 ... 9
    int amount;         // Q8
    int luma_stride;    // shorts; at least width + 2 * radius + 18
    int scratch_stride; // shorts from one strip's scratch to the next; 0 when strips run one after the other
} sharpen_params;

// Luma with 6 fractional bits.
#define LUMA(r, g, b) ((77 * (r) + 150 * (g) + 29 * (b)) >> 2)

inline int4 sharpened(int4 pixel, int luma, int blurred, int amount) {
    const int d = ((luma - blurred) * amount + (1 << 13)) >> 14;
    return clamp(pixel + d, (int4)(0), (int4)(255));
}

CPU_FORM void sharpen_strip(__global const uchar *src, __global uchar *dst, __global const short *weights,
                            __global short *scratch, const sharpen_params p) {
    const int strip = get_global_id(0);
    const int y0 = strip * SHARPEN_STRIP;
    const int rows = min(SHARPEN_STRIP, p.dst_rows - y0);
    if (rows <= 0)
        return;
    const int taps = 2 * p.radius + 2;
    const int halo_rows = rows + 2 * p.radius;
    __global short *luma = scratch + (size_t)strip * p.scratch_stride;
    __global short *blurred = luma + (size_t)(SHARPEN_STRIP + 2 * p.radius + 1) * p.luma_stride;

    // Luma rows start `radius` columns in, so that the vertical sums can be widened at both ends afterwards.
    for (int i = 0; i < halo_rows; ++i) {
        const int y = clamp(p.dst_first_row + y0 + i - p.radius, 0, p.height - 1);
        __global const uchar *from = src + (size_t)(y - p.src_first_row) * p.src_stride;
        luma_row(from, luma + (size_t)i * p.luma_stride, p.width);
    }
    for (int r = 0; r < rows; ++r) {
        for (int x = 0; x < p.width; x += 16) {
            pair_sum sum = pair_sum_zero();
            __global const short *from = luma + (size_t)r * p.luma_stride + x;
            for (int k = 0; k < taps; k += 2, from += 2 * (size_t)p.luma_stride)
                sum = pair_sum_add(sum, load_light(from), load_light(from + p.luma_stride), weights + k);
            vstore16(pair_sum_round(sum, 14), 0, blurred + p.radius + x);
        }
        for (int k = 0; k < p.radius; ++k) {
            blurred[k] = blurred[p.radius];
            blurred[p.radius + p.width + k] = blurred[p.radius + p.width - 1];
        }
        const int y = p.dst_first_row + y0 + r;
        __global const uchar *from = src + (size_t)(y - p.src_first_row) * p.src_stride;
        __global uchar *to = dst + (size_t)(y0 + r) * p.dst_stride;
        __global const short *centre = luma + (size_t)(r + p.radius) * p.luma_stride;
        for (int x = 0; x < p.width; x += 16) {
            pair_sum sum = pair_sum_zero();
            for (int k = 0; k < taps; k += 2)
                sum = pair_sum_add(sum, load_light(blurred + x + k), load_light(blurred + x + k + 1), weights + k);
            const short16 detail = load_light(centre + x) - pair_sum_round(sum, 14);
            const short16 d = scale_detail(detail, p.amount);
            add_detail(from + 4 * x, to + 4 * x, d, min(16, p.width - x));
        }
    }
}

#ifdef PIXELS_FORM
GPU_FORM void sharpen_luma_rows(__global const uchar *src, __global short *luma, __global short *blurred,
                                __global const short *weights, const sharpen_params p) {
    const int x = get_global_id(0);
    if (x >= p.width)
        return;
    const int row = get_global_id(1);
    const int y = p.dst_first_row + row;
    int sum = 0;
    for (int k = 0; k < 2 * p.radius + 1; ++k) {
        const int from = clamp(y + k - p.radius, 0, p.height - 1) - p.src_first_row;
        const int4 c = convert_int4(vload4(x, src + (size_t)from * p.src_stride));
        const int v = LUMA(c.x, c.y, c.z);
        if (k == p.radius)
            luma[(size_t)row * p.luma_stride + x] = convert_short(v);
        sum += v * weights[k];
    }
    blurred[(size_t)row * p.luma_stride + x] = convert_short((sum + (1 << 13)) >> 14);
}

GPU_FORM void sharpen_apply(__global const uchar *src, __global uchar *dst, __global const short *luma,
                            __global const short *blurred, __global const short *weights, const sharpen_params p) {
    const int x = get_global_id(0);
    if (x >= p.width)
        return;
    const int row = get_global_id(1);
    __global const short *line = blurred + (size_t)row * p.luma_stride;
    int sum = 0;
    for (int k = 0; k < 2 * p.radius + 1; ++k)
        sum += line[clamp(x + k - p.radius, 0, p.width - 1)] * weights[k];
    const int4 pixel =
        convert_int4(vload4(x, src + (size_t)(p.dst_first_row + row - p.src_first_row) * p.src_stride));
    const int y = luma[(size_t)row * p.luma_stride + x];
    int4 out = sharpened(pixel, y, (sum + (1 << 13)) >> 14, p.amount);
    out.w = 255;
    vstore4(convert_uchar4(out), x, dst + (size_t)row * p.dst_stride);
}
#endif
