// product: products of matrices, C(i, j) = A(i, j) B(i, j), finished as values.cl says.
//
// Operands lie in panels: a matrix of R rows and depth K is [R rounded up / w][K][w], the rest zeros, with w = TM for A and w = TN for
// the columns of B. So each step along K reads neighbours, whatever the layout was. `pack` makes panels on the device; the host makes
// those of weights.
//
// Reference  MatMul and Gemm of the plain operators; 1e-5 of the largest element at K = 1000.
// Launch     pack: 1-D, a work-item a run of one panel. product: 1-D, a work-group a tile of TM x TN of C (CPU form: `row_tiles` tiles
//            with the same columns); tiles of a column first, so that the panel of B stays in the cache.
// Barriers   GPU form: two a slice of TK.

#if WIDTH == 1
#ifndef TM
#define TM 64 // rows of a tile: 32 ... 128, a multiple of THREADS / 16
#endif
#ifndef TN
#define TN 64 // columns of a tile: 32, 64, 128
#endif
#ifndef TK
#define TK 16 // depth of a slice in local memory: 8 ... 32
#endif
#define ITEMS_X 16 // work-items side by side along the columns
#define ITEMS_Y (THREADS / ITEMS_X)
#define RM (TM / ITEMS_Y) // rows and columns of a work-item, four by four neighbours, so that they are read from local memory at once
#define RN (TN / ITEMS_X)
#define ROW(i) ((i) / min(RM, 4) * (min(RM, 4) * ITEMS_Y) + y * min(RM, 4) + (i) % min(RM, 4))
#define COLUMN(j) ((j) / min(RN, 4) * (min(RN, 4) * ITEMS_X) + x * min(RN, 4) + (j) % min(RN, 4))
#else
#ifndef TM
#define TM 6 // rows of a tile
#endif
#ifndef NV
#define NV 4 // vectors in a row of a tile; TM * NV accumulators, NV operands and one more fit into the registers
#endif
#define TN (NV * WIDTH)
#define ITEM_TILES 32 // the most tiles that one work-item computes, whose sums wait in local memory for the next block of the depth
#endif
#ifndef KB
#define KB 512 // depth that the CPU form computes at a time: KB * TN elements stay in the second-level cache
#endif

// Field for field the C struct bg_pack_params.
typedef struct {
    int source, target;
    int row_stride, depth_stride;
    int batch[2];         // numbers of matrices, outer first
    int batch_strides[2]; // of the source
    int rows, depth, width;
    int panels; // of one matrix
} pack_params;

// One work-item: PACK_DEPTH steps of a panel (CPU form) or one element (GPU form).
#define PACK_DEPTH 64

__kernel void pack(__global stored *arena, __global const stored *weights, const pack_params p) {
    const int item = get_global_id(0);
#if WIDTH == 1
    const int w = item % p.width, k = item / p.width % p.depth, rest = item / p.width / p.depth;
    const int panel = rest % p.panels, z = rest / p.panels;
    if (z >= p.batch[0] * p.batch[1])
        return;
    const int row = panel * p.width + w;
    const int from = z / p.batch[1] * p.batch_strides[0] + z % p.batch[1] * p.batch_strides[1] + row * p.row_stride +
                     k * p.depth_stride;
    store_one(row < p.rows ? load_one(at(p.source, arena, weights) + from) : 0.0f, arena + p.target + item);
#else
    const int blocks = (p.depth + PACK_DEPTH - 1) / PACK_DEPTH;
    const int block = item % blocks, panel = item / blocks % p.panels, z = item / blocks / p.panels;
    if (z >= p.batch[0] * p.batch[1])
        return;
    const int first = panel * p.width, count = min(p.width, p.rows - first);
    __global const stored *from = at(p.source, arena, weights) + z / p.batch[1] * p.batch_strides[0] +
                                 z % p.batch[1] * p.batch_strides[1] + first * p.row_stride;
    const int k_end = min(p.depth, (block + 1) * PACK_DEPTH);
    __global stored *to = arena + p.target + ((z * p.panels + panel) * p.depth + block * PACK_DEPTH) * p.width;
    if (p.row_stride == 1 && p.width % WIDTH == 0) {
        for (int k = block * PACK_DEPTH; k < k_end; ++k)
            for (int w = 0; w < p.width; w += WIDTH, to += WIDTH)
                store_all(select((vec)(0.0f), load_all(from + k * p.depth_stride + w), LANES + w < count), to);
        return;
    }
    for (int w = 0; w < p.width; ++w) {
        __global stored *column = to + w;
        for (int k = block * PACK_DEPTH; k < k_end; ++k, column += p.width)
            store_one(w < count ? load_one(from + w * p.row_stride + k * p.depth_stride) : 0.0f, column);
    }
#endif
}

