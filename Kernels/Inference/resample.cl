// resample: weighted sums along one axis, e.g. resizing by nearest, linear or cubic interpolation, one launch an axis.
//
//   out[outer][i][inner] = sum over k in starts[i] ..< starts[i + 1] of weight[k] in[outer][index[k]][inner]
//
// Reference  Resize of the plain operators; 1e-5 of the largest element.
// Launch     1-D. A work-item computes WIDTH neighbours along `inner`, or along i where that is 1. Local size 1 or 64.
// Barriers   None.

// Field for field the C struct bg_resample_params.
typedef struct {
    int source, target;
    int starts, indices, factors; // tables; factors are stored like values
    int outer, length, count, inner;
} resample_params;

__kernel void resample(__global stored *arena, __global const stored *weights, const resample_params p) {
    const int item = get_global_id(0);
    __global const int *starts = table_at(p.starts, arena, weights), *indices = table_at(p.indices, arena, weights);
    __global const stored *factors = at(p.factors, arena, weights), *source = at(p.source, arena, weights);
    const int blocks = (p.inner + WIDTH - 1) / WIDTH;
    const int first = item % blocks * WIDTH, i = item / blocks % p.count, outer = item / blocks / p.count;
    if (outer >= p.outer)
        return;
    __global const stored *from = source + outer * p.length * p.inner + first;
    __global stored *to = arena + p.target + (outer * p.count + i) * p.inner + first;
    if (p.inner == 1) {
        float sum = 0.0f;
        for (int k = starts[i]; k < starts[i + 1]; ++k)
            sum = mad(load_one(factors + k), load_one(from + indices[k]), sum);
        store_lanes((vec)(sum), to, 1);
        return;
    }
    vec sum = (vec)(0.0f);
    for (int k = starts[i]; k < starts[i + 1]; ++k)
        sum = mad((vec)(load_one(factors + k)), load_all(from + indices[k] * p.inner), sum);
    store_lanes(sum, to, p.inner - first);
}
