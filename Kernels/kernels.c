#include "include/Kernels.h"

static const char image_kernels[] = {
#embed "Image/arithmetic.cl" suffix(, )
#embed "Image/resize.cl" suffix(, )
#embed "Image/sharpen.cl" suffix(, )
#embed "Image/resize_float.cl" suffix(, )
#embed "Image/chain.cl" suffix(, )
#embed "Image/points.cl" suffix(, )
#embed "Image/denoise.cl" suffix(, )
#embed "Image/local_contrast.cl" suffix(, )
#embed "Image/deconvolve.cl" suffix(, )
#embed "Image/grain.cl" suffix(, )
#embed "Image/rotate.cl" suffix(, )
#embed "Image/turn.cl" suffix(, )
    0,
};

const char *bg_image_kernels_source(size_t *length) {
    *length = sizeof image_kernels - 1;
    return image_kernels;
}

static const char inference_kernels[] = {
#embed "Inference/values.cl" suffix(, )
#embed "Inference/elementwise.cl" suffix(, )
#embed "Inference/product.cl" suffix(, )
#embed "Inference/convolution.cl" suffix(, )
#embed "Inference/window.cl" suffix(, )
#embed "Inference/rows.cl" suffix(, )
#embed "Inference/resample.cl" suffix(, )
#embed "Inference/attention.cl" suffix(, )
#embed "Inference/winograd.cl" suffix(, )
    0,
};

const char *bg_inference_kernels_source(size_t *length) {
    *length = sizeof inference_kernels - 1;
    return inference_kernels;
}

extern const bg_cpu_kernels bg_kernels_baseline;
#if defined(__x86_64__)
extern const bg_cpu_kernels bg_kernels_avx2, bg_kernels_avx512;

bg_isa bg_best_isa(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        return BG_ISA_AVX512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? BG_ISA_AVX2 : BG_ISA_BASELINE;
}

const bg_cpu_kernels *bg_kernels_for(bg_isa isa) {
    if (isa > bg_best_isa())
        return NULL;
    return isa == BG_ISA_AVX512 ? &bg_kernels_avx512 : isa == BG_ISA_AVX2 ? &bg_kernels_avx2 : &bg_kernels_baseline;
}
#else
bg_isa bg_best_isa(void) { return BG_ISA_BASELINE; }

const bg_cpu_kernels *bg_kernels_for(bg_isa isa) { return isa == BG_ISA_BASELINE ? &bg_kernels_baseline : NULL; }
#endif
