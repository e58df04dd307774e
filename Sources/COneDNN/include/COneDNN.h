// The part of oneDNN's C interface that this package calls, as a table filled at run time.
//
// Nothing here links against oneDNN: opening it takes about 16 ms and pulls in OpenMP and OpenCL, which only a process
// that infers should pay for.
#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <stddef.h>
#include <stdint.h>

// Every function of the table. X(name) is used once to declare the fields and once to look the symbols up.
#define BG_DNNL_FUNCTIONS(X)                                                                                           \
    X(dnnl_version)                                                                                                    \
    X(dnnl_get_effective_cpu_isa)                                                                                      \
    X(dnnl_engine_create)                                                                                              \
    X(dnnl_stream_create)                                                                                              \
    X(dnnl_stream_wait)                                                                                                \
    X(dnnl_stream_destroy)                                                                                             \
    X(dnnl_memory_desc_init_by_strides)                                                                                \
    X(dnnl_memory_desc_init_by_tag)                                                                                    \
    X(dnnl_memory_desc_permute_axes)                                                                                   \
    X(dnnl_memory_desc_equal)                                                                                          \
    X(dnnl_memory_desc_get_size)                                                                                       \
    X(dnnl_memory_create)                                                                                              \
    X(dnnl_memory_set_data_handle)                                                                                     \
    X(dnnl_memory_destroy)                                                                                             \
    X(dnnl_primitive_attr_create)                                                                                      \
    X(dnnl_primitive_attr_destroy)                                                                                     \
    X(dnnl_primitive_attr_set_scratchpad_mode)                                                                         \
    X(dnnl_primitive_attr_set_output_scales)                                                                           \
    X(dnnl_primitive_attr_set_zero_points)                                                                             \
    X(dnnl_primitive_attr_set_scales)                                                                                  \
    X(dnnl_primitive_attr_set_post_ops)                                                                                \
    X(dnnl_post_ops_create)                                                                                            \
    X(dnnl_post_ops_destroy)                                                                                           \
    X(dnnl_post_ops_append_sum_v3)                                                                                     \
    X(dnnl_post_ops_append_eltwise)                                                                                    \
    X(dnnl_post_ops_append_binary)                                                                                     \
    X(dnnl_dilated_convolution_forward_desc_init)                                                                      \
    X(dnnl_dilated_deconvolution_forward_desc_init)                                                                    \
    X(dnnl_matmul_desc_init)                                                                                           \
    X(dnnl_inner_product_forward_desc_init)                                                                            \
    X(dnnl_pooling_v2_forward_desc_init)                                                                               \
    X(dnnl_reduction_desc_init)                                                                                        \
    X(dnnl_softmax_v2_forward_desc_init)                                                                               \
    X(dnnl_layer_normalization_forward_desc_init)                                                                      \
    X(dnnl_lrn_forward_desc_init)                                                                                      \
    X(dnnl_eltwise_forward_desc_init)                                                                                  \
    X(dnnl_binary_desc_init)                                                                                           \
    X(dnnl_resampling_forward_desc_init)                                                                               \
    X(dnnl_reorder_primitive_desc_create)                                                                              \
    X(dnnl_sum_primitive_desc_create)                                                                                  \
    X(dnnl_concat_primitive_desc_create)                                                                               \
    X(dnnl_primitive_desc_iterator_create)                                                                             \
    X(dnnl_primitive_desc_iterator_next)                                                                               \
    X(dnnl_primitive_desc_iterator_fetch)                                                                              \
    X(dnnl_primitive_desc_iterator_destroy)                                                                            \
    X(dnnl_primitive_desc_destroy)                                                                                     \
    X(dnnl_primitive_desc_query)                                                                                       \
    X(dnnl_primitive_desc_query_md)                                                                                    \
    X(dnnl_primitive_create)                                                                                           \
    X(dnnl_primitive_destroy)                                                                                          \
    X(dnnl_primitive_execute)

typedef struct bg_dnnl_functions {
#define BG_DNNL_FIELD(name) __typeof__(&name) name;
    BG_DNNL_FUNCTIONS(BG_DNNL_FIELD)
#undef BG_DNNL_FIELD
    // Of the OpenMP runtime that oneDNN brought along: how many threads the calling thread's parallel regions have.
    void (*omp_set_num_threads)(int count);
} bg_dnnl_functions;

// What became of bg_dnnl_load.
typedef enum bg_dnnl_load_status {
    BG_DNNL_LOADED = 0,
    // dlopen refused; `reason` has its words.
    BG_DNNL_NO_LIBRARY = 1,
    // The library, or what it brought along, lacks a function; `reason` has its name.
    BG_DNNL_NO_SYMBOL = 2,
} bg_dnnl_load_status;

// Opens `library` and fills `functions`. The library stays open for the life of the process: OpenMP does not survive
// unloading. On failure `functions` is all null, and `reason` is a C string cut to `reason_size` bytes.
bg_dnnl_load_status bg_dnnl_load(const char *library, bg_dnnl_functions *functions, char *reason, size_t reason_size);

// The index under which the second operand of the post-operation at `position` is passed, a macro in oneDNN's header.
int bg_dnnl_post_operation_argument(int position);

// The calling thread's flag of IEEE 754 for invalid operations: raised where a result is no number though the operands are, and on
// x86 also where one that is no number is compared. Raising it costs nothing; it stays until it is cleared.
void bg_clear_invalid_flag(void);
int bg_has_invalid_flag(void);
