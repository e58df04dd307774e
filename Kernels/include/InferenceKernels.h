// InferenceKernels: the kernels of Inference/*.cl for devices, and their parameters.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Source of all kernels of inference, for clBuildProgram; `*length` in bytes without the final 0.
const char *bg_inference_kernels_source(size_t *length);

// A place that names no operand.
#define BG_NO_PLACE INT32_MIN

// Steps of a panel that one work-item of the CPU form packs.
enum { BG_PACK_DEPTH = 64 };

// Tiles of a product that one work-item of the CPU form computes at most.
enum { BG_ITEM_TILES = 32 };

// Rows of a plane that one work-item of the CPU form computes under a window.
enum { BG_WINDOW_ROWS = 16 };

// What the links of values.cl compute; from BG_LINK_ADD on with another value.
typedef enum {
    BG_LINK_LINEAR, BG_LINK_CLIP, BG_LINK_RELU, BG_LINK_ELU, BG_LINK_SIGMOID, BG_LINK_SWISH, BG_LINK_TANH,
    BG_LINK_HARD_SWISH, BG_LINK_GELU_ERF, BG_LINK_GELU_TANH, BG_LINK_MISH, BG_LINK_EXP, BG_LINK_LOG, BG_LINK_SQRT,
    BG_LINK_ABS, BG_LINK_ERF, BG_LINK_RECIPROCAL, BG_LINK_FLOOR, BG_LINK_CEIL, BG_LINK_ROUND, BG_LINK_SIN,
    BG_LINK_COS, BG_LINK_SOFTPLUS, BG_LINK_SOFTSIGN, BG_LINK_POWER, BG_LINK_SIGN, BG_LINK_FILL_NAN,
    BG_LINK_ADD = 64, BG_LINK_SUBTRACT, BG_LINK_SUBTRACT_FROM, BG_LINK_MULTIPLY, BG_LINK_DIVIDE, BG_LINK_DIVIDE_INTO,
    BG_LINK_MAXIMUM, BG_LINK_MINIMUM, BG_LINK_RAISE, BG_LINK_RAISE_FROM, BG_LINK_FILL, BG_LINK_KEEP,
} bg_link_kind;

typedef enum {
    BG_REDUCE_SUM, BG_REDUCE_LARGEST, BG_REDUCE_SMALLEST, BG_REDUCE_PRODUCT, BG_REDUCE_MAGNITUDES, BG_REDUCE_SQUARES,
    BG_REDUCE_NORM, BG_REDUCE_LOG_SUM,
} bg_reduce_kind;

// The parameter structs, field for field as in Inference/*.cl, where each field is explained. A place is an offset in elements, of the
// arena where it is not negative, else of ~place among the weights.
typedef struct {
    int32_t kind, place, strides[4];
    float a, b;
} bg_link;

typedef struct {
    int32_t target, strides[3], bias, bias_strides[3], residual, residual_strides[4];
    float low, high;
    int32_t links, link_count;
} bg_result;

typedef struct {
    int32_t source, target, extents[4], strides[4], links, link_count, blocks;
} bg_elementwise_params;

typedef struct {
    int32_t source, target, extents[6], source_strides[6], target_strides[6], blocks, rows;
} bg_move_params;

typedef struct {
    int32_t target, count;
    float value;
} bg_fill_params;

typedef struct {
    int32_t place, count;
} bg_convert_params;

typedef struct {
    int32_t source, target, indices, outer, extent, count, inner, blocks;
} bg_take_params;

typedef struct {
    int32_t source, target, row_stride, depth_stride, batch[2], batch_strides[2], rows, depth, width, panels;
} bg_pack_params;

typedef struct {
    int32_t a, b, batch[2], a_strides[2], b_strides[2], rows, columns, depth, row_tiles;
    bg_result result;
} bg_product_params;

typedef struct {
    int32_t weights, source, taps, groups, images, filters, channels, tap_count, input[3], output[3], strides[3], spread[3],
        image_stride, group_stride, plane, weight_stride, is_flat, row_tiles;
    bg_result result;
} bg_convolution_params;

typedef struct {
    int32_t source, weights, taps, images, channels, multiplier, tap_count, input[3], output[3], strides[3], counts_padding,
        window_columns;
    bg_result result;
} bg_window_params;

typedef struct {
    int32_t source, target, outer, length, inner, kind;
    float factor, epsilon;
    int32_t scale, shift, period, row_step, column_step;
} bg_rows_params;

typedef struct {
    int32_t q, k, v, batch[2], q_strides[2], k_strides[2], v_strides[2], rows, keys, depth, columns;
    float scale;
    int32_t mask, mask_strides[4], target, target_strides[3];
} bg_attention_params;

typedef struct {
    int32_t source, blocks_at, sums, images, channels, height, width, rows, columns, pad_y, pad_x, panel;
    bg_result result;
} bg_winograd_params;

typedef struct {
    int32_t images, channels, filters, height, width, rows, columns, pad_y, pad_x, pixel_step,
        block_step, tiles, has_residual;
    float slope, low, high;
} bg_winograd_blocks_params;

typedef struct {
    int32_t source, target, starts, indices, factors, outer, length, count, inner;
} bg_resample_params;
