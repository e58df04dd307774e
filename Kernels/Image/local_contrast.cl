// local_contrast: more of what luma has beyond a base that keeps edges.
//
//   out = in + amount * (y - base),   base = A y + B
//
// The base is a guided filter of luma by itself at a reduced size (He, Sun and Tang, "Guided Image Filtering", TPAMI 2013; He and Sun,
// "Fast Guided Filter", 2015): in cells of `cell` x `cell` pixels, with box means over 2 * radius + 1 cells in both directions,
//
//   a = variance / (variance + epsilon),  b = (1 - a) mean,  A and B their box means, linear between the centres of cells.
//
// The grid of cells begins at the corner that is the upright picture's first, so that another one of the cells at the edges may be
// smaller. The picture, and the grid of cells, repeat their edges. Clear pixels (alpha 0) take no part: a cell's luma is the mean of its
// visible pixels, and in box means a cell weighs as much as the share of its pixels that is visible.
//
// Reference  ChainReference in the tests, float64; within 2 of 65535.
// Chunking   A chunk is a band of rows: it reads (2 * radius + 2) * cell rows more on each side.
// Launch     1-D, one work-item a row of cells (contrast_cells, contrast_slopes, contrast_means) or of pixels (contrast_apply),
//            local size 1, one after the other (CPU form). *_pixel: 2-D, one work-item a cell or a pixel, (width rounded up, rows),
//            local (WGS, 1), with the same sums (GPU form); contrast_lines_pixel makes the lines of contrast_cells_pixel.
// Barriers   None.
//
// Buffers
//   src, dst   rows as in chain.cl; on the CPU codes may take the place of either (chain_codes)
//   cells      [cell rows][2][cell_stride] float, luma and weight, 0 ... 1; row 0 is row first_cell
//   slopes     [slope rows][3][cell_stride] float, a and b times the cell's weight, and 1 / the sum of weights in the box around it
//              (0 where that is 0); row 0 is row first_slope
//   means      [mean rows][2][cell_stride] float, A and B; row 0 is row first_mean
//   line       work-items * 3 * line_stride floats: rows of sums; those of contrast_lines_pixel are 2 * line_stride floats

// Field for field the C struct bg_contrast_params.
typedef struct {
    int cell;        // pixels, a power of two, at least 2
    int across;      // cells in a row of the picture
    int down;        // cells in a column of the picture
    int left;        // columns of the first cell that lie in front of the picture
    int top;         // rows of the first cell that lie above the picture
    int cell_stride; // floats from one row to the next, a multiple of 16, at least across
    int line_stride; // floats, at least width + 2 * cell + 32 and across + 2 * radius + 32
    int radius;      // cells
    int first_cell;
    int first_slope;
    int first_mean;
    int line_step;   // floats from one work-item's line to the next; 0 when they run one after the other
    float epsilon;
    float amount;
} contrast_params;

inline float16 contrast_luma(pixels v) { return v.r * LUMA_R + v.g * LUMA_G + v.b * LUMA_B; }

inline void contrast_sums_of(__global const float *src, chain_codes codes, __global float *cells, __global float *line,
                             contrast_params q, chain_rows p, const int clear) {
    const int row = get_global_id(0);
    __global float *sums = line + (size_t)row * q.line_step, *counts = sums + q.line_stride;
    __global float *to = cells + (size_t)row * 2 * q.cell_stride;
    const int y0 = (q.first_cell + row) * q.cell - q.top;
    __global float *own = sums + q.left, *visibles = counts + q.left;
    for (int k = 0; k < q.cell; ++k) {
        for (int x = 0; x < p.width; x += 16) {
            float16 y = contrast_luma(chain_load(src, codes, p, y0 + k, x));
            if (clear) {
                const int16 visible = vload16(0, chain_source(src, p, y0 + k, 3) + x) > 0.0f;
                const float16 count = select((float16)(0.0f), (float16)(1.0f), visible);
                y = select((float16)(0.0f), y, visible);
                vstore16(k == 0 ? count : vload16(0, visibles + x) + count, 0, visibles + x);
            }
            vstore16(k == 0 ? y : vload16(0, own + x) + y, 0, own + x);
        }
    }
    for (int x = 0; x < q.across * q.cell; ++x) {
        if (x >= q.left && x < q.left + p.width)
            continue;
        const int from = edge(x - q.left, p.width);
        sums[x] = own[from];
        if (clear)
            counts[x] = visibles[from];
    }
    const float share = 1.0f / (float)(q.cell * q.cell);
    for (int i = 0; i < q.across; ++i) {
        float sum = 0.0f, count = 0.0f;
        for (int k = 0; k < q.cell; ++k) {
            sum += sums[i * q.cell + k];
            if (clear)
                count += counts[i * q.cell + k];
        }
        to[i] = clear ? sum / max(count, 1.0f) : sum * share;
        to[q.cell_stride + i] = clear ? count * share : 1.0f;
    }
}

