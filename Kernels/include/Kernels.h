// Kernels: the one copy of every kernel, as OpenCL C text for devices and compiled ahead of time for CPUs.
#pragma once
#include "InferenceKernels.h"

#include <stddef.h>
#include <stdint.h>

// Source of all image kernels, for clBuildProgram; `*length` in bytes without the final 0.
const char *bg_image_kernels_source(size_t *length);

// Output rows one work-item of the CPU form makes.
enum { BG_RESIZE_STRIP = 8, BG_SHARPEN_STRIP = 16, BG_FLOAT_STRIP = 4 };

// Work-items in a group of the GPU form.
enum { BG_WORK_GROUP = 64 };

// The parameter structs, field for field as in Image/*.cl, where each field is explained.
typedef struct {
    int32_t src_width, src_stride, src_first_row, dst_width, dst_stride, dst_first_row, dst_rows, v_taps, h_pairs,
        scratch_stride;
} bg_resize_params;

typedef struct {
    int32_t width, height, src_first_row, src_stride, dst_first_row, dst_rows, dst_stride, radius, amount, luma_stride,
        scratch_stride;
} bg_sharpen_params;

typedef struct {
    int32_t src_width, src_stride, src_first_row, dst_width, dst_stride, dst_first_row, dst_rows, v_taps, h_taps,
        scratch_stride;
} bg_resize_float_params;

typedef struct {
    int32_t width, src_stride, dst_stride, encode_stride, has_matte;
    float matte[3];
} bg_encode_float_params;

// Sizes of the kernels of a chain, as in Image/points.cl, denoise.cl, deconvolve.cl, rotate.cl and turn.cl.
enum {
    BG_POINT_TABLE = 2064,
    BG_POINT_STEPS = 1024,
    BG_POINT_HEADER = 16,
    BG_DENOISE_COLUMNS = 496,
    BG_DENOISE_ROWS = 128,
    BG_DENOISE_GROUP = 128,
    BG_DENOISE_GROUP_COLUMNS = BG_DENOISE_GROUP - 12,
    BG_DENOISE_GROUP_ROWS = 64,
    BG_DENOISE_RADIUS = 7,
    BG_DENOISE_FILL = 7,
    BG_DENOISE_SCRATCH = (BG_DENOISE_COLUMNS + 48) * 64,
    BG_DECONVOLVE_COLUMNS = 256,
    BG_DECONVOLVE_ROWS = 128,
    BG_DECONVOLVE_RADIUS = 4,
    BG_DECONVOLVE_STEP = 4,
    BG_ROTATE_COLUMNS = 64,
    BG_ROTATE_STEPS = 1024,
    BG_TURN_ROWS = 16,
};

typedef struct {
    int32_t width, height, stride, planes, src_first_row, dst_first_row, first_row, rows, scratch_stride, clear;
} bg_chain_rows;

typedef struct {
    int32_t segments, code_stride, code_first_row, target_stride, target_first_row;
} bg_point_params;

// RGBX codes that a level reads and writes itself in place of rows, each null where it does not, and the programs between.
typedef struct {
    const uint8_t *source;
    uint8_t *target;
    const float *first, *last;
    bg_point_params reading, writing;
} bg_chain_codes;

typedef struct {
    int32_t cell, across, down, left, top, cell_stride, line_stride, radius, first_cell, first_slope, first_mean, line_step;
    float epsilon, amount;
} bg_contrast_params;

typedef struct {
    int32_t radius, rounds, halo, pitch;
    float amount;
} bg_deconvolve_params;

typedef struct {
    uint32_t seed;
    float amount;
    uint32_t step;
} bg_grain_params;

typedef struct {
    int64_t cosine, sine;
} bg_rotate_params;

typedef struct {
    int32_t columns, rows, planes, first, row_step, column_step, plane_step, target, stride;
} bg_turn_params;

typedef struct {
    const int32_t *v_start;
    const int16_t *v_weights;
    const int32_t *h_start;
    const int16_t *h_weights;
} bg_resize_tables;

typedef struct {
    const int32_t *v_start;
    const float *v_weights;
    const int32_t *h_start;
    const float *h_weights;
} bg_resize_float_tables;

