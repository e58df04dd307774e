// arithmetic: the inner steps shared by the kernels, in portable OpenCL C. A CPU build may supply its own integer ones (CPU_MADD) with
// the same results in every bit: products and sums of 16-bit integers are exact in 32 bits.
//
// A device's program has one form of each kernel: that of GPUs with PIXELS_FORM, in which a work-item makes a pixel or a column, else
// that of CPUs, in which it makes a strip of rows. Compiling takes a driver seconds.
//
// Vectors are put together by assigning their parts: OpenCL's vector literals mean something else to a C compiler.

#ifdef PIXELS_FORM
#define CPU_FORM inline
#define GPU_FORM __kernel __attribute__((reqd_work_group_size(WGS, 1, 1)))
#else
#define CPU_FORM __kernel
#endif

inline uchar4 pack_uchar4(uchar x, uchar y, uchar z, uchar w) {
    uchar4 v;
    v.x = x;
    v.y = y;
    v.z = z;
    v.w = w;
    return v;
}

inline float4 pack_float4(float x, float y, float z, float w) {
    float4 v;
    v.x = x;
    v.y = y;
    v.z = z;
    v.w = w;
    return v;
}

#ifndef CPU_MADD

// 16 samples of a weighted sum over pairs of rows.
typedef int16 pair_sum;

inline pair_sum pair_sum_zero(void) { return (int16)(0); }

// sum + a * w[0] + b * w[1]
inline pair_sum pair_sum_add(pair_sum sum, short16 a, short16 b, __global const short *w) {
    return sum + convert_int16(a) * (int)w[0] + convert_int16(b) * (int)w[1];
}

// Rounds half up and drops `shift` bits; the caller's weights keep the result within 16 bits.
inline short16 pair_sum_round(pair_sum sum, int shift) { return convert_short16((sum + (1 << (shift - 1))) >> shift); }

// Two weights repeated for madd.
inline short16 pair_weight(__global const short *w) {
    short16 weight;
    weight.even = (short8)(w[0]);
    weight.odd = (short8)(w[1]);
    return weight;
}

// Sums of neighbouring products: a0 w0 + a1 w1, a2 w2 + a3 w3, ...
inline int8 madd(short16 a, short16 w) {
    return convert_int8(a.even) * convert_int8(w.even) + convert_int8(a.odd) * convert_int8(w.odd);
}

#endif

inline short16 load_codes(__global const uchar *from) { return convert_short16(vload16(0, from)); }
inline short16 load_light(__global const short *from) { return vload16(0, from); }

// Luma of `width` pixels with 6 fractional bits (LUMA in sharpen.cl), 8 at a time: reads up to 7 pixels and writes up to 7 samples more.
inline void luma_row(__global const uchar *from, __global short *to, int width) {
    short16 weights;
    weights.s048c = (short4)(77);
    weights.s159d = (short4)(150);
    weights.s26ae = (short4)(29);
    weights.s37bf = (short4)(0);
    for (int x = 0; x < width; x += 8, from += 32, to += 8) {
        const int8 a = madd(load_codes(from), weights), b = madd(load_codes(from + 16), weights);
        int8 y;
        y.lo = a.even + a.odd;
        y.hi = b.even + b.odd;
        vstore8(convert_short8(y >> 2), 0, to);
    }
}

inline short16 scale_detail(short16 detail, int amount) {
    return convert_short16((convert_int16(detail) * amount + (1 << 13)) >> 14);
}

// out = clamp(in + d) for R, G, B of `count` pixels (1 ... 16), X = 255.
inline void add_detail(__global const uchar *from, __global uchar *to, short16 d, int count) {
    uchar16 opaque = (uchar16)(0);
    opaque.s37bf = (uchar4)(255);
    const short16 lowest = (short16)(0), highest = (short16)(255);
    if (count == 16) {
        vstore16(convert_uchar16(clamp(load_codes(from) + d.s0000111122223333, lowest, highest)) | opaque, 0, to);
        vstore16(convert_uchar16(clamp(load_codes(from + 16) + d.s4444555566667777, lowest, highest)) | opaque, 1, to);
        vstore16(convert_uchar16(clamp(load_codes(from + 32) + d.s88889999aaaabbbb, lowest, highest)) | opaque, 2, to);
        vstore16(convert_uchar16(clamp(load_codes(from + 48) + d.sccccddddeeeeffff, lowest, highest)) | opaque, 3, to);
        return;
    }
    short details[16];
    vstore16(d, 0, details);
    for (int i = 0; i < count; ++i, from += 4, to += 4) {
        for (int c = 0; c < 3; ++c)
            to[c] = convert_uchar(clamp(from[c] + details[i], 0, 255));
        to[3] = 255;
    }
}
