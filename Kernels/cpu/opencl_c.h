// The part of OpenCL C that the kernels use, for a plain C compiler: one translation unit an instruction set includes this and
// then the kernel sources. A work-item's index is a thread-local variable that the launcher sets.
#pragma once

// Every function that passes wide vectors is inlined, so their calling convention does not matter.
#pragma clang diagnostic ignored "-Wpsabi"
#pragma STDC FP_CONTRACT OFF

#define __kernel static
#define __global
#define inline static __inline __attribute__((always_inline, unused))

typedef unsigned char uchar;
typedef unsigned short bg_ushort;
#define ushort bg_ushort
typedef unsigned int bg_uint;
#define uint bg_uint

#define VECTORS(T)                                                                                                     \
    typedef T T##2 __attribute__((ext_vector_type(2)));                                                               \
    typedef T T##4 __attribute__((ext_vector_type(4)));                                                               \
    typedef T T##8 __attribute__((ext_vector_type(8)));                                                               \
    typedef T T##16 __attribute__((ext_vector_type(16)));
VECTORS(uchar)
VECTORS(short)
VECTORS(int)
VECTORS(float)

#define LOADS_AND_STORES(T, N)                                                                                         \
    inline T##N __attribute__((overloadable)) vload##N(size_t i, const T *from) {                               \
        T##N v;                                                                                                        \
        memcpy(&v, from + N * i, N * sizeof(T));                                                                       \
        return v;                                                                                                      \
    }                                                                                                                  \
    inline void __attribute__((overloadable)) vstore##N(T##N v, size_t i, T *to) {                              \
        memcpy(to + N * i, &v, N * sizeof(T));                                                                         \
    }
LOADS_AND_STORES(uchar, 4)
LOADS_AND_STORES(uchar, 8)
LOADS_AND_STORES(uchar, 16)
LOADS_AND_STORES(short, 4)
LOADS_AND_STORES(short, 8)
LOADS_AND_STORES(short, 16)
LOADS_AND_STORES(int, 16)
LOADS_AND_STORES(float, 4)
LOADS_AND_STORES(float, 8)
LOADS_AND_STORES(float, 16)

#define convert_uchar(v) ((uchar)(v))
#define convert_ushort(v) ((ushort)(v))
#define convert_uchar4(v) __builtin_convertvector(v, uchar4)
#define convert_uchar8(v) __builtin_convertvector(v, uchar8)
#define convert_uchar16(v) __builtin_convertvector(v, uchar16)
#define convert_short8(v) __builtin_convertvector(v, short8)
#define convert_short16(v) __builtin_convertvector(v, short16)
#define convert_int8(v) __builtin_convertvector(v, int8)
#define convert_int16(v) __builtin_convertvector(v, int16)
#define convert_float16(v) __builtin_convertvector(v, float16)
#define sqrt(v) __builtin_sqrtf(v)
#define fma(a, b, c) __builtin_elementwise_fma(a, b, c)
#define select(no, yes, condition) ((condition) ? (yes) : (no))
#define any(v) (__builtin_reduce_or(v) < 0)
#define max(a, b) __builtin_elementwise_max(a, b)
#define min(a, b) __builtin_elementwise_min(a, b)
#define clamp(v, low, high) __builtin_elementwise_min(__builtin_elementwise_max(v, low), high)

static _Thread_local size_t bg_global_id;
#define get_global_id(dimension) bg_global_id
