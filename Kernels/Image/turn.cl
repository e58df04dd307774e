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

#define TURN_ROWS 16 // rows that a work-item makes, of as many columns at a time; the lanes of a vector

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

// Rows become columns: in each round two rows of half the square are shuffled into each other, and the places' bits go round by one.
inline void turn_square(float16 v[TURN_ROWS]) {
    for (int round = 0; round < 4; ++round) {
        float16 w[TURN_ROWS];
        for (int i = 0; i < TURN_ROWS / 2; ++i) {
            w[2 * i].even = v[i].lo;
            w[2 * i].odd = v[i + TURN_ROWS / 2].lo;
            w[2 * i + 1].even = v[i].hi;
            w[2 * i + 1].odd = v[i + TURN_ROWS / 2].hi;
        }
        for (int i = 0; i < TURN_ROWS; ++i)
            v[i] = w[i];
    }
}

CPU_FORM void turn_rows(__global const float *src, __global float *dst, const turn_params q) {
    const int y0 = (int)get_global_id(0) * TURN_ROWS, y1 = min(y0 + TURN_ROWS, q.rows);
    for (int c = 0; c < q.planes; ++c) {
        __global const float *from = src + q.first + c * q.plane_step;
        for (int x0 = 0; x0 < q.columns; x0 += TURN_ROWS) {
            const int x1 = min(x0 + TURN_ROWS, q.columns);
            if ((q.row_step == 1 || q.row_step == -1) && x1 - x0 == TURN_ROWS && y1 - y0 == TURN_ROWS) {
                // The lowest of the samples that 16 rows have in a column.
                const int lowest = q.row_step > 0 ? y0 : -(y1 - 1);
                float16 v[TURN_ROWS];
                for (int i = 0; i < TURN_ROWS; ++i)
                    v[i] = vload16(0, from + lowest + (x0 + i) * q.column_step);
                turn_square(v);
                for (int i = 0; i < TURN_ROWS; ++i) {
                    const int y = q.row_step > 0 ? y0 + i : y1 - 1 - i;
                    vstore16(v[i], 0, dst + q.target + (y * q.planes + c) * q.stride + x0);
                }
                continue;
            }
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