// The kernels of a chain of operations; `count` is the number of work-items.
typedef struct {
    void (*load8)(const uint8_t *codes, float *dst, const float *program, const bg_point_params *, const bg_chain_rows *);
    void (*load16)(const uint16_t *codes, float *dst, const float *program, const bg_point_params *, const bg_chain_rows *);
    void (*store8)(const float *src, uint8_t *codes, const float *program, const bg_point_params *, const bg_chain_rows *);
    void (*store16)(const float *src, uint16_t *codes, const float *program, const bg_point_params *,
                    const bg_chain_rows *);
    void (*codes8)(const uint8_t *codes, uint8_t *target, const float *program, const bg_point_params *,
                   const bg_chain_rows *);
    void (*codes16)(const uint16_t *codes, uint16_t *target, const float *program, const bg_point_params *,
                    const bg_chain_rows *);
    void (*points)(float *rows, const float *program, const bg_point_params *, const bg_chain_rows *);
    void (*grain)(float *rows, const bg_grain_params *, const bg_chain_rows *);
    void (*denoise_fill)(float *rows, const bg_chain_rows *);
    void (*denoise)(const float *src, float *dst, const bg_chain_codes *, const float *limits, float *scratch,
                    const bg_chain_rows *, int count);
    void (*deconvolve)(const float *src, float *dst, const float *weights, float *scratch, const bg_deconvolve_params *,
                       const bg_chain_rows *, int count);
    void (*contrast_cells)(const float *src, const bg_chain_codes *, float *cells, float *line, const bg_contrast_params *,
                           const bg_chain_rows *, int count);
    void (*contrast_slopes)(const float *cells, float *slopes, float *line, const bg_contrast_params *,
                            const bg_chain_rows *, int count);
    void (*contrast_means)(const float *slopes, float *means, float *line, const bg_contrast_params *, int count);
    void (*contrast_apply)(const float *src, float *dst, const bg_chain_codes *, const float *means, float *line,
                           const bg_contrast_params *, const bg_chain_rows *);
    void (*rotate)(const float *src, float *dst, const float *weights, const bg_rotate_params *, const bg_chain_rows *,
                   int count);
    void (*turn)(const float *src, float *dst, const bg_turn_params *);
} bg_cpu_chain_kernels;

// The kernels of networks, with buffers as in Inference/winograd_blocks.cl.
typedef struct {
    int32_t block; // channels that lie together
    void (*winograd_weights)(const float *source, float *target, const bg_winograd_blocks_params *);
    void (*winograd)(const float *source, const float *weights, const float *bias, const float *residual, float *target,
                     float *scratch, const bg_winograd_blocks_params *);
} bg_cpu_inference_kernels;

// The kernels compiled for one instruction set. Each call runs a whole chunk on the calling thread; buffers as in Image/*.cl.
typedef struct {
    void (*resize_code)(const uint8_t *src, uint8_t *dst, const bg_resize_tables *tables, int16_t *scratch,
                        const bg_resize_params *params);
    void (*resize_light)(const int16_t *src, uint8_t *dst, const bg_resize_tables *tables, int16_t *scratch,
                         const uint8_t *encode, const bg_resize_params *params);
    void (*decode_light)(const uint8_t *src, int16_t *dst, const int16_t *decode, int width, int rows, int src_stride,
                         int dst_stride);
    void (*sharpen)(const uint8_t *src, uint8_t *dst, const int16_t *weights, int16_t *scratch,
                    const bg_sharpen_params *params);
    void (*decode_float)(const uint16_t *src, float *dst, const float *decode, int width, int rows, int src_stride,
                         int dst_stride, int decode_stride);
    void (*resize_float)(const float *src, float *dst, const bg_resize_float_tables *tables, float *scratch,
                         const bg_resize_float_params *params);
    void (*encode_float)(const float *src, uint16_t *dst, const float *table, int rows,
                         const bg_encode_float_params *params);
    bg_cpu_chain_kernels chain;
    bg_cpu_inference_kernels inference;
} bg_cpu_kernels;

typedef enum { BG_ISA_BASELINE = 0, BG_ISA_AVX2 = 1, BG_ISA_AVX512 = 2 } bg_isa;

// The best instruction set of this CPU that the kernels are compiled for.
bg_isa bg_best_isa(void);

// NULL when this CPU lacks the instruction set.
const bg_cpu_kernels *bg_kernels_for(bg_isa isa);
