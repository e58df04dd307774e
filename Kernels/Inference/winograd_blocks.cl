// winograd_blocks: convolutions of 3 x 3 with stride 1 on a processor's vectors, F(4 x 4, 3 x 3) of Lavin and Gray, Fast Algorithms
// for Convolutional Neural Networks (2016):
//
//   out = A' [ sum over channels of (G w G') * (B' in B) ] A
//
// for tiles of 4 x 4 pixels, with the points 0, +-5/8, +-3/2 and infinity. Results lie in blocks of filters,
// [image][filters / BLOCK][row][column][BLOCK], values so too or as [image][row][column][channel].
//
// Reference  Conv of the plain operators; 1e-5 of the largest element. A number that is not finite spoils its whole tile.
// Launch     1-D. A work-item of `winograd_blocks` computes `tiles` neighbouring tiles of all filters, one of
//            `winograd_blocks_weights` lays out BLOCK filters. Made for processors, where work-items come one after the other and
//            share `scratch`.
// Barriers   None.

// Channels that lie together: what a vector register holds. Tiles whose sums are kept in registers at once: two vectors of filters
// each, beside two of weights.
#if defined(BLOCK) && BLOCK == 16
typedef float16 lanes;
#define BLOCK_LOAD(from) vload16(0, from)
#define BLOCK_STORE(v, to) vstore16(v, 0, to)
#define WINOGRAD_SUMS 12
#else
#undef BLOCK
#define BLOCK 8
typedef float8 lanes;
#define BLOCK_LOAD(from) vload8(0, from)
#define BLOCK_STORE(v, to) vstore8(v, 0, to)
#define WINOGRAD_SUMS 6
#endif

// The points, beside their negatives, 0 and infinity.
#define WINOGRAD_A 0.625f
#define WINOGRAD_B 1.5f
// Numbers of a transformed tile.
#define WINOGRAD_ELEMENTS 36
// Filters whose sums are made together.
#define WINOGRAD_PANEL (2 * BLOCK)
// Channels whose weights are laid out together, so that runs in memory are long.
#define WINOGRAD_TOGETHER 8

// Field for field the C struct bg_winograd_blocks_params.
typedef struct {
    int images, channels, filters; // the latter two multiples of BLOCK
    int height, width;             // of the input
    int rows, columns;             // of the output
    int pad_y, pad_x;
    int pixel_step, block_step;    // of the input, from a pixel to the next and from a block of channels to the next
    int tiles;                     // a multiple of WINOGRAD_SUMS
    int has_residual;
    float slope, low, high;        // a result r becomes min(max(max(r, slope * r), low), high), what is no number stays so
} winograd_blocks_params;

// G.
inline void winograd_taps(const lanes *g, lanes *w) {
    const float a = WINOGRAD_A, b = WINOGRAD_B;
    const float scale_a = 1 / (2 * a * a * (a * a - b * b)), scale_b = 1 / (2 * b * b * (b * b - a * a));
    const lanes even_a = scale_a * fma((lanes)(a * a), g[2], g[0]), odd_a = scale_a * a * g[1];
    const lanes even_b = scale_b * fma((lanes)(b * b), g[2], g[0]), odd_b = scale_b * b * g[1];
    w[0] = 1 / (a * a * b * b) * g[0];
    w[1] = even_a + odd_a;
    w[2] = even_a - odd_a;
    w[3] = even_b + odd_b;
    w[4] = even_b - odd_b;
    w[5] = g[2];
}

// B'.
inline void winograd_values(const lanes *d, lanes *v) {
    const float a = WINOGRAD_A, b = WINOGRAD_B;
    const lanes aa = (lanes)(-a * a), bb = (lanes)(-b * b), sum = (lanes)(-a * a - b * b), product = (lanes)(a * a * b * b);
    const lanes even_a = fma(bb, d[2], d[4]), odd_a = a * fma(bb, d[1], d[3]);
    const lanes even_b = fma(aa, d[2], d[4]), odd_b = b * fma(aa, d[1], d[3]);
    v[0] = fma(product, d[0], fma(sum, d[2], d[4]));
    v[1] = even_a + odd_a;
    v[2] = even_a - odd_a;
    v[3] = even_b + odd_b;
    v[4] = even_b - odd_b;
    v[5] = fma(product, d[1], fma(sum, d[3], d[5]));
}

// A'.
inline void winograd_results(const lanes *m, lanes *r) {
    const float a = WINOGRAD_A, b = WINOGRAD_B;
    const lanes even_a = m[1] + m[2], odd_a = m[1] - m[2], even_b = m[3] + m[4], odd_b = m[3] - m[4];
    r[0] = m[0] + even_a + even_b;
    r[1] = fma((lanes)(b), odd_b, a * odd_a);
    r[2] = fma((lanes)(b * b), even_b, a * a * even_a);
    r[3] = fma((lanes)(b * b * b), odd_b, fma((lanes)(a * a * a), odd_a, m[5]));
}

