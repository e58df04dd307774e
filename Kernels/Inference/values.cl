// values: how the kernels of inference name memory, move a vector of it, and finish a result with what follows in the graph.
//
// Two forms of one text. WIDTH 1 is for GPUs: a work-group shares tiles in local memory. WIDTH 8 or 16 is for CPU devices: a work-item
// is a work-group of its own and computes a block of rows in vector registers (16 where these have 512 bits).
//
// All values lie in row-major order in one of two buffers: `arena`, which a run writes, and `weights`, which it only reads. Elements are
// of type `stored`: float, or half where STORED_HALF is defined; whatever is computed and summed is float in either case.
// A place is an offset in elements: in `arena` where it is not negative, else of ~place in `weights`.

#ifndef WIDTH
#define WIDTH 1 // elements of a vector: 1, 4, 8, 16
#endif
#ifndef RUN
#define RUN (WIDTH == 1 ? 1 : 16 * WIDTH) // neighbouring elements a work-item of element-wise kernels computes
#endif
#ifndef THREADS
#define THREADS (WIDTH == 1 ? 256 : 1) // work-items of a group that shares tiles or a row: 64 ... 256 on GPUs
#endif

// Compilers for CPUs leave functions out of line that are called for each vector of a tile.
#define INLINE inline __attribute__((always_inline))

#if WIDTH == 1
typedef float vec;
typedef int ivec;
#define LANES 0
#define vec_load(from) (*(from))
#define vec_store_all(v, to) (*(to) = (v))
#define to_vec convert_float
#else
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(float, WIDTH) vec;
typedef JOIN(int, WIDTH) ivec;
#define vec_load(from) JOIN(vload, WIDTH)(0, from)
#define vec_store_all(v, to) JOIN(vstore, WIDTH)(v, 0, to)
#define to_vec JOIN(convert_float, WIDTH)
#if WIDTH == 16
#define LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#elif WIDTH == 8
#define LANES ((int8)(0, 1, 2, 3, 4, 5, 6, 7))
#else
#define LANES ((int4)(0, 1, 2, 3))
#endif
#endif

// Elements as numbers and back: load_one and store_one for one, load_all and store_all for a vector, store_part for 2, 4 or 8 of its
// elements. vec_load and vec_store_all are for floats that a work-item or its group keeps.
#ifdef STORED_HALF
typedef half stored; // behind pointers only: OpenCL computes with these by an extension that few CPU devices have
#define load_one(from) vload_half(0, from)
#define store_one(x, to) vstore_half_rte(x, 0, to)
#define store_part(number, v, to) vstore_half##number##_rte(v, 0, to)
#if WIDTH == 1
#define load_all load_one
#define store_rounded store_one
#else
#define load_all(from) JOIN(vload_half, WIDTH)(0, from)
#define store_rounded(v, to) JOIN(JOIN(vstore_half, WIDTH), _rte)(v, 0, to)
#endif
// Numbers beyond the largest half become that, so that a mask of -1e9 does not turn zeros into NaN; infinities stay.
#define LARGEST_HALF 65504.0f
inline vec within_range(vec v) { return select(v, clamp(v, -LARGEST_HALF, LARGEST_HALF), isfinite(v)); }
#else
typedef float stored;
#define load_one(from) (*(from))
#define store_one(x, to) (*(to) = (x))
#define store_part(number, v, to) vstore##number(v, 0, to)
#define load_all vec_load
#define store_rounded vec_store_all
#define within_range(v) (v)
#endif
#define store_all(v, to) store_rounded(within_range(v), to)

#define NO_PLACE (-2147483647 - 1) // an operand that is not there

INLINE __global const stored *at(int place, __global const stored *arena, __global const stored *weights) {
    return place < 0 ? weights + ~place : arena + place;
}

inline __global const int *table_at(int place, __global const stored *arena, __global const stored *weights) {
    return (__global const int *)at(place, arena, weights);
}

// `count` elements (1 ... WIDTH) that lie `stride` apart; the other lanes may hold anything.
INLINE vec load_lanes(__global const stored *from, int stride, int count) {
#if WIDTH == 1
    (void)stride;
    (void)count;
    return load_one(from);
#else
    if (stride == 1)
        return load_all(from);
    if (stride == 0)
        return (vec)(load_one(from));
    float parts[WIDTH];
    for (int i = 0; i < WIDTH; ++i)
        parts[i] = i < count ? load_one(from + (long)i * stride) : 0.0f;
    return vec_load(parts);
#endif
}

