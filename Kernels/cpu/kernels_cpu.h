// The body of one instruction set's unit: the kernels compiled for it, and a launcher for each that runs work-items one by one.
// The including file defines BG_TABLE, the name of the table it fills, and may define BG_TARGET.
#include <string.h>

#include "../include/Kernels.h"

#ifdef BG_TARGET
#pragma clang attribute push(__attribute__((target(BG_TARGET))), apply_to = function)
#endif
#include "opencl_c.h"
#ifdef BG_HAS_AVX2
#include "madd_x86.h"
#endif
#include "../Image/arithmetic.cl"
#include "../Image/resize.cl"
#include "../Image/sharpen.cl"
#include "../Image/resize_float.cl"
#include "../Image/chain.cl"
#include "../Image/points.cl"
#include "../Image/denoise.cl"
#include "../Image/local_contrast.cl"
#include "../Image/deconvolve.cl"
#include "../Image/grain.cl"
#include "../Image/rotate.cl"
#include "../Image/turn.cl"
#include "../Inference/winograd_blocks.cl"

_Static_assert(sizeof(resize_params) == sizeof(bg_resize_params), "resize_params");
_Static_assert(sizeof(sharpen_params) == sizeof(bg_sharpen_params), "sharpen_params");
_Static_assert(sizeof(resize_float_params) == sizeof(bg_resize_float_params), "resize_float_params");
_Static_assert(sizeof(encode_float_params) == sizeof(bg_encode_float_params), "encode_float_params");
_Static_assert(sizeof(winograd_blocks_params) == sizeof(bg_winograd_blocks_params), "winograd_blocks_params");

#define EACH(count) for (bg_global_id = 0; bg_global_id < (size_t)(count); ++bg_global_id)
#define PARAMS(T, from)                                                                                                \
    T q;                                                                                                               \
    memcpy(&q, from, sizeof q)

static void run_resize_code(const uint8_t *src, uint8_t *dst, const bg_resize_tables *t, int16_t *scratch,
                            const bg_resize_params *p) {
    PARAMS(resize_params, p);
    EACH((p->dst_rows + STRIP - 1) / STRIP)
    resize_code_strip(src, dst, t->v_start, t->v_weights, t->h_start, t->h_weights, scratch, q);
}

static void run_resize_light(const int16_t *src, uint8_t *dst, const bg_resize_tables *t, int16_t *scratch,
                             const uint8_t *encode, const bg_resize_params *p) {
    PARAMS(resize_params, p);
    EACH((p->dst_rows + STRIP - 1) / STRIP)
    resize_light_strip(src, dst, t->v_start, t->v_weights, t->h_start, t->h_weights, scratch, encode, q);
}

static void run_decode_light(const uint8_t *src, int16_t *dst, const int16_t *decode, int width, int rows,
                             int src_stride, int dst_stride) {
    EACH(rows) decode_light_row(src, dst, decode, width, src_stride, dst_stride);
}

static void run_sharpen(const uint8_t *src, uint8_t *dst, const int16_t *weights, int16_t *scratch,
                        const bg_sharpen_params *p) {
    PARAMS(sharpen_params, p);
    EACH((p->dst_rows + SHARPEN_STRIP - 1) / SHARPEN_STRIP) sharpen_strip(src, dst, weights, scratch, q);
}

static void run_decode_float(const uint16_t *src, float *dst, const float *decode, int width, int rows, int src_stride,
                             int dst_stride, int decode_stride) {
    EACH(rows) decode_float_row(src, dst, decode, width, src_stride, dst_stride, decode_stride);
}

static void run_resize_float(const float *src, float *dst, const bg_resize_float_tables *t, float *scratch,
                             const bg_resize_float_params *p) {
    PARAMS(resize_float_params, p);
    EACH((p->dst_rows + FLOAT_STRIP - 1) / FLOAT_STRIP)
    resize_float_strip(src, dst, t->v_start, t->v_weights, t->h_start, t->h_weights, scratch, q);
}

static void run_encode_float(const float *src, uint16_t *dst, const float *table, int rows,
                             const bg_encode_float_params *p) {
    PARAMS(encode_float_params, p);
    EACH(rows) encode_float_row(src, dst, table, q);
}

static void run_winograd_weights(const float *source, float *target, const bg_winograd_blocks_params *p) {
    PARAMS(winograd_blocks_params, p);
    EACH(p->filters / BLOCK) winograd_blocks_weights(source, target, q);
}

static void run_winograd(const float *source, const float *weights, const float *bias, const float *residual, float *target,
                         float *scratch, const bg_winograd_blocks_params *p) {
    PARAMS(winograd_blocks_params, p);
    const int tiles = p->images * ((p->rows + 3) / 4) * ((p->columns + 3) / 4);
    EACH((tiles + p->tiles - 1) / p->tiles) winograd_blocks(source, weights, bias, residual, target, scratch, q);
}
#include "chain_cpu.h"
#ifdef BG_TARGET
#pragma clang attribute pop
#endif

const bg_cpu_kernels BG_TABLE = {
    run_resize_code,  run_resize_light,  run_decode_light, run_sharpen,
    run_decode_float, run_resize_float, run_encode_float, CHAIN_KERNELS,
    {BLOCK, run_winograd_weights, run_winograd},
};
