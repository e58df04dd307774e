#if defined(__x86_64__)
#define BG_TABLE bg_kernels_avx512
#define BG_TARGET "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq"
#define BG_HAS_AVX2 1
#define BLOCK 16
#include "kernels_cpu.h"
#endif
