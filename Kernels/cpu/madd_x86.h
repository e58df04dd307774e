// The integer steps of arithmetic.cl with x86's multiply-add of 16-bit pairs: two products and a sum in one instruction.
// Included by units whose target has AVX2.
#pragma once
#define CPU_MADD 1

typedef short bg_short16 __attribute__((vector_size(32)));
typedef int bg_int8 __attribute__((vector_size(32)));

typedef struct {
    int8 low, high; // sums of samples 0-3 and 8-11, and of 4-7 and 12-15: the order that pack undoes
} pair_sum;

inline pair_sum pair_sum_zero(void) { return (pair_sum){(int8)(0), (int8)(0)}; }

inline short16 pair_weight(const short *w) {
    int pair;
    memcpy(&pair, w, sizeof pair);
    const int8 all = (int8)(pair);
    short16 out;
    memcpy(&out, &all, sizeof out);
    return out;
}

inline int8 madd(short16 a, short16 w) {
    return (int8)__builtin_ia32_pmaddwd256((bg_short16)a, (bg_short16)w);
}

inline pair_sum pair_sum_add(pair_sum sum, short16 a, short16 b, const short *w) {
    const short16 weight = pair_weight(w);
    const short16 low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
    const short16 high = __builtin_shufflevector(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
    return (pair_sum){sum.low + madd(low, weight), sum.high + madd(high, weight)};
}

inline short16 pair_sum_round(pair_sum sum, int shift) {
    const int half = 1 << (shift - 1);
    return (short16)__builtin_ia32_packssdw256((bg_int8)((sum.low + half) >> shift), (bg_int8)((sum.high + half) >> shift));
}