inline void contrast_sums(__global const float *src, chain_codes codes, __global float *cells, __global float *line,
                          contrast_params q, chain_rows p) {
    if (p.clear)
        contrast_sums_of(src, codes, cells, line, q, p, 1);
    else
        contrast_sums_of(src, codes, cells, line, q, p, 0);
}

CPU_FORM void contrast_cells(__global const float *src, __global float *cells, __global float *line,
                             const contrast_params q, const chain_rows p) {
    contrast_sums(src, chain_no_codes(), cells, line, q, p);
}

// The box sums of a line of `count` values whose first stands at `radius`, 16 at a time.
inline void contrast_repeat(__global float *line, int count, int radius) {
    for (int i = 0; i < radius; ++i) {
        line[i] = line[radius];
        line[radius + count + i] = line[radius + count - 1];
    }
}

inline float16 contrast_sum(__global const float *line, int radius) {
    float16 sum = vload16(0, line);
    for (int k = 1; k <= 2 * radius; ++k)
        sum += vload16(0, line + k);
    return sum;
}

inline void contrast_slopes_of(__global const float *cells, __global float *slopes, __global float *line,
                               contrast_params q, const int clear) {
    const int row = get_global_id(0);
    __global float *sums = line + (size_t)row * q.line_step;
    __global float *squares = sums + q.line_stride, *weights = squares + q.line_stride;
    for (int x = 0; x < q.across; x += 16) {
        float16 sum = (float16)(0.0f), square = (float16)(0.0f), weight = (float16)(0.0f);
        for (int k = -q.radius; k <= q.radius; ++k) {
            const int at = edge(q.first_slope + row + k, q.down) - q.first_cell;
            __global const float *from = cells + (size_t)at * 2 * q.cell_stride + x;
            const float16 v = vload16(0, from);
            if (clear) {
                const float16 w = vload16(0, from + q.cell_stride);
                sum += v * w;
                square += v * v * w;
                weight += w;
            } else {
                sum += v;
                square += v * v;
            }
        }
        vstore16(sum, 0, sums + q.radius + x);
        vstore16(square, 0, squares + q.radius + x);
        if (clear)
            vstore16(weight, 0, weights + q.radius + x);
    }
    contrast_repeat(sums, q.across, q.radius);
    contrast_repeat(squares, q.across, q.radius);
    if (clear)
        contrast_repeat(weights, q.across, q.radius);
    __global const float *own = cells + (size_t)(q.first_slope + row - q.first_cell) * 2 * q.cell_stride;
    __global float *to = slopes + (size_t)row * 3 * q.cell_stride;
    float16 share = (float16)(1.0f / (float)((2 * q.radius + 1) * (2 * q.radius + 1)));
    for (int x = 0; x < q.across; x += 16) {
        if (clear) {
            const float16 weight = contrast_sum(weights + x, q.radius);
            share = select((float16)(0.0f), 1.0f / weight, weight > 0.0f);
        }
        const float16 mean = contrast_sum(sums + x, q.radius) * share;
        const float16 variance = max(contrast_sum(squares + x, q.radius) * share - mean * mean, (float16)(0.0f));
        float16 a = variance / (variance + q.epsilon);
        float16 b = mean - a * mean;
        if (clear) {
            const float16 w = vload16(0, own + q.cell_stride + x);
            a *= w;
            b *= w;
        }
        vstore16(a, 0, to + x);
        vstore16(b, 0, to + q.cell_stride + x);
        vstore16(share, 0, to + 2 * q.cell_stride + x);
    }
}

CPU_FORM void contrast_slopes(__global const float *cells, __global float *slopes, __global float *line,
                              const contrast_params q, const chain_rows p) {
    if (p.clear)
        contrast_slopes_of(cells, slopes, line, q, 1);
    else
        contrast_slopes_of(cells, slopes, line, q, 0);
}

