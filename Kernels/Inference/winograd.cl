// winograd: convolutions of 3 x 3 with stride 1 in fewer products, F(2 x 2, 3 x 3) of Lavin and Gray, Fast Algorithms for Convolutional
// Neural Networks (2016):
//
//   out = A' [ sum over channels of (G w G') * (B' in B) ] A
//
// for blocks of 2 x 2 pixels. G w G' is made by the host; `winograd_input` computes B' in B, product.cl the sums as 16 products, and
// `winograd_output` A' [...] A, finished as values.cl says.
//
// Reference  Conv of the plain operators; 1e-5 of the largest element.
// Launch     1-D. A work-item computes WIDTH neighbouring blocks of one channel. Local size 1 (CPU form) or 64 (GPU form).
// Barriers   None.

// Field for field the C struct bg_winograd_params.
typedef struct {
    int source;
    int blocks_at;         // the transformed values: panels as B of product.cl, [image][16][blocks rounded up / TN][channels][TN]
    int sums;              // [image][16][channels][blocks]
    int images, channels;
    int height, width;     // of the input
    int rows, columns;     // of the output
    int pad_y, pad_x;
    int panel;             // TN of the product
    product_result result; // positions (image, 0, channel, pixel)
} winograd_params;

#define WINOGRAD_ITEM                                                                                                           \
    const int item = get_global_id(0), across = (p.columns + 1) / 2, count = (p.rows + 1) / 2 * across;                         \
    const int runs = (count + WIDTH - 1) / WIDTH, first = item % runs * WIDTH, channel = item / runs % p.channels;              \
    const int image = item / runs / p.channels;                                                                                 \
    if (image >= p.images)                                                                                                      \
        return;

__kernel void winograd_input(__global stored *arena, __global const stored *weights, const winograd_params p) {
    WINOGRAD_ITEM
    __global const stored *plane = at(p.source, arena, weights) + (image * p.channels + channel) * p.height * p.width;
    vec d[4][4];
#if WIDTH == 1
    const int y0 = first / across * 2 - p.pad_y, x0 = first % across * 2 - p.pad_x;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int y = y0 + i, x = x0 + j;
            d[i][j] = y >= 0 && y < p.height && x >= 0 && x < p.width ? load_one(plane + y * p.width + x) : 0.0f;
        }
#else
    float parts[16][WIDTH];
    for (int l = 0; l < WIDTH; ++l) {
        const int y0 = (first + l) / across * 2 - p.pad_y, x0 = (first + l) % across * 2 - p.pad_x;
        if (y0 >= 0 && y0 + 3 < p.height && x0 >= 0 && x0 + 3 < p.width) {
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    parts[i * 4 + j][l] = load_one(plane + (y0 + i) * p.width + x0 + j);
            continue;
        }
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                const int y = y0 + i, x = x0 + j;
                parts[i * 4 + j][l] = y >= 0 && y < p.height && x >= 0 && x < p.width ? load_one(plane + y * p.width + x) : 0.0f;
            }
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            d[i][j] = vec_load(parts[i * 4 + j]);
#endif
    vec e[4][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        e[0][j] = d[0][j] - d[2][j];
        e[1][j] = d[1][j] + d[2][j];
        e[2][j] = d[2][j] - d[1][j];
        e[3][j] = d[1][j] - d[3][j];
    }
    const int panels = (count + p.panel - 1) / p.panel, step = panels * p.channels * p.panel;
    __global stored *to = arena + p.blocks_at + image * 16 * step + (first / p.panel * p.channels + channel) * p.panel +
                         first % p.panel;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        store_all(e[i][0] - e[i][2], to + (i * 4 + 0) * step);
        store_all(e[i][1] + e[i][2], to + (i * 4 + 1) * step);
        store_all(e[i][2] - e[i][1], to + (i * 4 + 2) * step);
        store_all(e[i][1] - e[i][3], to + (i * 4 + 3) * step);
    }
}

__kernel void winograd_output(__global stored *arena, __global const stored *weights, const winograd_params p) {
    WINOGRAD_ITEM
    const int step = p.channels * count;
    __global const stored *from = arena + p.sums + image * 16 * step + channel * count + first;
    vec e[2][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const vec m0 = load_all(from + j * step), m1 = load_all(from + (4 + j) * step), m2 = load_all(from + (8 + j) * step),
                  m3 = load_all(from + (12 + j) * step);
        e[0][j] = m0 + m1 + m2;
        e[1][j] = m1 - m2 - m3;
    }
    for (int i = 0; i < 2; ++i) {
        const vec left = e[i][0] + e[i][1] + e[i][2], right = e[i][1] - e[i][2] - e[i][3];
#if WIDTH == 1
        const int y = first / across * 2 + i, x = first % across * 2;
        if (y >= p.rows)
            continue;
        write_result(left, &p.result, arena, weights, image, 0, channel, y * p.columns + x, 1);
        if (x + 1 < p.columns)
            write_result(right, &p.result, arena, weights, image, 0, channel, y * p.columns + x + 1, 1);
        for (int j = 0; j < 2 && x + j < p.columns && p.result.link_count > 0; ++j)
            link_result(&p.result, arena, weights, image, 0, channel, y * p.columns + x + j, 1);
#else
        float parts[2 * WIDTH];
        JOIN(vstore, WIDTH)(left, 0, parts);
        JOIN(vstore, WIDTH)(right, 1, parts);
        // Blocks side by side are one run of pixels.
        float row[2 * WIDTH];
        for (int l = 0; l < WIDTH; ++l) {
            row[2 * l] = parts[l];
            row[2 * l + 1] = parts[WIDTH + l];
        }
        for (int l = 0; l < WIDTH && first + l < count;) {
            const int y = (first + l) / across * 2 + i, x = (first + l) % across * 2;
            const int blocks = min(min(WIDTH - l, across - x / 2), count - first - l);
            const int pixels = min(2 * blocks, p.columns - x);
            for (int n = 0; n < pixels && y < p.rows; n += WIDTH) {
                // The lanes behind the last pixel may hold anything.
                float lanes[WIDTH];
                for (int m = 0; m < WIDTH; ++m)
                    lanes[m] = row[min(2 * l + n + m, 2 * WIDTH - 1)];
                write_result(vec_load(lanes), &p.result, arena, weights, image, 0, channel, y * p.columns + x + n, pixels - n);
                if (p.result.link_count > 0)
                    link_result(&p.result, arena, weights, image, 0, channel, y * p.columns + x + n, pixels - n);
            }
            l += blocks;
        }
#endif
    }
}