// The first `count` lanes.
INLINE void store_lanes(vec v, __global stored *to, int count) {
#if WIDTH == 1
    (void)count;
    store_all(v, to);
#else
    v = within_range(v);
    if (count >= WIDTH) {
        store_rounded(v, to);
        return;
    }
#if WIDTH == 16
    float8 eight = v.lo;
    if (count & 8) {
        store_part(8, eight, to);
        eight = v.hi;
        to += 8;
    }
#elif WIDTH == 8
    const float8 eight = v;
#endif
#if WIDTH >= 8
    float4 four = eight.lo;
    if (count & 4) {
        store_part(4, four, to);
        four = eight.hi;
        to += 4;
    }
#else
    float4 four = v;
#endif
    if (count & 2) {
        store_part(2, four.lo, to);
        four.x = four.z;
        to += 2;
    }
    if (count & 1)
        store_one(four.x, to);
#endif
}

inline float vec_sum(vec v) {
#if WIDTH == 1
    return v;
#else
    float parts[WIDTH];
    vec_store_all(v, parts);
    float sum = 0.0f;
    for (int i = 0; i < WIDTH; ++i)
        sum += parts[i];
    return sum;
#endif
}

// The larger of two; NaN where one is.
inline vec larger(vec a, vec b) { return select(b, a, a > b || a != a); }
inline vec smaller(vec a, vec b) { return select(b, a, a < b || a != a); }

// The error function. Near 0 its series, else formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions (error
// below 2e-7).
inline vec error_function(vec x) {
    const vec s = fabs(x), t = 1.0f / (1.0f + 0.3275911f * s);
    const vec poly = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    const vec far = copysign(1.0f - poly * exp(-s * s), x), q = x * x;
    const vec near = x * (1.1283791671f + q * (-0.3761263890f + q * (0.1128379167f + q * (-0.0268661706f + q * 0.0052239776f))));
    return select(far, near, s < 0.4f);
}

// One function of each element, or arithmetic with another value. Field for field the C struct bg_link; `kind` is a bg_link_kind.
typedef struct {
    int kind;
    int place;      // of the other operand
    int strides[4]; // of the other operand, by position
    float a, b;     // parameters of a function
} value_link;

#define LINK_LINEAR 0 // a x + b
#define LINK_CLIP 1   // a ... b
#define LINK_RELU 2   // a x below 0
#define LINK_ELU 3    // b (a (exp x - 1)) below 0, b x above
#define LINK_SIGMOID 4
#define LINK_SWISH 5 // x / (1 + exp(-a x))
#define LINK_TANH 6
#define LINK_HARD_SWISH 7
#define LINK_GELU_ERF 8
#define LINK_GELU_TANH 9
#define LINK_MISH 10
#define LINK_EXP 11
#define LINK_LOG 12
#define LINK_SQRT 13
#define LINK_ABS 14
#define LINK_ERF 15
#define LINK_RECIPROCAL 16
#define LINK_FLOOR 17
#define LINK_CEIL 18
#define LINK_ROUND 19
#define LINK_SIN 20
#define LINK_COS 21
#define LINK_SOFTPLUS 22
#define LINK_SOFTSIGN 23
#define LINK_POWER 24 // x ^ a
#define LINK_SIGN 25
#define LINK_FILL_NAN 26 // a in the place of NaN
#define LINK_ADD 64
#define LINK_SUBTRACT 65
#define LINK_SUBTRACT_FROM 66 // operand - x
#define LINK_MULTIPLY 67
#define LINK_DIVIDE 68
#define LINK_DIVIDE_INTO 69 // operand / x
#define LINK_MAXIMUM 70
#define LINK_MINIMUM 71
#define LINK_RAISE 72      // x ^ operand
#define LINK_RAISE_FROM 73 // operand ^ x
#define LINK_FILL 74       // a where the operand is not 0
#define LINK_KEEP 75       // a where the operand is 0

// log(1 + exp x) without overflow.
inline vec soft_plus(vec x) { return larger(x, (vec)(0.0f)) + log1p(exp(-fabs(x))); }