// Field for field the C struct bg_product_params.
typedef struct {
    int a, b;
    int batch[2]; // i and j
    int a_strides[2], b_strides[2];
    int rows, columns, depth;
    int row_tiles; // that one work-item computes, CPU form, up to ITEM_TILES
    product_result result;
} product_params;

#if WIDTH == 1

// acc += a b over a slice of TK: a is [TK][TM], b is [TK][TN]; this work-item has rows ROW and columns COLUMN.
inline void multiply_slice(float acc[RM][RN], __local const float *a, __local const float *b, int x, int y) {
#pragma unroll
    for (int k = 0; k < TK; ++k) {
        float left[RM], right[RN];
#pragma unroll
        for (int i = 0; i < RM; ++i)
            left[i] = a[k * TM + ROW(i)];
#pragma unroll
        for (int j = 0; j < RN; ++j)
            right[j] = b[k * TN + COLUMN(j)];
#pragma unroll
        for (int i = 0; i < RM; ++i)
#pragma unroll
            for (int j = 0; j < RN; ++j)
                acc[i][j] = mad(left[i], right[j], acc[i][j]);
    }
}

// The next slice of an operand waits in registers while this one is multiplied: of the ITEMS(TM) elements of a work-item each is
// THREADS behind the one before.
#define ITEMS(W) ((TK * (W) + THREADS - 1) / THREADS)

inline void fetch_panel(float *next, __global const stored *from, int t, int count) {
#pragma unroll
    for (int i = 0; i < ITEMS(TM); ++i)
        next[i] = t + i * THREADS < count * TM ? load_one(from + t + i * THREADS) : 0.0f;
}

inline void fetch_columns(float *next, __global const stored *from, int t, int count) {
#pragma unroll
    for (int i = 0; i < ITEMS(TN); ++i)
        next[i] = t + i * THREADS < count * TN ? load_one(from + t + i * THREADS) : 0.0f;
}

inline void put_slices(const float *left, const float *right, __local float *a, __local float *b, int t) {
#pragma unroll
    for (int i = 0; i < ITEMS(TM); ++i)
        if (t + i * THREADS < TK * TM)
            a[t + i * THREADS] = left[i];
#pragma unroll
    for (int i = 0; i < ITEMS(TN); ++i)
        if (t + i * THREADS < TK * TN)
            b[t + i * THREADS] = right[i];
}

// Writes the tile whose first element is (row, column).
inline void write_tile(float acc[RM][RN], const product_result *p, __global stored *arena, __global const stored *weights, int i,
                       int j, int row, int column, int rows, int columns, int x, int y) {
#pragma unroll
    for (int r = 0; r < RM; ++r)
#pragma unroll
        for (int c = 0; c < RN; ++c) {
            const int m = row + ROW(r), n = column + COLUMN(c);
            if (m < rows && n < columns)
                write_result(acc[r][c], p, arena, weights, i, j, m, n, 1);
        }
    if (p->link_count == 0)
        return;
    for (int e = 0; e < RM * RN; ++e) {
        const int m = row + ROW(e / RN), n = column + COLUMN(e % RN);
        if (m < rows && n < columns)
            link_result(p, arena, weights, i, j, m, n, 1);
    }
}