CPU_FORM void contrast_means(__global const float *slopes, __global float *means, __global float *line,
                             const contrast_params q) {
    const int row = get_global_id(0);
    __global float *sums = line + (size_t)row * q.line_step;
    __global const float *shares = slopes + ((size_t)(q.first_mean + row - q.first_slope) * 3 + 2) * q.cell_stride;
    for (int c = 0; c < 2; ++c) {
        for (int x = 0; x < q.across; x += 16) {
            float16 sum = (float16)(0.0f);
            for (int k = -q.radius; k <= q.radius; ++k) {
                const int from = edge(q.first_mean + row + k, q.down) - q.first_slope;
                sum += vload16(0, slopes + ((size_t)from * 3 + c) * q.cell_stride + x);
            }
            vstore16(sum, 0, sums + q.radius + x);
        }
        contrast_repeat(sums, q.across, q.radius);
        __global float *to = means + ((size_t)row * 2 + c) * q.cell_stride;
        for (int x = 0; x < q.across; x += 16)
            vstore16(contrast_sum(sums + x, q.radius) * vload16(0, shares + x), 0, to + x);
    }
}

// One value for each pixel of row y from those of cells; that of column x goes to to[x + left + cell / 2].
inline void contrast_spread(__global const float *means, __global float *to, int y, int c, contrast_params q) {
    y += q.top;
    const float share = 1.0f / (float)q.cell;
    const int above = 2 * y + 1 < q.cell ? -1 : (2 * y + 1 - q.cell) / (2 * q.cell);
    const float t = ((float)y + 0.5f) * share - 0.5f - (float)above;
    __global const float *a = means + ((size_t)(edge(above, q.down) - q.first_mean) * 2 + c) * q.cell_stride;
    __global const float *b = means + ((size_t)(edge(above + 1, q.down) - q.first_mean) * 2 + c) * q.cell_stride;
    float8 ramp;
    ramp.lo = pack_float4(0.5f, 1.5f, 2.5f, 3.5f);
    ramp.hi = ramp.lo + 4.0f;
    float left = a[0] + (b[0] - a[0]) * t;
    for (int i = 0; i <= q.across; ++i, to += q.cell) {
        const int next = edge(i, q.across);
        const float right = a[next] + (b[next] - a[next]) * t;
        const float slope = (right - left) * share;
        if (q.cell >= 8) {
            for (int k = 0; k < q.cell; k += 8)
                vstore8(left + slope * (ramp + (float)k), 0, to + k);
        } else {
            for (int k = 0; k < q.cell; ++k)
                to[k] = left + slope * ((float)k + 0.5f);
        }
        left = right;
    }
}

inline void contrast_make(__global const float *src, __global float *dst, chain_codes codes, __global const float *means,
                          __global float *line, contrast_params q, chain_rows p) {
    const int row = get_global_id(0);
    const int y = p.first_row + row;
    __global float *slope = line + (size_t)row * q.line_step, *offset = slope + q.line_stride;
    contrast_spread(means, slope, y, 0, q);
    contrast_spread(means, offset, y, 1, q);
    slope += q.left + q.cell / 2;
    offset += q.left + q.cell / 2;
    for (int x = 0; x < p.width; x += 16) {
        pixels v = chain_load(src, codes, p, y, x);
        const float16 luma = contrast_luma(v);
        const float16 d = (luma - vload16(0, slope + x) * luma - vload16(0, offset + x)) * q.amount;
        v.r += d;
        v.g += d;
        v.b += d;
        chain_store(v, dst, codes, p, y, x);
        if (p.planes == 4)
            vstore16(vload16(0, chain_source(src, p, y, 3) + x), 0, chain_target(dst, p, y, 3) + x);
    }
}

CPU_FORM void contrast_apply(__global const float *src, __global float *dst, __global const float *means,
                             __global float *line, const contrast_params q, const chain_rows p) {
    contrast_make(src, dst, chain_no_codes(), means, line, q, p);
}

#ifdef PIXELS_FORM

GPU_FORM void contrast_lines_pixel(__global const float *src, __global float *line, const contrast_params q,
                                   const chain_rows p) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= p.width)
        return;
    float sum = 0.0f, count = 0.0f;
    for (int k = 0; k < q.cell; ++k) {
        const float4 v = read_pixel(chain_source(src, p, (q.first_cell + row) * q.cell - q.top + k, 0), p, x);
        const bool visible = !p.clear || v.w > 0.0f;
        const float y = visible ? pixel_luma(v) : 0.0f;
        sum = k == 0 ? y : sum + y;
        count += visible ? 1.0f : 0.0f;
    }
    line[(size_t)row * q.line_step + x] = sum;
    if (p.clear)
        line[(size_t)row * q.line_step + q.line_stride + x] = count;
}

