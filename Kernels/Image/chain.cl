// chain: what the kernels of a chain of operations have in common. Between operations a picture is float, plane by plane within a row:
// row y, plane c begins at sample ((y - first row) * planes + c) * stride. Planes are R, G, B and, where there is one, alpha; values
// are codes, 0 ... 1 and beyond, in the space of the output.

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#endif

// Field for field the C struct bg_chain_rows.
typedef struct {
    int width;          // pixels
    int height;         // rows of the whole picture
    int stride;         // floats from one plane's row to the next, a multiple of 16, at least width
    int planes;         // 3, or 4 with alpha
    int src_first_row;  // picture row of src's row 0
    int dst_first_row;  // picture row of dst's row 0
    int first_row;      // first picture row to make
    int rows;           // rows to make
    int scratch_stride; // floats from one work-item's scratch to the next; 0 when they run one after the other
    int clear;          // whether some of what is read may be clear, of alpha 0; the colours that hides have no say in visible pixels
} chain_rows;

// The column of a plane that stands for column x: the picture repeats its edges.
inline int edge(int x, int length) { return clamp(x, 0, length - 1); }

inline __global const float *chain_source(__global const float *src, chain_rows p, int y, int c) {
    return src + ((size_t)(edge(y, p.height) - p.src_first_row) * p.planes + c) * p.stride;
}

inline __global float *chain_target(__global float *dst, chain_rows p, int y, int c) {
    return dst + ((size_t)(y - p.dst_first_row) * p.planes + c) * p.stride;
}

// The luma of a pixel's codes (weights of Rec. ITU-R BT.709).
#define LUMA_R 0.2126f
#define LUMA_G 0.7152f
#define LUMA_B 0.0722f

// load_edge8, load_edge16: columns from x0 on of a row in front of which and behind which the picture repeats its edges.
#define LOAD_EDGE(COUNT)                                                                                                       \
    inline float##COUNT load_edge##COUNT(__global const float *row, int x0, int width) {                                       \
        if (x0 >= 0 && x0 + COUNT <= width)                                                                                    \
            return vload##COUNT(0, row + x0);                                                                                  \
        float v[COUNT];                                                                                                        \
        for (int i = 0; i < COUNT; ++i)                                                                                        \
            v[i] = row[edge(x0 + i, width)];                                                                                   \
        return vload##COUNT(0, v);                                                                                             \
    }
LOAD_EDGE(8)
LOAD_EDGE(16)
