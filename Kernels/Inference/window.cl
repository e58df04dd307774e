// window: what sees each channel for itself through a window: depthwise convolution and pooling over one to three axes.
//
// Reference  Conv with as many groups as channels, MaxPool and AveragePool of the plain operators; 1e-6 of the largest element.
// Launch     1-D. A work-item computes WIDTH neighbouring pixels of one channel: pixels first, then channels, then images. Local size
//            1 (CPU form) or 64 (GPU form).
// Barriers   None.

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
    int is_flat;
    product_result result; // positions (image, 0, channel, pixel)
} window_params;

// Of the pixels `first` ... the offset in the plane that a tap sees, -1 outside.
inline ivec window_offsets(const window_params *p, __global const int *tap, ivec z, ivec y, ivec x, int first) {
    const ivec iz = z * p->strides[0] + tap[0], iy = y * p->strides[1] + tap[1], ix = x * p->strides[2] + tap[2];
    const ivec inside = (iz >= 0) & (iz < p->input[0]) & (iy >= 0) & (iy < p->input[1]) & (ix >= 0) & (ix < p->input[2]);
    const ivec offset = p->is_flat ? LANES + first + tap[3] : (iz * p->input[1] + iy) * p->input[2] + ix;
    (void)first;
    return select((ivec)(-1), offset, inside);
}

// The elements at the offsets, `rest` where these are -1.
inline vec window_load(__global const float *plane, ivec offsets, int is_flat, int first_offset, float rest) {
#if WIDTH == 1
    (void)is_flat;
    (void)first_offset;
    return offsets < 0 ? rest : plane[offsets];
#else
    if (is_flat)
        return select(vec_load(plane + first_offset), (vec)(rest), offsets < 0);
    int places[WIDTH];
    float parts[WIDTH];
    JOIN(vstore, WIDTH)(offsets, 0, places);
    for (int i = 0; i < WIDTH; ++i)
        parts[i] = places[i] < 0 ? rest : plane[places[i]];
    return vec_load(parts);
#endif
}

#define WINDOW_ITEM                                                                                                             \
    const int item = get_global_id(0);                                                                                          \
    const int pixels = p.output[0] * p.output[1] * p.output[2], blocks = (pixels + WIDTH - 1) / WIDTH;                          \
    const int first = item % blocks * WIDTH, channel = item / blocks % p.channels, image = item / blocks / p.channels;          \
    if (image >= p.images)                                                                                                      \
        return;                                                                                                                 \
    const ivec pixel = LANES + first, z = pixel / (p.output[1] * p.output[2]), row = pixel / p.output[2],                       \
               y = row - z * p.output[1], x = pixel - row * p.output[2];                                                        \
    const int count = pixels - first;                                                                                           \
    __global const float *plane = at(p.source, arena, weights) + (image * (p.channels / p.multiplier) + channel / p.multiplier) \
                                                                     * (p.input[0] * p.input[1] * p.input[2]);                  \
    __global const int *tap = table_at(p.taps, arena, weights);

__kernel void depthwise(__global float *arena, __global const float *weights, const window_params p) {
    WINDOW_ITEM
    __global const float *w = at(p.weights, arena, weights) + channel * p.tap_count;
    vec sum = (vec)(0.0f);
    for (int t = 0; t < p.tap_count; ++t, tap += 4)
        sum = mad(window_load(plane, window_offsets(&p, tap, z, y, x, first), p.is_flat, first + tap[3], 0.0f), (vec)(w[t]), sum);
    write_result(sum, &p.result, arena, weights, image, 0, channel, first, count);
    if (p.result.link_count > 0)
        link_result(&p.result, arena, weights, image, 0, channel, first, count);
}

__kernel void largest_in_window(__global float *arena, __global const float *weights, const window_params p) {
    WINDOW_ITEM
    vec most = (vec)(-INFINITY);
    for (int t = 0; t < p.tap_count; ++t, tap += 4)
        most = larger(most, window_load(plane, window_offsets(&p, tap, z, y, x, first), p.is_flat, first + tap[3], -INFINITY));
    write_result(most, &p.result, arena, weights, image, 0, channel, first, count);
}

__kernel void mean_in_window(__global float *arena, __global const float *weights, const window_params p) {
    WINDOW_ITEM
    vec sum = (vec)(0.0f), number = (vec)(0.0f);
    for (int t = 0; t < p.tap_count; ++t, tap += 4) {
        const ivec offsets = window_offsets(&p, tap, z, y, x, first);
        sum += window_load(plane, offsets, p.is_flat, first + tap[3], 0.0f);
        number += select((vec)(0.0f), (vec)(1.0f), offsets >= 0 || p.counts_padding);
    }
    write_result(sum / number, &p.result, arena, weights, image, 0, channel, first, count);
}