// source: [filter][channel][3][3]. target: [panel][element][channel][filter of the panel], the last panel of one block of filters
// where their number is odd.
__kernel void winograd_blocks_weights(__global const float *source, __global float *target, const winograd_blocks_params p) {
    const int block = get_global_id(0), vectors = min(2, p.filters / BLOCK - block / 2 * 2);
    target += (size_t)(block / 2) * WINOGRAD_PANEL * WINOGRAD_ELEMENTS * p.channels + block % 2 * BLOCK;
    for (int channel = 0; channel < p.channels; channel += WINOGRAD_TOGETHER) {
        float taps[9 * WINOGRAD_TOGETHER][BLOCK];
        for (int lane = 0; lane < BLOCK; ++lane) {
            __global const float *from = source + (((size_t)block * BLOCK + lane) * p.channels + channel) * 9;
            for (int k = 0; k < 9 * WINOGRAD_TOGETHER; ++k)
                taps[k][lane] = from[k];
        }
        lanes tiles[WINOGRAD_ELEMENTS][WINOGRAD_TOGETHER];
        for (int c = 0; c < WINOGRAD_TOGETHER; ++c) {
            lanes columns[18];
            for (int j = 0; j < 3; ++j) {
                lanes g[3], w[6];
                for (int i = 0; i < 3; ++i)
                    g[i] = BLOCK_LOAD(taps[9 * c + 3 * i + j]);
                winograd_taps(g, w);
                for (int i = 0; i < 6; ++i)
                    columns[3 * i + j] = w[i];
            }
            for (int i = 0; i < 6; ++i) {
                lanes w[6];
                winograd_taps(columns + 3 * i, w);
                for (int j = 0; j < 6; ++j)
                    tiles[6 * i + j][c] = w[j];
            }
        }
        for (int element = 0; element < WINOGRAD_ELEMENTS; ++element)
            for (int c = 0; c < WINOGRAD_TOGETHER; ++c)
                BLOCK_STORE(tiles[element][c], target + ((size_t)element * p.channels + channel + c) * vectors * BLOCK);
    }
}

// B' in B of one tile and block of channels, whose upper left corner is (x, y) of their plane; `step` from one number to the next.
inline void winograd_blocks_values(__global const float *plane, __global float *to, const int step, const int y, const int x,
                                   const winograd_blocks_params p) {
    const long stride = (long)p.width * p.pixel_step;
    lanes columns[36];
    const int is_inside = y >= 0 && y + 6 <= p.height && x >= 0 && x + 6 <= p.width;
    __global const float *from = plane + y * stride + (long)x * p.pixel_step;
    for (int j = 0; j < 6; ++j) {
        lanes d[6], v[6];
#pragma unroll
        for (int i = 0; i < 6; ++i)
            if (is_inside || (y + i >= 0 && y + i < p.height && x + j >= 0 && x + j < p.width))
                d[i] = BLOCK_LOAD(from + i * stride + j * p.pixel_step);
            else
                d[i] = (lanes)(0.0f);
        winograd_values(d, v);
#pragma unroll
        for (int i = 0; i < 6; ++i)
            columns[i * 6 + j] = v[i];
    }
    for (int i = 0; i < 6; ++i) {
        lanes v[6];
        winograd_values(columns + i * 6, v);
#pragma unroll
        for (int j = 0; j < 6; ++j)
            BLOCK_STORE(v[j], to + (i * 6 + j) * step);
    }
}

// One number of `count` tiles for `vectors` blocks of filters: the products of all channels, added up. `count` and `vectors` are
// known to the compiler.
inline void winograd_blocks_sums(__global const float *values, __global const float *weights, __global float *sums, const int count,
                                 const int vectors, const winograd_blocks_params p) {
    lanes sum[WINOGRAD_SUMS][2];
#pragma unroll
    for (int t = 0; t < count; ++t)
#pragma unroll
        for (int n = 0; n < vectors; ++n)
            sum[t][n] = (lanes)(0.0f);
    for (int block = 0; block < p.channels / BLOCK; ++block) {
#pragma unroll 4
        for (int lane = 0; lane < BLOCK; ++lane) {
            lanes w[2];
#pragma unroll
            for (int n = 0; n < vectors; ++n)
                w[n] = BLOCK_LOAD(weights + n * BLOCK);
#pragma unroll
            for (int t = 0; t < count; ++t) {
                const lanes value = (lanes)(values[t * BLOCK + lane]);
#pragma unroll
                for (int n = 0; n < vectors; ++n)
                    sum[t][n] = fma(value, w[n], sum[t][n]);
            }
            weights += vectors * BLOCK;
        }
        values += p.tiles * BLOCK;
    }
#pragma unroll
    for (int t = 0; t < count; ++t)
#pragma unroll
        for (int n = 0; n < vectors; ++n)
            BLOCK_STORE(sum[t][n], sums + (t * 2 + n) * BLOCK);
}

