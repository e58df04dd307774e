// attention: softmax(scale Q K' + mask) V for stacks of matrices, without storing the matrix of scores: blocks of keys are met one
// after the other, and what was summed so far is scaled when a larger score turns up (Milakov and Gimelshein, Online normalizer
// calculation for softmax, 2018; Dao et al., FlashAttention, 2022).
//
// Q (rows x depth), K (keys x depth) and V (keys x columns) lie in panels as product.cl has them: Q as A; K' and V as B.
//
// Reference  MatMul, Softmax and MatMul of the plain operators; 1e-5 of the largest element.
// Launch     1-D, a work-group TM rows of one pair (i, j): CPU form one work-item, GPU form THREADS of them.
// Barriers   GPU form: as many as blocks of keys, twice; all work-items of a group meet the same blocks.
// Limits     depth <= HEAD, columns <= HEAD.

#ifndef HEAD
#define HEAD (WIDTH == 1 ? 64 : 256) // largest depth, and largest number of columns
#endif

// Field for field the C struct bg_attention_params.
typedef struct {
    int q, k, v;
    int batch[2];                                 // i and j
    int q_strides[2], k_strides[2], v_strides[2]; // by i and j
    int rows, keys, depth, columns;
    float scale;
    int mask;            // or NO_PLACE: a value that is added
    int mask_strides[4]; // by i, j, row and key
    int target;
    int target_strides[3]; // by i, j and row; columns are neighbours
} attention_params;

#if WIDTH == 1

// A work-item has one row of Q; keys and values of a block are shared. K' and V are panels of TN columns.
#define KEYS 32 // of a block

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void attention(__global stored *arena,
                                                                            __global const stored *weights,
                                                                            const attention_params p) {
    __local float shared_k[KEYS * HEAD], shared_v[KEYS * HEAD];
    const int t = get_local_id(0), row_groups = (p.rows + THREADS - 1) / THREADS;
    const int group = get_group_id(0), z = group / row_groups, i = z / p.batch[1], j = z % p.batch[1];
    const int row = group % row_groups * THREADS + t;
    const bool is_row = row < p.rows;
    __global const stored *q = at(p.q, arena, weights) + i * p.q_strides[0] + j * p.q_strides[1] +
                              row / TM * p.depth * TM + row % TM;
    __global const stored *k = at(p.k, arena, weights) + i * p.k_strides[0] + j * p.k_strides[1];
    __global const stored *v = at(p.v, arena, weights) + i * p.v_strides[0] + j * p.v_strides[1];
    __global const stored *mask = at(p.mask == NO_PLACE ? 0 : p.mask, arena, weights) + i * p.mask_strides[0] +
                                 j * p.mask_strides[1] + row * p.mask_strides[2];
    float query[HEAD], sums[HEAD];
#pragma unroll
    for (int d = 0; d < HEAD; ++d) {
        query[d] = is_row && d < p.depth ? load_one(q + d * TM) * p.scale : 0.0f;
        sums[d] = 0.0f;
    }
    float top = -INFINITY, whole = 0.0f;
    for (int first = 0; first < p.keys; first += KEYS) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int e = t; e < KEYS * HEAD; e += THREADS) {
            const int key = first + e / HEAD, d = e % HEAD;
            shared_k[e] = key < p.keys && d < p.depth ? load_one(k + (key / TN * p.depth + d) * TN + key % TN) : 0.0f;
            shared_v[e] = key < p.keys && d < p.columns ? load_one(v + (d / TN * p.keys + key) * TN + d % TN) : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int count = min(KEYS, p.keys - first);
        for (int key = 0; key < count; ++key) {
            float score = 0.0f;
#pragma unroll
            for (int d = 0; d < HEAD; ++d)
                score = mad(query[d], shared_k[key * HEAD + d], score);
            if (p.mask != NO_PLACE && is_row)
                score += load_one(mask + (first + key) * p.mask_strides[3]);
            const float most = fmax(top, score);
            // A row that is masked out so far has no scores yet.
            const float before = most == -INFINITY ? 1.0f : exp(top - most);
            const float share = most == -INFINITY ? 0.0f : exp(score - most);
            whole = whole * before + share;
#pragma unroll
            for (int d = 0; d < HEAD; ++d)
                sums[d] = mad(share, shared_v[key * HEAD + d], sums[d] * before);
            top = most;
        }
    }
    if (!is_row)
        return;
    __global stored *to = arena + p.target + i * p.target_strides[0] + j * p.target_strides[1] + row * p.target_strides[2];
#pragma unroll
    for (int d = 0; d < HEAD; ++d)
        if (d < p.columns)
            store_all(sums[d] / whole, to + d);
}

#else

