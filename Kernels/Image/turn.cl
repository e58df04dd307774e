// turn: rows of a chain, or back, mirrored or with rows and columns exchanged, so that what works on a grid finds the upright picture.
//
//   dst(y, c, x) = src[first + y * row_step + c * plane_step + x * column_step]
//
// Reference  None: samples move, and none changes.
// Launch     turn_rows: 1-D, one work-item TURN_ROWS rows, local size 1 (CPU form); turn_pixel: 2-D, one work-item a pixel of dst,
//            (columns rounded up, rows), local (WGS, 1) (GPU form).
// Barriers   None.
//
// Buffers    src, dst  rows of planes as in chain.cl

#define TURN_ROWS 16 // rows that a work-item makes, of as many columns at a time

// Field for field the C struct bg_turn_params.
typedef struct {
    int columns;     // of dst
    int rows;        // of dst
    int planes;
    int first;       // sample of src that comes first
    int row_step;    // samples of src from one row of dst to the next
    int column_step; // samples of src from one column of dst to the next
    int plane_step;  // samples of src from one plane to the next
    int target;      // sample of dst that comes first
    int stride;      // samples of dst from one plane's row to the next
} turn_params;

CPU_FORM void turn_rows(__global const float *src, __global float *dst, const turn_params q) {
    const int y0 = (int)get_global_id(0) * TURN_ROWS, y1 = min(y0 + TURN_ROWS, q.rows);
    for (int c = 0; c < q.planes; ++c) {
        __global const float *from = src + q.first + c * q.plane_step;
        for (int x0 = 0; x0 < q.columns; x0 += TURN_ROWS) {
            const int x1 = min(x0 + TURN_ROWS, q.columns);
            for (int y = y0; y < y1; ++y) {
                __global float *to = dst + q.target + (y * q.planes + c) * q.stride;
                for (int x = x0; x < x1; ++x)
                    to[x] = from[y * q.row_step + x * q.column_step];
            }
        }
    }
}

#ifdef PIXELS_FORM

GPU_FORM void turn_pixel(__global const float *src, __global float *dst, const turn_params q) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= q.columns)
        return;
    for (int c = 0; c < q.planes; ++c)
        dst[q.target + (y * q.planes + c) * q.stride + x] =
            src[q.first + y * q.row_step + c * q.plane_step + x * q.column_step];
}

#endif
