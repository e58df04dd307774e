// window: what sees each channel for itself through a window: depthwise convolution and pooling over one to three axes.
//
// Reference  Conv with as many groups as channels, MaxPool and AveragePool of the plain operators; 1e-6 of the largest element.
// Launch     1-D. A work-item computes WINDOW_ROWS rows of one channel (CPU form, local size 1) or one pixel (GPU form, local size 64):
//            rows or pixels first, then channels, then images.
// Barriers   None.
// Reads      CPU form: up to the window's width or 2 WIDTH elements beyond either end of a plane, and leaves them out.

#define WINDOW_ROWS 16

// Field for field the C struct bg_window_params.
typedef struct {
    int source;
    int weights;    // [channels][taps], depthwise convolution only
    int taps;       // table as in convolution.cl
    int images, channels; // of the result
    int multiplier; // channels of the result for each of the source
    int tap_count;
    int input[3], output[3], strides[3];
    int counts_padding; // a mean divides by all taps
    int window_columns; // taps side by side
    product_result result; // positions (image, 0, channel, pixel)
} window_params;

#if WIDTH == 1

#define WINDOW_ITEM                                                                                                             \
    const int item = get_global_id(0), pixels = p.output[0] * p.output[1] * p.output[2];                                        \
    const int pixel = item % pixels, channel = item / pixels % p.channels, image = item / pixels / p.channels;                  \
    if (image >= p.images)                                                                                                      \
        return;                                                                                                                 \
    const int row = pixel / p.output[2], x = pixel - row * p.output[2], z = row / p.output[1], y = row - z * p.output[1];

// For each tap over the input, with its number t and its element v.
#define EACH_TAP(STEP)                                                                                                          \
    for (int t = 0; t < p.tap_count; ++t) {                                                                                     \
        const int iz = z * p.strides[0] + taps[4 * t], iy = y * p.strides[1] + taps[4 * t + 1],                                 \
                  ix = x * p.strides[2] + taps[4 * t + 2];                                                                      \
        if (iz >= 0 && iz < p.input[0] && iy >= 0 && iy < p.input[1] && ix >= 0 && ix < p.input[2]) {                           \
            const float v = load_one(plane + (iz * p.input[1] + iy) * p.input[2] + ix);                                         \
            STEP(v, t, 1)                                                                                                       \
        }                                                                                                                       \
    }

#define EACH_RESULT(START, STEP, END)                                                                                           \
    START EACH_TAP(STEP) write_result(END, &p.result, arena, weights, image, 0, channel, pixel, 1);                             \
    if (p.result.link_count > 0)                                                                                                \
        link_result(&p.result, arena, weights, image, 0, channel, pixel, 1);

#define TAKEN(v, rest, inside) (v)

#else

// A work-item computes WINDOW_ROWS rows of one channel, column by column of vectors: which lanes a tap sees is the same in all rows.
#define WINDOW_ITEM                                                                                                             \
    const int rows = p.output[0] * p.output[1], blocks = (rows + WINDOW_ROWS - 1) / WINDOW_ROWS;                                \
    const int item = get_global_id(0), first_row = item % blocks * WINDOW_ROWS, channel = item / blocks % p.channels;           \
    const int image = item / blocks / p.channels, last_row = min(first_row + WINDOW_ROWS, rows);                                \
    if (image >= p.images)                                                                                                      \
        return;

#define MASKS 8 // columns of a window whose lanes are worked out once

inline ivec window_lanes(const window_params *p, int first, int shift) {
    const ivec x = (LANES + first) * p->strides[2] + shift;
    return (x >= 0) & (x < p->input[2]);
}

// What a tap sees of a row from output column `first` on; the lanes outside may hold anything.
inline vec window_load(const window_params *p, __global const stored *row, int first, int shift, ivec inside) {
    __global const stored *from = row + first * p->strides[2] + shift;
    if (p->strides[2] == 1)
        return load_all(from);
    if (p->strides[2] == 2) {
        const vec a = load_all(from), b = load_all(from + WIDTH);
        return (vec)(a.even, b.even);
    }
    float parts[WIDTH];
    int lanes[WIDTH];
    JOIN(vstore, WIDTH)(inside, 0, lanes);
    for (int l = 0; l < WIDTH; ++l)
        parts[l] = lanes[l] ? load_one(from + l * p->strides[2]) : 0.0f;
    return vec_load(parts);
}

// The same for a vector of results. Taps come row by row of the window, `window_columns` in each.
#define EACH_RESULT(START, STEP, END)                                                                                           \
    for (int first = 0; first < p.output[2]; first += WIDTH) {                                                                  \
        ivec masks[MASKS];                                                                                                      \
        for (int c = 0; c < min(p.window_columns, MASKS); ++c)                                                                  \
            masks[c] = window_lanes(&p, first, taps[4 * c + 2]);                                                                \
        for (int row = first_row; row < last_row; ++row) {                                                                      \
            const int z = row / p.output[1], y = row - z * p.output[1];                                                         \
            START for (int start = 0; start < p.tap_count; start += p.window_columns) {                                         \
                const int iz = z * p.strides[0] + taps[4 * start], iy = y * p.strides[1] + taps[4 * start + 1];                 \
                if (iz < 0 || iz >= p.input[0] || iy < 0 || iy >= p.input[1])                                                   \
                    continue;                                                                                                   \
                __global const stored *line = plane + (iz * p.input[1] + iy) * p.input[2];                                      \
                for (int c = 0; c < p.window_columns; ++c) {                                                                    \
                    const int shift = taps[4 * c + 2], t = start + c;                                                           \
                    (void)t;                                                                                                    \
                    const ivec inside = c < MASKS ? masks[c] : window_lanes(&p, first, shift);                                  \
                    const vec v = window_load(&p, line, first, shift, inside);                                                  \
                    STEP(v, t, inside)                                                                                          \
                }                                                                                                               \
            }                                                                                                                   \
            const int pixel = row * p.output[2] + first, count = p.output[2] - first;                                           \
            write_result(END, &p.result, arena, weights, image, 0, channel, pixel, count);                                      \
            if (p.result.link_count > 0)                                                                                        \
                link_result(&p.result, arena, weights, image, 0, channel, pixel, count);                                        \
        }                                                                                                                       \
    }