// sums += a b for a tile of TM rows and TN columns; a is [depth][TM], read by LOAD, b [depth][TN], stored.
#define SCORE_TILE(acc, LOAD, a, b, depth)                                                                                      \
    for (int step = 0; step < (depth); ++step) {                                                                                \
        vec right[NV];                                                                                                          \
        _Pragma("unroll") for (int c = 0; c < NV; ++c) right[c] = load_all((b) + step * TN + c * WIDTH);                        \
        _Pragma("unroll") for (int r = 0; r < TM; ++r) {                                                                        \
            const vec left = (vec)(LOAD((a) + step * TM + r));                                                                  \
            _Pragma("unroll") for (int c = 0; c < NV; ++c) acc[r][c] = mad(left, right[c], acc[r][c]);                          \
        }                                                                                                                       \
    }

inline float vec_largest(vec v) {
    float parts[WIDTH];
    vec_store_all(v, parts);
    float most = parts[0];
    for (int i = 1; i < WIDTH; ++i)
        most = fmax(most, parts[i]);
    return most;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global stored *arena, __global const stored *weights,
                                                                      const attention_params p) {
    // The last tile of columns may reach behind the largest number of these.
    __local float shares[TN * TM], sums[TM * (HEAD + TN)];
    float top[TM], whole[TM];
    const int tiles = (p.rows + TM - 1) / TM, column_tiles = (p.columns + TN - 1) / TN;
    const int item = get_group_id(0), z = item / tiles, i = z / p.batch[1], j = z % p.batch[1];
    const int first_row = item % tiles * TM;
    __global const stored *q =
        at(p.q, arena, weights) + i * p.q_strides[0] + j * p.q_strides[1] + first_row * p.depth;
    __global const stored *k = at(p.k, arena, weights) + i * p.k_strides[0] + j * p.k_strides[1];
    __global const stored *v = at(p.v, arena, weights) + i * p.v_strides[0] + j * p.v_strides[1];
    __global const stored *mask =
        at(p.mask == NO_PLACE ? 0 : p.mask, arena, weights) + i * p.mask_strides[0] + j * p.mask_strides[1];
    for (int r = 0; r < TM; ++r) {
        top[r] = -INFINITY;
        whole[r] = 0.0f;
    }
    for (int e = 0; e < TM * TN * column_tiles; ++e)
        sums[e] = 0.0f;
    for (int first = 0; first < p.keys; first += TN) {
        const int count = min(TN, p.keys - first);
        vec acc[TM][NV];
#pragma unroll
        for (int r = 0; r < TM; ++r)
#pragma unroll
            for (int c = 0; c < NV; ++c)
                acc[r][c] = (vec)(0.0f);
        SCORE_TILE(acc, load_one, q, k + first * p.depth, p.depth)
#pragma unroll
        for (int r = 0; r < TM; ++r) {
            const int row = min(first_row + r, p.rows - 1);
            vec most = (vec)(-INFINITY);
#pragma unroll
            for (int c = 0; c < NV; ++c) {
                const int lanes = count - c * WIDTH;
                vec score = acc[r][c] * p.scale;
                if (p.mask != NO_PLACE && lanes > 0)
                    score += load_lanes(mask + row * p.mask_strides[2] + (first + c * WIDTH) * p.mask_strides[3],
                                        p.mask_strides[3], lanes);
                score = select((vec)(-INFINITY), score, LANES < lanes);
                acc[r][c] = score;
                most = larger(most, score);
            }
            const float next = fmax(top[r], vec_largest(most));
            // A row that is masked out so far has no scores yet.
            const float base = next == -INFINITY ? 0.0f : next, before = exp(top[r] - base);
            vec sum = (vec)(0.0f);
#pragma unroll
            for (int c = 0; c < NV; ++c) {
                const vec share = exp(acc[r][c] - base);
                sum += share;
                float parts[WIDTH];
                vec_store_all(share, parts);
                for (int l = 0; l < WIDTH; ++l)
                    shares[(c * WIDTH + l) * TM + r] = parts[l];
            }
            whole[r] = whole[r] * before + vec_sum(sum);
            top[r] = next;
            for (int c = 0; c < column_tiles * TN; c += WIDTH)
                vec_store_all(vec_load(sums + r * column_tiles * TN + c) * before, sums + r * column_tiles * TN + c);
        }
        for (int tile = 0; tile < column_tiles; ++tile) {
            vec out[TM][NV];
#pragma unroll
            for (int r = 0; r < TM; ++r)
#pragma unroll
                for (int c = 0; c < NV; ++c)
                    out[r][c] = vec_load(sums + (r * column_tiles + tile) * TN + c * WIDTH);
            SCORE_TILE(out, *, shares, v + (tile * p.keys + first) * TN, count)
#pragma unroll
            for (int r = 0; r < TM; ++r)
#pragma unroll
                for (int c = 0; c < NV; ++c)
                    vec_store_all(out[r][c], sums + (r * column_tiles + tile) * TN + c * WIDTH);
        }
    }
    for (int r = 0; r < TM && first_row + r < p.rows; ++r) {
        __global stored *to = arena + p.target + i * p.target_strides[0] + j * p.target_strides[1] +
                             (first_row + r) * p.target_strides[2];
        for (int c = 0; c < p.columns; c += WIDTH)
            store_lanes(vec_load(sums + r * column_tiles * TN + c) / whole[r], to + c, p.columns - c);
    }
}

#endif