#define CLEAR(acc)                                                                                                              \
    float acc[RM][RN];                                                                                                          \
    for (int r = 0; r < RM; ++r)                                                                                                \
        for (int c = 0; c < RN; ++c)                                                                                            \
            acc[r][c] = 0.0f;

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void product(__global stored *arena, __global const stored *weights,
                                                                          const product_params p) {
    __local float a[TK * TM] __attribute__((aligned(16))), b[TK * TN] __attribute__((aligned(16)));
    const int t = get_local_id(0), x = t % ITEMS_X, y = t / ITEMS_X;
    const int row_tiles = (p.rows + TM - 1) / TM, column_tiles = (p.columns + TN - 1) / TN;
    const int group = get_group_id(0);
    const int tile = group % row_tiles, panel = group / row_tiles % column_tiles, z = group / row_tiles / column_tiles;
    const int i = z / p.batch[1], j = z % p.batch[1];
    __global const stored *from_a =
        at(p.a, arena, weights) + i * p.a_strides[0] + j * p.a_strides[1] + tile * p.depth * TM;
    __global const stored *from_b =
        at(p.b, arena, weights) + i * p.b_strides[0] + j * p.b_strides[1] + panel * p.depth * TN;
    float left[ITEMS(TM)], right[ITEMS(TN)];
    CLEAR(acc)
    fetch_panel(left, from_a, t, min(TK, p.depth));
    fetch_columns(right, from_b, t, min(TK, p.depth));
    for (int k = 0; k < p.depth; k += TK) {
        put_slices(left, right, a, b, t);
        barrier(CLK_LOCAL_MEM_FENCE);
        const int next = k + TK;
        if (next < p.depth) {
            fetch_panel(left, from_a + next * TM, t, min(TK, p.depth - next));
            fetch_columns(right, from_b + next * TN, t, min(TK, p.depth - next));
        }
        multiply_slice(acc, a, b, x, y);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    write_tile(acc, &p.result, arena, weights, i, j, tile * TM, panel * TN, p.rows, p.columns, x, y);
}

#else

// Computes `count` columns (1 ... TN) of a tile: adds the products of `depth` steps to `sums`, [TM][TN], which hold those of earlier
// blocks where !is_first; with the last block the tile is finished. READ gives vectors of b.
#define TILE(name, space, type, READ, VECTORS)                                                                                  \
    inline void name(__global const stored *a, space const type *b, int depth, bool is_first, bool is_last, __local float *sums,\
                     const product_result *p, __global stored *arena, __global const stored *weights, int i, int j, int row,    \
                     int rows, int column, int count) {                                                                         \
        vec acc[TM][VECTORS];                                                                                                   \
        _Pragma("unroll") for (int r = 0; r < TM; ++r)                                                                          \
            _Pragma("unroll") for (int c = 0; c < VECTORS; ++c) acc[r][c] = (vec)(0.0f);                                        \
        for (int k = 0; k < depth; ++k, a += TM, b += TN) {                                                                     \
            vec right[VECTORS];                                                                                                 \
            _Pragma("unroll") for (int c = 0; c < VECTORS; ++c) right[c] = READ(b + c * WIDTH);                                 \
            _Pragma("unroll") for (int r = 0; r < TM; ++r) {                                                                    \
                const vec left = (vec)(load_one(a + r));                                                                        \
                _Pragma("unroll") for (int c = 0; c < VECTORS; ++c) acc[r][c] = mad(left, right[c], acc[r][c]);                 \
            }                                                                                                                   \
        }                                                                                                                       \
        _Pragma("unroll") for (int r = 0; r < TM; ++r) if (row + r < rows) {                                                    \
            _Pragma("unroll") for (int c = 0; c < VECTORS; ++c) if (c * WIDTH < count) {                                        \
                vec sum = acc[r][c];                                                                                            \
                __local float *before = sums + r * TN + c * WIDTH;                                                              \
                if (!is_first)                                                                                                  \
                    sum += vec_load(before);                                                                                    \
                if (is_last)                                                                                                    \
                    write_result(sum, p, arena, weights, i, j, row + r, column + c * WIDTH, count - c * WIDTH);                 \
                else                                                                                                            \
                    vec_store_all(sum, before);                                                                                 \
            }                                                                                                                   \
        }                                                                                                                       \
        if (!is_last || p->link_count == 0)                                                                                     \
            return;                                                                                                             \
        for (int r = 0; r < TM && row + r < rows; ++r)                                                                          \
            for (int c = 0; c * WIDTH < count; ++c)                                                                             \
                link_result(p, arena, weights, i, j, row + r, column + c * WIDTH, count - c * WIDTH);                           \
    }

TILE(tile_of_global, __global, stored, load_all, NV)
TILE(narrow_tile_of_global, __global, stored, load_all, 1)
TILE(tile_of_local, __local, float, vec_load, NV)
TILE(narrow_tile_of_local, __local, float, vec_load, 1)

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void product(__global stored *arena, __global const stored *weights,
                                                                    const product_params p) {
    const int row_tiles = (p.rows + TM - 1) / TM, column_tiles = (p.columns + TN - 1) / TN;
    const int row_items = (row_tiles + p.row_tiles - 1) / p.row_tiles;
    const int item = get_global_id(0);
    const int first = item % row_items * p.row_tiles, panel = item / row_items % column_tiles;
    const int z = item / row_items / column_tiles, i = z / p.batch[1], j = z % p.batch[1];
    const int last = min(first + p.row_tiles, row_tiles), count = min(TN, p.columns - panel * TN);
    __global const stored *a = at(p.a, arena, weights) + i * p.a_strides[0] + j * p.a_strides[1];
    __global const stored *b = at(p.b, arena, weights) + i * p.b_strides[0] + j * p.b_strides[1] + panel * p.depth * TN;
    __local float sums[ITEM_TILES * TM * TN];
    for (int k = 0; k < p.depth; k += KB) {
        const int depth = min(KB, p.depth - k);
        for (int tile = first; tile < last; ++tile) {
            __global const stored *from = a + (tile * p.depth + k) * TM;
            __local float *sum = sums + (tile - first) * TM * TN;
            if (count <= WIDTH)
                narrow_tile_of_global(from, b + k * TN, depth, k == 0, k + depth == p.depth, sum, &p.result, arena, weights, i,
                                      j, tile * TM, p.rows, panel * TN, count);
            else
                tile_of_global(from, b + k * TN, depth, k == 0, k + depth == p.depth, sum, &p.result, arena, weights, i, j,
                               tile * TM, p.rows, panel * TN, count);
        }
    }
}

#endif