// All numbers of the tiles for a panel of filters.
inline void winograd_blocks_panel(__global const float *values, __global const float *weights, __global float *sums,
                                  const int tiles, const int vectors, const winograd_blocks_params p) {
    for (int element = 0; element < WINOGRAD_ELEMENTS; ++element) {
        for (int first = 0; first < tiles;) {
            const int left = tiles - first;
            __global const float *from = values + first * BLOCK;
            __global float *to = sums + first * WINOGRAD_PANEL;
            if (left > WINOGRAD_SUMS * 2 / 3) {
                winograd_blocks_sums(from, weights, to, WINOGRAD_SUMS, vectors, p);
                first += WINOGRAD_SUMS;
            } else if (left > WINOGRAD_SUMS / 3) {
                winograd_blocks_sums(from, weights, to, WINOGRAD_SUMS * 2 / 3, vectors, p);
                first += WINOGRAD_SUMS * 2 / 3;
            } else {
                winograd_blocks_sums(from, weights, to, WINOGRAD_SUMS / 3, vectors, p);
                first += WINOGRAD_SUMS / 3;
            }
        }
        values += p.channels * p.tiles;
        weights += p.channels * vectors * BLOCK;
        sums += p.tiles * WINOGRAD_PANEL;
    }
}

// A' [...] A of one tile and block of filters, finished, to (x, y) of the target's plane.
inline void winograd_blocks_results(__global const float *sums, const lanes bias, __global const float *residual,
                                    __global float *target, const int y, const int x, const winograd_blocks_params p) {
    lanes columns[24];
    for (int j = 0; j < 6; ++j) {
        lanes m[6], r[4];
#pragma unroll
        for (int i = 0; i < 6; ++i)
            m[i] = BLOCK_LOAD(sums + (i * 6 + j) * p.tiles * WINOGRAD_PANEL);
        winograd_results(m, r);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            columns[i * 6 + j] = r[i];
    }
    const int rows = min(4, p.rows - y), pixels = min(4, p.columns - x);
    for (int i = 0; i < rows; ++i) {
        lanes r[4];
        winograd_results(columns + i * 6, r);
        const int place = ((y + i) * p.columns + x) * BLOCK;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            if (j >= pixels)
                break;
            lanes result = r[j] + bias;
            if (p.has_residual)
                result += BLOCK_LOAD(residual + place + j * BLOCK);
            result = select(result, p.slope * result, result < p.slope * result);
            result = select(result, (lanes)(p.low), result < p.low);
            result = select(result, (lanes)(p.high), result > p.high);
            BLOCK_STORE(result, target + place + j * BLOCK);
        }
    }
}

// weights: those of winograd_blocks_weights. bias: a number for each filter. residual: lies as the target, and is read with
// has_residual only. scratch: WINOGRAD_ELEMENTS * tiles * (channels + WINOGRAD_PANEL) numbers.
__kernel void winograd_blocks(__global const float *source, __global const float *weights, __global const float *bias,
                              __global const float *residual, __global float *target, __global float *scratch,
                              const winograd_blocks_params p) {
    const int across = (p.columns + 3) / 4, down = (p.rows + 3) / 4, count = p.images * across * down;
    const int first = get_global_id(0) * p.tiles, tiles = min(p.tiles, count - first);
    __global float *values = scratch + WINOGRAD_ELEMENTS * p.tiles * WINOGRAD_PANEL;
    const int blocks = p.channels / BLOCK;
    for (int t = 0; t < tiles; ++t) {
        const int image = (first + t) / (across * down), place = (first + t) % (across * down);
        __global const float *planes = source + (size_t)image * p.channels * p.height * p.width;
        for (int block = 0; block < blocks; ++block)
            winograd_blocks_values(planes + block * p.block_step, values + (block * p.tiles + t) * BLOCK, p.channels * p.tiles,
                                   place / across * 4 - p.pad_y, place % across * 4 - p.pad_x, p);
    }
    // What is computed for nothing beside the last tiles is to be a number.
    for (int t = tiles; t % (WINOGRAD_SUMS / 3) != 0; ++t)
        for (int n = 0; n < WINOGRAD_ELEMENTS * blocks; ++n)
            BLOCK_STORE((lanes)(0.0f), values + (n * p.tiles + t) * BLOCK);
    const int outputs = p.filters / BLOCK, output = p.rows * p.columns * BLOCK;
    for (int block = 0; block < outputs; block += 2) {
        const int vectors = min(2, outputs - block);
        __global const float *from = weights + (size_t)block * BLOCK * WINOGRAD_ELEMENTS * p.channels;
        if (vectors == 2)
            winograd_blocks_panel(values, from, scratch, tiles, 2, p);
        else
            winograd_blocks_panel(values, from, scratch, tiles, 1, p);
        for (int t = 0; t < tiles; ++t) {
            const int image = (first + t) / (across * down), place = (first + t) % (across * down);
            for (int n = 0; n < vectors; ++n) {
                const size_t start = ((size_t)image * outputs + block + n) * output;
                winograd_blocks_results(scratch + (t * 2 + n) * BLOCK, BLOCK_LOAD(bias + (block + n) * BLOCK),
                                        residual + (p.has_residual ? start : 0), target + start, place / across * 4,
                                        place % across * 4, p);
            }
        }
    }
}
