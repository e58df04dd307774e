// elementwise: functions and arithmetic of each element, copies between layouts, rows taken by index, and elements as the host has them.
//
// Reference  The plain operators; within 4 units in the last place for arithmetic, 1e-6 for functions.
// Launch     1-D. A work-item computes RUN neighbouring elements of an innermost row: blocks of a row first, then rows.
//            Local size 1 (CPU form) or 64 (GPU form).
// Barriers   None.

// Field for field the C struct bg_elementwise_params.
typedef struct {
    int source;
    int target;     // row-major
    int extents[4]; // outermost first
    int strides[4]; // of the source
    int links, link_count;
    int blocks; // work-items along a row
} elementwise_params;

__kernel void elementwise(__global stored *arena, __global const stored *weights, const elementwise_params p) {
    const int item = get_global_id(0);
    const int row = item / p.blocks, first = item % p.blocks * RUN;
    const int k = row % p.extents[2], j = row / p.extents[2] % p.extents[1], i = row / p.extents[2] / p.extents[1];
    if (i >= p.extents[0])
        return;
    __global const stored *from =
        at(p.source, arena, weights) + i * p.strides[0] + j * p.strides[1] + k * p.strides[2];
    __global stored *to = arena + p.target + row * p.extents[3];
    const int end = min(first + RUN, p.extents[3]);
    for (int l = first; l < end; l += WIDTH) {
        const int count = end - l;
        const vec x = load_lanes(from + l * p.strides[3], p.strides[3], count);
        store_lanes(apply_links(x, p.links, p.link_count, arena, weights, i, j, k, l, count), to + l, count);
    }
}

// Field for field the C struct bg_move_params.
typedef struct {
    int source, target;
    int extents[6]; // outermost first
    int source_strides[6], target_strides[6];
    int blocks; // work-items along a row
    int rows;
} move_params;

// Copies elements from one layout to another.
__kernel void move(__global stored *arena, __global const stored *weights, const move_params p) {
    const int item = get_global_id(0);
    int row = item / p.blocks;
    const int first = item % p.blocks * RUN;
    if (row >= p.rows)
        return;
    __global const stored *from = at(p.source, arena, weights);
    __global stored *to = arena + p.target;
    for (int axis = 4; axis >= 0; --axis) {
        const int position = row % p.extents[axis];
        row /= p.extents[axis];
        from += position * p.source_strides[axis];
        to += position * p.target_strides[axis];
    }
    const int end = min(first + RUN, p.extents[5]);
    if (p.target_strides[5] == 1 && p.source_strides[5] >= 0 && p.source_strides[5] <= 1) {
        for (int l = first; l < end; l += WIDTH)
            store_lanes(load_lanes(from + l * p.source_strides[5], p.source_strides[5], end - l), to + l, end - l);
        return;
    }
    for (int l = first; l < end; ++l)
        store_one(load_one(from + l * p.source_strides[5]), to + l * p.target_strides[5]);
}

// Field for field the C struct bg_fill_params.
typedef struct {
    int target, count;
    float value;
} fill_params;

__kernel void fill(__global stored *arena, __global const stored *weights, const fill_params p) {
    (void)weights;
    const int first = get_global_id(0) * RUN, end = min(first + RUN, p.count);
    for (int l = first; l < end; l += WIDTH)
        store_lanes((vec)(p.value), arena + p.target + l, end - l);
}

// Field for field the C struct bg_take_params.
typedef struct {
    int source, target;
    int indices; // of `count` integers within 0 ..< extent
    int outer, extent, count, inner;
    int blocks; // work-items along a row of `inner`
} take_params;

// target[outer][i][inner] = source[outer][indices[i]][inner]
__kernel void take(__global stored *arena, __global const stored *weights, const take_params p) {
    const int item = get_global_id(0);
    const int row = item / p.blocks, first = item % p.blocks * RUN;
    const int i = row % p.count, o = row / p.count;
    if (o >= p.outer)
        return;
    const int index = table_at(p.indices, arena, weights)[i];
    __global const stored *from = at(p.source, arena, weights) + (o * p.extent + index) * p.inner;
    __global stored *to = arena + p.target + row * p.inner;
    const int end = min(first + RUN, p.inner);
    for (int l = first; l < end; l += WIDTH)
        store_lanes(load_all(from + l), to + l, end - l);
}

// Field for field the C struct bg_convert_params.
typedef struct {
    int place; // of the first element
    int count;
} convert_params;

// Elements from floats, and floats from elements. `wide` has room for RUN more than are asked for.
__kernel void narrow(__global stored *values, __global const float *wide, const convert_params p) {
    const int first = get_global_id(0) * RUN, end = min(first + RUN, p.count);
    for (int l = first; l < end; l += WIDTH)
        store_lanes(vec_load(wide + l), values + p.place + l, end - l);
}

__kernel void widen(__global const stored *values, __global float *wide, const convert_params p) {
    const int first = get_global_id(0) * RUN, end = min(first + RUN, p.count);
    for (int l = first; l < end; l += WIDTH)
        vec_store_all(load_all(values + p.place + l), wide + l);
}
