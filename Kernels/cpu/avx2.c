#if defined(__x86_64__)
#define BG_TABLE bg_kernels_avx2
#define BG_TARGET "avx2,fma"
#define BG_HAS_AVX2 1
#include "kernels_cpu.h"
#endif