#define TAKEN(v, rest, inside) select((vec)(rest), v, inside)

#endif

#define WINDOW                                                                                                                  \
    WINDOW_ITEM                                                                                                                 \
    __global const stored *plane = at(p.source, arena, weights) +                                                               \
                                   (image * (p.channels / p.multiplier) + channel / p.multiplier) *                             \
                                       (p.input[0] * p.input[1] * p.input[2]);                                                  \
    __global const int *taps = table_at(p.taps, arena, weights);

#if WIDTH > 1

// 3 x 3 with stride 1 in one plane: each row of the input is read once, for the three results it is part of.
inline void depthwise_rows(const window_params *p, __global const stored *plane, __global const stored *w,
                           __global const int *taps, __global stored *arena, __global const stored *weights, int image,
                           int channel, int first_row, int last_row) {
    vec f[9];
#pragma unroll
    for (int t = 0; t < 9; ++t)
        f[t] = (vec)(load_one(w + t));
    const int up = taps[1], left = taps[2], width = p->input[2];
    const product_result *r = &p->result;
    // Most layers have no more behind them than a bias and bounds, which are the same all over the channel.
    const bool is_simple = r->residual == NO_PLACE && r->link_count == 0 && r->bias_strides[2] == 0;
    const vec bias = (vec)(r->bias == NO_PLACE ? 0.0f : load_one(at(r->bias, arena, weights) + channel * r->bias_strides[1]));
    const vec low = (vec)(r->low), high = (vec)(r->high);
    for (int first = 0; first < p->output[2]; first += WIDTH) {
        const ivec m0 = window_lanes(p, first, left), m1 = window_lanes(p, first, left + 1),
                   m2 = window_lanes(p, first, left + 2);
        const int count = p->output[2] - first;
        // What has been summed for the results of which the row is the last and the middle one.
        vec last = (vec)(0.0f), middle = (vec)(0.0f);
        for (int y = first_row - 2; y < last_row; ++y) {
            const int row = y + 2 + up;
            vec next = (vec)(0.0f);
            if (row >= 0 && row < p->input[1]) {
                __global const stored *from = plane + row * width + first + left;
                const vec a = select((vec)(0.0f), load_all(from), m0), b = select((vec)(0.0f), load_all(from + 1), m1),
                          c = select((vec)(0.0f), load_all(from + 2), m2);
                last = mad(a, f[6], mad(b, f[7], mad(c, f[8], last)));
                middle = mad(a, f[3], mad(b, f[4], mad(c, f[5], middle)));
                next = mad(a, f[0], mad(b, f[1], c * f[2]));
            }
            if (y >= first_row && is_simple) {
                const vec sum = last + bias, bounded = select(select(sum, high, sum > high), low, sum < low);
                store_lanes(bounded, arena + r->target + RESULT_OFFSET(r, image, 0, channel, y * p->output[2] + first), count);
            } else if (y >= first_row) {
                write_result(last, r, arena, weights, image, 0, channel, y * p->output[2] + first, count);
                if (r->link_count > 0)
                    link_result(r, arena, weights, image, 0, channel, y * p->output[2] + first, count);
            }
            last = middle;
            middle = next;
        }
    }
}

#endif

__kernel void depthwise(__global stored *arena, __global const stored *weights, const window_params p) {
    WINDOW
    __global const stored *w = at(p.weights, arena, weights) + channel * p.tap_count;
#if WIDTH > 1
    if (p.tap_count == 9 && p.window_columns == 3 && p.input[0] == 1 && p.output[0] == 1 && p.strides[1] == 1 &&
        p.strides[2] == 1 && taps[6] == taps[2] + 1 && taps[13] == taps[1] + 1) {
        depthwise_rows(&p, plane, w, taps, arena, weights, image, channel, first_row, last_row);
        return;
    }
#endif
#define START vec sum = (vec)(0.0f);
#define STEP(v, t, inside) sum = mad(TAKEN(v, 0.0f, inside), (vec)(load_one(w + t)), sum);
    EACH_RESULT(START, STEP, sum)
#undef START
#undef STEP
}

__kernel void largest_in_window(__global stored *arena, __global const stored *weights, const window_params p) {
    WINDOW
#define START vec most = (vec)(-INFINITY);
#define STEP(v, t, inside) most = larger(most, TAKEN(v, -INFINITY, inside));
    EACH_RESULT(START, STEP, most)
#undef START
#undef STEP
}

__kernel void mean_in_window(__global stored *arena, __global const stored *weights, const window_params p) {
    WINDOW
#define START vec sum = (vec)(0.0f), number = (vec)(0.0f);
#define STEP(v, t, inside)                                                                                                      \
    sum += TAKEN(v, 0.0f, inside);                                                                                              \
    number += TAKEN((vec)(1.0f), 0.0f, inside);
#define END (sum / (p.counts_padding ? (vec)(p.tap_count) : number))
    EACH_RESULT(START, STEP, END)
#undef START
#undef STEP
#undef END
}
