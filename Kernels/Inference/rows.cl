// rows: what needs a whole row of numbers at once: sums and other reductions, softmax, normalisation. A value is read as
// [outer][length][inner], a row being what lies along `length`.
//
// Reference  Reduce*, Softmax, LayerNormalization and their like of the plain operators; 1e-5 of the largest element.
// Launch     1-D. With inner = 1 a work-group a row, whose THREADS work-items share it (one in the CPU form); else a work-item WIDTH
//            neighbouring rows, in groups of THREADS.
// Barriers   GPU form: log2(THREADS) for each sum over a row; all work-items of a group have the same row.

// Field for field the C struct bg_rows_params.
typedef struct {
    int source, target;
    int outer, length, inner;
    int kind;       // of reduction: REDUCE_*; softmax: 1 for its logarithm
    float factor;   // of the result of a sum
    float epsilon;
    int scale, shift; // normalisation: places or NO_PLACE, index row % period * row_step + i / column_step
    int period, row_step, column_step;
} rows_params;

#define REDUCE_SUM 0
#define REDUCE_LARGEST 1
#define REDUCE_SMALLEST 2
#define REDUCE_PRODUCT 3
#define REDUCE_MAGNITUDES 4 // sum of |x|
#define REDUCE_SQUARES 5    // sum of x x
#define REDUCE_NORM 6       // its root
#define REDUCE_LOG_SUM 7

inline vec reduce_step(vec sum, vec x, int kind) {
    switch (kind) {
    case REDUCE_LARGEST: return larger(sum, x);
    case REDUCE_SMALLEST: return smaller(sum, x);
    case REDUCE_PRODUCT: return sum * x;
    case REDUCE_MAGNITUDES: return sum + fabs(x);
    case REDUCE_SQUARES:
    case REDUCE_NORM: return mad(x, x, sum);
    default: return sum + x;
    }
}

inline float reduce_start(int kind) {
    return kind == REDUCE_LARGEST ? -INFINITY : kind == REDUCE_SMALLEST ? INFINITY : kind == REDUCE_PRODUCT ? 1.0f : 0.0f;
}

// How two partial results become one.
inline float reduce_two(float a, float b, int kind) {
    switch (kind) {
    case REDUCE_LARGEST: return a > b || a != a ? a : b;
    case REDUCE_SMALLEST: return a < b || a != a ? a : b;
    case REDUCE_PRODUCT: return a * b;
    default: return a + b;
    }
}

// The lanes of all work-items of a group as one number, which all of them get.
inline float reduce_group(vec part, int kind, __local float *shared) {
#if WIDTH == 1
    const int t = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[t] = part;
    for (int half_count = THREADS / 2; half_count > 0; half_count /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < half_count)
            shared[t] = reduce_two(shared[t], shared[t + half_count], kind);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return shared[0];
#else
    (void)shared;
    float parts[WIDTH];
    vec_store_all(part, parts);
    float sum = parts[0];
    for (int i = 1; i < WIDTH; ++i)
        sum = reduce_two(sum, parts[i], kind);
    return sum;
#endif
}

inline vec reduce_end(vec sum, const rows_params *p) {
    if (p->kind == REDUCE_NORM)
        sum = sqrt(sum);
    if (p->kind == REDUCE_LOG_SUM)
        sum = log(sum);
    return sum * p->factor;
}

// Steps of this work-item along a row of neighbours.
#define ALONG_ROW for (int l = (int)get_local_id(0) * WIDTH; l < p.length; l += THREADS * WIDTH)
// The element for lanes within the row, `rest` behind it.
#define ROW_LOAD(rest) select((vec)(rest), load_lanes(from + l, 1, p.length - l), LANES + l < p.length)

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void reduce_rows(__global stored *arena,
                                                                              __global const stored *weights,
                                                                              const rows_params p) {
    __local float shared[THREADS];
    const int row = get_group_id(0);
    __global const stored *from = at(p.source, arena, weights) + row * p.length;
    const float start = reduce_start(p.kind);
    vec sum = (vec)(start);
    ALONG_ROW sum = select(sum, reduce_step(sum, load_lanes(from + l, 1, p.length - l), p.kind), LANES + l < p.length);
    const float all_of_it = reduce_group(sum, p.kind, shared);
    if (get_local_id(0) == 0)
        store_lanes(reduce_end((vec)(all_of_it), &p), arena + p.target + row, 1);
}

