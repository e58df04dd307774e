// convolution: convolutions, grouped, strided, dilated and padded, over one to three axes, and transposed ones, as products whose B is
// gathered on the way (implicit GEMM): A = filters x depth from panels of weights, B = depth x pixels, depth = taps x channels.
//
//   out(f, o) = sum over taps t and channels c of w(f, t, c) in(c, (o * stride + shift(t)) / spread)
//
// where only whole quotients within the input count. Spread is 1 but for transposed convolutions, whose stride it is.
//
// Reference  Conv and ConvTranspose of the plain operators; 1e-5 of the largest element.
// Launch     1-D, a work-group a tile of TM filters x TN pixels of one group of one image; tiles with the same pixels first. CPU form:
//            all tiles with the same pixels, or `row_tiles` of them.
// Barriers   GPU form: two a slice of TK.
// Reads      CPU form: up to `largest shift` + TN elements beyond either end of an image's plane, and leaves them out.

// Field for field the C struct bg_convolution_params.
typedef struct {
    int weights; // panels: [group][filters rounded up / TM][taps * channels][TM]
    int source;
    int taps;                               // table: of each tap the shift of z, y, x, and its offset in a plane where is_flat
    int groups, images, filters, channels;  // of one group
    int tap_count;
    int input[3], output[3], strides[3], spread[3]; // z, y, x
    int image_stride, group_stride, plane;          // of the source, in elements
    int weight_stride;                              // from one group's panels to the next
    int is_flat;   // output and input have the same extents, strides and spread are 1: a tap is one offset for all pixels
    int row_tiles; // that one work-item computes, CPU form, up to ITEM_TILES
    product_result result;
} convolution_params;

// The coordinate of the input that a tap sees, or -1.
inline int seen(int position, int stride, int shift, int spread, int extent) {
    const int place = position * stride + shift;
    if (spread == 1)
        return place < extent ? place : -1;
    return place >= 0 && place % spread == 0 && place / spread < extent ? place / spread : -1;
}

// The offset in a plane, or -1.
inline int seen_offset(const convolution_params *p, __global const int *tap, int z, int y, int x) {
    const int iz = seen(z, p->strides[0], tap[0], p->spread[0], p->input[0]);
    const int iy = seen(y, p->strides[1], tap[1], p->spread[1], p->input[1]);
    const int ix = seen(x, p->strides[2], tap[2], p->spread[2], p->input[2]);
    return (iz | iy | ix) < 0 ? -1 : (iz * p->input[1] + iy) * p->input[2] + ix;
}

#if WIDTH == 1

// The column of B that a work-item gathers, and where in the depth it stands.
struct gathered_column {
    int n;       // pixel
    int z, y, x; // of the pixel
    int channel, tap;
    int known;  // the tap that `offset` is of
    int offset; // in a plane, or -1
};