inline vec apply_function(vec x, int kind, float a, float b) {
    const vec zero = (vec)(0.0f), one = (vec)(1.0f);
    switch (kind) {
    case LINK_LINEAR: return a * x + b;
    case LINK_CLIP: return select(select(x, (vec)(b), x > b), (vec)(a), x < a);
    case LINK_RELU: return select(x, a == 0.0f ? zero : a * x, x < 0.0f);
    case LINK_ELU: return b * select(x, a * expm1(x), x < 0.0f);
    case LINK_SIGMOID: return 1.0f / (1.0f + exp(-x));
    case LINK_SWISH: return x / (1.0f + exp(-a * x));
    case LINK_TANH: return tanh(x);
    case LINK_HARD_SWISH: return x * smaller(larger(x * (1.0f / 6.0f) + 0.5f, zero), one);
    case LINK_GELU_ERF: return 0.5f * x * (1.0f + error_function(x * 0.70710678f));
    // x / 2 (1 + tanh u) as x / (1 + exp(-2 u)): tanh of minus infinity is not -1 on every device.
    case LINK_GELU_TANH: return x / (1.0f + exp(-1.59576912f * (x + 0.044715f * x * x * x)));
    case LINK_MISH: return x * tanh(soft_plus(x));
    case LINK_EXP: return exp(x);
    case LINK_LOG: return log(x);
    case LINK_SQRT: return sqrt(x);
    case LINK_ABS: return fabs(x);
    case LINK_ERF: return error_function(x);
    case LINK_RECIPROCAL: return 1.0f / x;
    case LINK_FLOOR: return floor(x);
    case LINK_CEIL: return ceil(x);
    case LINK_ROUND: return rint(x);
    case LINK_SIN: return sin(x);
    case LINK_COS: return cos(x);
    case LINK_SOFTPLUS: return soft_plus(x);
    case LINK_SOFTSIGN: return x / (1.0f + fabs(x));
    case LINK_POWER: return pow(x, (vec)(a));
    case LINK_SIGN: return select(select(x, one, x > 0.0f), -one, x < 0.0f);
    case LINK_FILL_NAN: return select(x, (vec)(a), x != x);
    default: return x;
    }
}

inline vec apply_operand(vec x, int kind, float a, vec w) {
    switch (kind) {
    case LINK_ADD: return x + w;
    case LINK_SUBTRACT: return x - w;
    case LINK_SUBTRACT_FROM: return w - x;
    case LINK_MULTIPLY: return x * w;
    case LINK_DIVIDE: return x / w;
    case LINK_DIVIDE_INTO: return w / x;
    case LINK_MAXIMUM: return larger(x, w);
    case LINK_MINIMUM: return smaller(x, w);
    case LINK_RAISE: return pow(x, w);
    case LINK_RAISE_FROM: return pow(w, x);
    case LINK_FILL: return select(x, (vec)(a), w != 0.0f);
    case LINK_KEEP: return select((vec)(a), x, w != 0.0f);
    default: return x;
    }
}

// What the links make of the elements at (i, j, k, l ... l + count - 1).
inline vec apply_links(vec x, int links, int link_count, __global const stored *arena, __global const stored *weights, int i,
                       int j, int k, int l, int count) {
    __global const value_link *link = (__global const value_link *)at(links, arena, weights);
    for (int n = 0; n < link_count; ++n, ++link) {
        if (link->kind < LINK_ADD) {
            x = apply_function(x, link->kind, link->a, link->b);
        } else {
            const int offset = i * link->strides[0] + j * link->strides[1] + k * link->strides[2] + l * link->strides[3];
            x = apply_operand(x, link->kind, link->a,
                              load_lanes(at(link->place, arena, weights) + offset, link->strides[3], count));
        }
    }
    return x;
}

// Where the result of a product lies and what is done to it: a sum with a bias and a residual, bounds, then links. Positions are
// (i, j, row, column). Field for field the C struct bg_result.
typedef struct {
    int target;
    int strides[3];          // of i, j and row; columns are neighbours
    int bias;                // or NO_PLACE
    int bias_strides[3];     // of j, row and column
    int residual;            // or NO_PLACE
    int residual_strides[4]; // by position
    float low, high;
    int links, link_count;
} product_result;

#define RESULT_OFFSET(p, i, j, row, column) ((i) * (p)->strides[0] + (j) * (p)->strides[1] + (row) * (p)->strides[2] + (column))

// Finishes the sums at (i, j, row, column ...) and writes them; links are left to link_result.
INLINE void write_result(vec sum, const product_result *p, __global stored *arena, __global const stored *weights, int i, int j,
                         int row, int column, int count) {
    if (p->bias != NO_PLACE)
        sum += load_lanes(at(p->bias, arena, weights) + j * p->bias_strides[0] + row * p->bias_strides[1] +
                              column * p->bias_strides[2],
                          p->bias_strides[2], count);
    if (p->residual != NO_PLACE)
        sum += load_lanes(at(p->residual, arena, weights) + i * p->residual_strides[0] + j * p->residual_strides[1] +
                              row * p->residual_strides[2] + column * p->residual_strides[3],
                          p->residual_strides[3], count);
    sum = select(select(sum, (vec)(p->high), sum > p->high), (vec)(p->low), sum < p->low);
    store_lanes(sum, arena + p->target + RESULT_OFFSET(p, i, j, row, column), count);
}

// The links of what this work-item has written at (i, j, row, column ...).
inline void link_result(const product_result *p, __global stored *arena, __global const stored *weights, int i, int j, int row,
                        int column, int count) {
    __global stored *to = arena + p->target + RESULT_OFFSET(p, i, j, row, column);
    const vec v = apply_links(load_lanes(to, 1, count), p->links, p->link_count, arena, weights, i, j, row, column, count);
    store_lanes(v, to, count);
}