#define COLUMN_ITEM                                                                                                             \
    const int item = get_global_id(0), blocks = (p.inner + WIDTH - 1) / WIDTH;                                                  \
    const int first = item % blocks * WIDTH, outer = item / blocks, count = p.inner - first;                                    \
    if (outer >= p.outer)                                                                                                       \
        return;                                                                                                                 \
    __global const stored *from = at(p.source, arena, weights) + outer * p.length * p.inner + first;

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void reduce_columns(__global stored *arena,
                                                                                 __global const stored *weights,
                                                                                 const rows_params p) {
    COLUMN_ITEM
    vec sum = (vec)(reduce_start(p.kind));
    for (int l = 0; l < p.length; ++l)
        sum = reduce_step(sum, load_all(from + l * p.inner), p.kind);
    store_lanes(reduce_end(sum, &p), arena + p.target + outer * p.inner + first, count);
}

// exp(x - largest) / sum, or its logarithm.
__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void softmax_rows(__global stored *arena,
                                                                               __global const stored *weights,
                                                                               const rows_params p) {
    __local float shared[THREADS];
    const int row = get_group_id(0);
    __global const stored *from = at(p.source, arena, weights) + row * p.length;
    __global stored *to = arena + p.target + row * p.length;
    vec most = (vec)(-INFINITY);
    ALONG_ROW most = larger(most, ROW_LOAD(-INFINITY));
    const float top = reduce_group(most, REDUCE_LARGEST, shared);
    vec sum = (vec)(0.0f);
    ALONG_ROW {
        const vec e = exp(ROW_LOAD(-INFINITY) - top);
        sum += e;
        if (p.kind == 0)
            store_lanes(e, to + l, p.length - l);
    }
    const float whole = reduce_group(sum, REDUCE_SUM, shared);
    const float factor = 1.0f / whole, shift = top + log(whole);
    ALONG_ROW {
        const vec x = load_lanes(p.kind == 0 ? to + l : from + l, 1, p.length - l);
        store_lanes(p.kind == 0 ? x * factor : x - shift, to + l, p.length - l);
    }
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void softmax_columns(__global stored *arena,
                                                                                  __global const stored *weights,
                                                                                  const rows_params p) {
    COLUMN_ITEM
    __global stored *to = arena + p.target + outer * p.length * p.inner + first;
    vec top = (vec)(-INFINITY), sum = (vec)(0.0f);
    for (int l = 0; l < p.length; ++l)
        top = larger(top, load_all(from + l * p.inner));
    for (int l = 0; l < p.length; ++l)
        sum += exp(load_all(from + l * p.inner) - top);
    const vec factor = 1.0f / sum, shift = top + log(sum);
    for (int l = 0; l < p.length; ++l) {
        const vec x = load_all(from + l * p.inner);
        store_lanes(p.kind == 0 ? exp(x - top) * factor : x - shift, to + l * p.inner, count);
    }
}

// (x - mean) / sqrt(variance + epsilon) * scale + shift (Ba, Kiros and Hinton, Layer Normalization).
__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void normalise_rows(__global stored *arena,
                                                                                 __global const stored *weights,
                                                                                 const rows_params p) {
    __local float shared[THREADS];
    const int row = get_group_id(0);
    __global const stored *from = at(p.source, arena, weights) + row * p.length;
    __global stored *to = arena + p.target + row * p.length;
    vec sum = (vec)(0.0f);
    ALONG_ROW sum += ROW_LOAD(0.0f);
    const float mean = reduce_group(sum, REDUCE_SUM, shared) / p.length;
    vec squares = (vec)(0.0f);
    ALONG_ROW {
        const vec d = ROW_LOAD(mean) - mean;
        squares = mad(d, d, squares);
    }
    const float factor = 1.0f / sqrt(reduce_group(squares, REDUCE_SUM, shared) / p.length + p.epsilon);
    const int base = row % p.period * p.row_step;
    __global const stored *scale = at(p.scale == NO_PLACE ? 0 : p.scale, arena, weights) + base;
    __global const stored *shift = at(p.shift == NO_PLACE ? 0 : p.shift, arena, weights) + base;
    if (p.column_step == 1) {
        ALONG_ROW {
            const int count = p.length - l;
            vec y = (load_lanes(from + l, 1, count) - mean) * factor;
            if (p.scale != NO_PLACE)
                y *= load_lanes(scale + l, 1, count);
            if (p.shift != NO_PLACE)
                y += load_lanes(shift + l, 1, count);
            store_lanes(y, to + l, count);
        }
        return;
    }
    for (int part = 0; part * p.column_step < p.length; ++part) {
        const float a = p.scale == NO_PLACE ? factor : factor * load_one(scale + part);
        const float b = (p.shift == NO_PLACE ? 0.0f : load_one(shift + part)) - mean * a;
        const int end = min((part + 1) * p.column_step, p.length);
        for (int l = part * p.column_step + (int)get_local_id(0) * WIDTH; l < end; l += THREADS * WIDTH)
            store_lanes(load_lanes(from + l, 1, end - l) * a + b, to + l, end - l);
    }
}