// Rows k, k + THREADS / TN, ... of a slice of the column, as fetch_columns has them.
inline void gather_column(float *next, struct gathered_column *g, const convolution_params *p, __global const stored *from,
                          __global const int *taps, int pixels) {
#pragma unroll
    for (int i = 0; i < ITEMS(TN); ++i) {
        if (g->tap != g->known) {
            g->offset = g->tap < p->tap_count && g->n < pixels ? seen_offset(p, taps + 4 * g->tap, g->z, g->y, g->x) : -1;
            g->known = g->tap;
        }
        next[i] = g->offset < 0 ? 0.0f : load_one(from + g->channel * p->plane + g->offset);
        for (g->channel += THREADS / TN; g->channel >= p->channels; g->channel -= p->channels)
            ++g->tap;
    }
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void convolution(__global stored *arena,
                                                                              __global const stored *weights,
                                                                              const convolution_params p) {
    __local float a[TK * TM] __attribute__((aligned(16))), b[TK * TN] __attribute__((aligned(16)));
    const int t = get_local_id(0), x = t % ITEMS_X, y = t / ITEMS_X;
    const int pixels = p.output[0] * p.output[1] * p.output[2], depth = p.tap_count * p.channels;
    const int row_tiles = (p.filters + TM - 1) / TM, column_tiles = (pixels + TN - 1) / TN;
    const int group = get_group_id(0);
    const int tile = group % row_tiles, panel = group / row_tiles % column_tiles, z = group / row_tiles / column_tiles;
    const int image = z / p.groups, part = z % p.groups;
    __global const stored *from_a = at(p.weights, arena, weights) + part * p.weight_stride + tile * depth * TM;
    __global const stored *from_b = at(p.source, arena, weights) + image * p.image_stride + part * p.group_stride;
    __global const int *taps = table_at(p.taps, arena, weights);
    struct gathered_column column;
    column.n = panel * TN + t % TN;
    column.x = column.n % p.output[2];
    column.y = column.n / p.output[2] % p.output[1];
    column.z = column.n / p.output[2] / p.output[1];
    column.channel = t / TN % p.channels;
    column.tap = t / TN / p.channels;
    column.known = column.offset = -1;
    float left[ITEMS(TM)], right[ITEMS(TN)];
    CLEAR(acc)
    fetch_panel(left, from_a, t, min(TK, depth));
    gather_column(right, &column, &p, from_b, taps, pixels);
    for (int k = 0; k < depth; k += TK) {
        put_slices(left, right, a, b, t);
        barrier(CLK_LOCAL_MEM_FENCE);
        const int next = k + TK;
        if (next < depth) {
            fetch_panel(left, from_a + next * TM, t, min(TK, depth - next));
            gather_column(right, &column, &p, from_b, taps, pixels);
        }
        multiply_slice(acc, a, b, x, y);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    write_tile(acc, &p.result, arena, weights, image, part, tile * TM, panel * TN, p.filters, pixels, x, y);
}

#else

// The offset in a plane that a tap sees of each pixel, -1 outside; then, of each vector of pixels, whether all are inside.
inline void gather_offsets(const convolution_params *p, __global const int *tap, int first, int pixels,
                           __local const int *places, __local int *offsets) {
    for (int c = 0; c < NV; ++c) {
        if (p->spread[0] * p->spread[1] * p->spread[2] != 1) {
            for (int n = c * WIDTH; n < (c + 1) * WIDTH; ++n)
                offsets[n] =
                    first + n < pixels ? seen_offset(p, tap, places[n], places[TN + n], places[2 * TN + n]) : -1;
            offsets[TN + c] = 0;
            continue;
        }
        const ivec z = JOIN(vload, WIDTH)(c, places) * p->strides[0] + tap[0],
                   y = JOIN(vload, WIDTH)(c, places + TN) * p->strides[1] + tap[1],
                   x = JOIN(vload, WIDTH)(c, places + 2 * TN) * p->strides[2] + tap[2];
        const ivec inside =
            (z >= 0) & (z < p->input[0]) & (y >= 0) & (y < p->input[1]) & (x >= 0) & (x < p->input[2]);
        JOIN(vstore, WIDTH)(select((ivec)(-1), (z * p->input[1] + y) * p->input[2] + x, inside), c, offsets);
        offsets[TN + c] = all(inside) ? 1 : 0;
    }
}

// Rows k ... k + depth - 1 of B for TN pixels from `first` on, into `rows`. `places` has z, y, x of each pixel, -2^18 behind the last;
// `offsets` is room for TN + NV integers.
inline void gather_rows(const convolution_params *p, __global const stored *from, __global const int *taps, int first, int k,
                        int depth, int pixels, __local int *places, __local int *offsets, __local float *rows) {
    int tap = k / p->channels, channel = k % p->channels;
    while (depth > 0) {
        const int run = min(depth, p->channels - channel);
        __global const int *t = taps + 4 * tap;
        __global const stored *plane = from + (long)channel * p->plane;
        if (p->is_flat) {
            ivec inside[NV];
            bool is_whole = true;
#pragma unroll
            for (int c = 0; c < NV; ++c) {
                const ivec z = JOIN(vload, WIDTH)(c, places) + t[0], y = JOIN(vload, WIDTH)(c, places + TN) + t[1],
                           x = JOIN(vload, WIDTH)(c, places + 2 * TN) + t[2];
                inside[c] = (z >= 0) & (z < p->input[0]) & (y >= 0) & (y < p->input[1]) & (x >= 0) & (x < p->input[2]);
                is_whole = is_whole && all(inside[c]);
            }
            plane += first + t[3];
            if (is_whole) {
                for (int i = 0; i < run; ++i, plane += p->plane, rows += TN)
#pragma unroll
                    for (int c = 0; c < NV; ++c)
                        vec_store_all(load_all(plane + c * WIDTH), rows + c * WIDTH);
            } else {
                for (int i = 0; i < run; ++i, plane += p->plane, rows += TN)
#pragma unroll
                    for (int c = 0; c < NV; ++c)
                        vec_store_all(select((vec)(0.0f), load_all(plane + c * WIDTH), inside[c]), rows + c * WIDTH);
            }
        } else {
            gather_offsets(p, t, first, pixels, places, offsets);
            // How each vector of pixels lies: side by side, every second, or anyhow.
            int ways[NV];
#pragma unroll
            for (int c = 0; c < NV; ++c) {
                const int start = c * WIDTH, end = start + WIDTH - 1;
                const bool is_row = places[start] == places[end] && places[TN + start] == places[TN + end];
                ways[c] = p->strides[2] <= 2 && offsets[TN + c] && is_row ? p->strides[2] : 0;
            }
            for (int i = 0; i < run; ++i, plane += p->plane, rows += TN) {
#pragma unroll
                for (int c = 0; c < NV; ++c) {
                    __global const stored *at_first = plane + offsets[c * WIDTH];
                    if (ways[c] == 1) {
                        vec_store_all(load_all(at_first), rows + c * WIDTH);
                    } else if (ways[c] == 2) {
                        const vec a = load_all(at_first), b = load_all(at_first + WIDTH);
                        vec_store_all((vec)(a.even, b.even), rows + c * WIDTH);
                    } else {
                        for (int n = c * WIDTH; n < (c + 1) * WIDTH; ++n)
                            rows[n] = offsets[n] < 0 ? 0.0f : load_one(plane + offsets[n]);
                    }
                }
            }
        }
        depth -= run;
        channel = 0;
        ++tap;
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void convolution(__global stored *arena, __global const stored *weights,
                                                                        const convolution_params p) {
    __local float rows[KB * TN], sums[ITEM_TILES * TM * TN];
    __local int places[3 * TN], offsets[TN + NV];
    const int pixels = p.output[0] * p.output[1] * p.output[2], depth = p.tap_count * p.channels;
    const int row_tiles = (p.filters + TM - 1) / TM, column_tiles = (pixels + TN - 1) / TN;
    const int row_items = (row_tiles + p.row_tiles - 1) / p.row_tiles;
    const int item = get_group_id(0);
    const int first_tile = item % row_items * p.row_tiles, panel = item / row_items % column_tiles;
    const int z = item / row_items / column_tiles, image = z / p.groups, part = z % p.groups;
    const int last_tile = min(first_tile + p.row_tiles, row_tiles), first = panel * TN, count = min(TN, pixels - first);
    __global const stored *a = at(p.weights, arena, weights) + part * p.weight_stride;
    __global const stored *from = at(p.source, arena, weights) + image * p.image_stride + part * p.group_stride;
    for (int n = 0; n < TN; ++n) {
        const int pixel = first + n;
        places[n] = n < count ? pixel / p.output[2] / p.output[1] : -(1 << 18);
        places[TN + n] = pixel / p.output[2] % p.output[1];
        places[2 * TN + n] = pixel % p.output[2];
    }
    for (int k = 0; k < depth; k += KB) {
        const int part_depth = min(KB, depth - k);
        gather_rows(&p, from, table_at(p.taps, arena, weights), first, k, part_depth, pixels, places, offsets, rows);
        for (int tile = first_tile; tile < last_tile; ++tile) {
            __global const stored *panel_a = a + ((long)tile * depth + k) * TM;
            __local float *sum = sums + (tile - first_tile) * TM * TN;
            if (count <= WIDTH)
                narrow_tile_of_local(panel_a, rows, part_depth, k == 0, k + part_depth == depth, sum, &p.result, arena,
                                     weights, image, part, tile * TM, p.filters, first, count);
            else
                tile_of_local(panel_a, rows, part_depth, k == 0, k + part_depth == depth, sum, &p.result, arena, weights,
                              image, part, tile * TM, p.filters, first, count);
        }
    }
}

#endif