GPU_FORM void contrast_cells_pixel(__global const float *line, __global float *cells, const contrast_params q,
                                   const chain_rows p) {
    const int i = get_global_id(0), row = get_global_id(1);
    if (i >= q.across)
        return;
    __global const float *sums = line + (size_t)row * q.line_step;
    float sum = 0.0f, count = 0.0f;
    for (int k = 0; k < q.cell; ++k) {
        const int x = edge(i * q.cell - q.left + k, p.width);
        sum += sums[x];
        if (p.clear)
            count += sums[q.line_stride + x];
    }
    const float share = 1.0f / (float)(q.cell * q.cell);
    __global float *to = cells + (size_t)row * 2 * q.cell_stride + i;
    to[0] = p.clear ? sum / max(count, 1.0f) : sum * share;
    to[q.cell_stride] = p.clear ? count * share : 1.0f;
}

GPU_FORM void contrast_slopes_pixel(__global const float *cells, __global float *slopes, const contrast_params q,
                                    const chain_rows p) {
    const int i = get_global_id(0), row = get_global_id(1);
    if (i >= q.across)
        return;
    float mean = 0.0f, squares = 0.0f, weights = 0.0f;
    for (int j = -q.radius; j <= q.radius; ++j) {
        float sum = 0.0f, square = 0.0f, weight = 0.0f;
        for (int k = -q.radius; k <= q.radius; ++k) {
            __global const float *from = cells + edge(i + j, q.across) +
                                         (size_t)(edge(q.first_slope + row + k, q.down) - q.first_cell) * 2 * q.cell_stride;
            const float v = from[0], w = p.clear ? from[q.cell_stride] : 1.0f;
            sum += v * w;
            square += v * v * w;
            weight += w;
        }
        mean += sum;
        squares += square;
        weights += weight;
    }
    const float share = weights > 0.0f ? 1.0f / weights : 0.0f;
    mean *= share;
    const float variance = max(squares * share - mean * mean, 0.0f);
    const float a = variance / (variance + q.epsilon);
    const float own = cells[(size_t)(q.first_slope + row - q.first_cell) * 2 * q.cell_stride + q.cell_stride + i];
    __global float *to = slopes + (size_t)row * 3 * q.cell_stride + i;
    to[0] = a * own;
    to[q.cell_stride] = (mean - a * mean) * own;
    to[2 * q.cell_stride] = share;
}

GPU_FORM void contrast_means_pixel(__global const float *slopes, __global float *means, const contrast_params q) {
    const int i = get_global_id(0), row = get_global_id(1);
    if (i >= q.across)
        return;
    const float share = slopes[((size_t)(q.first_mean + row - q.first_slope) * 3 + 2) * q.cell_stride + i];
    for (int c = 0; c < 2; ++c) {
        float mean = 0.0f;
        for (int j = -q.radius; j <= q.radius; ++j) {
            float sum = 0.0f;
            for (int k = -q.radius; k <= q.radius; ++k) {
                const int from = edge(q.first_mean + row + k, q.down) - q.first_slope;
                sum += slopes[((size_t)from * 3 + c) * q.cell_stride + edge(i + j, q.across)];
            }
            mean += sum;
        }
        means[((size_t)row * 2 + c) * q.cell_stride + i] = mean * share;
    }
}

// The value at column x, from cells of the rows above and below it, `t` between them.
inline float contrast_between(__global const float *a, __global const float *b, float t, int x, contrast_params q) {
    const int place = x + q.left + q.cell / 2, i = place / q.cell, k = place % q.cell;
    const int before = edge(i - 1, q.across), next = edge(i, q.across);
    const float left = a[before] + (b[before] - a[before]) * t, right = a[next] + (b[next] - a[next]) * t;
    return left + (right - left) * (1.0f / (float)q.cell) * ((float)k + 0.5f);
}

GPU_FORM void contrast_apply_pixel(__global const float *src, __global float *dst, __global const float *means,
                                   const contrast_params q, const chain_rows p) {
    const int x = get_global_id(0), y = p.first_row + (int)get_global_id(1);
    if (x >= p.width)
        return;
    const int place = y + q.top, above = 2 * place + 1 < q.cell ? -1 : (2 * place + 1 - q.cell) / (2 * q.cell);
    const float t = ((float)place + 0.5f) * (1.0f / (float)q.cell) - 0.5f - (float)above;
    __global const float *a = means + (size_t)(edge(above, q.down) - q.first_mean) * 2 * q.cell_stride;
    __global const float *b = means + (size_t)(edge(above + 1, q.down) - q.first_mean) * 2 * q.cell_stride;
    const float slope = contrast_between(a, b, t, x, q);
    const float offset = contrast_between(a + q.cell_stride, b + q.cell_stride, t, x, q);
    float4 v = read_pixel(chain_source(src, p, y, 0), p, x);
    const float luma = pixel_luma(v);
    v.xyz += (luma - slope * luma - offset) * q.amount;
    write_pixel(v, chain_target(dst, p, y, 0), p, x);
}

#endif
