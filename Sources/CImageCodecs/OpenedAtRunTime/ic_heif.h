#pragma once

#include <libheif/heif.h>

#include "ic_picture_internal.h"

_Static_assert(LIBHEIF_HAVE_VERSION(1, 15, 0), "libheif.so.1 has kept its structures since");

#define IC_HEIF_FUNCTIONS(FUNCTION)                                                                                    \
    FUNCTION(heif_context_alloc)                                                                                       \
    FUNCTION(heif_context_free)                                                                                        \
    FUNCTION(heif_context_get_number_of_top_level_images)                                                              \
    FUNCTION(heif_context_get_primary_image_handle)                                                                    \
    FUNCTION(heif_context_read_from_memory_without_copy)                                                               \
    FUNCTION(heif_context_set_max_decoding_threads)                                                                    \
    FUNCTION(heif_context_set_maximum_image_size_limit)                                                                \
    FUNCTION(heif_decode_image)                                                                                        \
    FUNCTION(heif_image_add_plane)                                                                                     \
    FUNCTION(heif_image_create)                                                                                        \
    FUNCTION(heif_image_get_bits_per_pixel_range)                                                                      \
    FUNCTION(heif_image_get_decoding_warnings)                                                                         \
    FUNCTION(heif_image_get_height)                                                                                    \
    FUNCTION(heif_image_get_plane)                                                                                     \
    FUNCTION(heif_image_get_plane_readonly)                                                                            \
    FUNCTION(heif_image_get_width)                                                                                     \
    FUNCTION(heif_image_handle_get_color_profile_type)                                                                 \
    FUNCTION(heif_image_handle_get_height)                                                                             \
    FUNCTION(heif_image_handle_get_ispe_height)                                                                        \
    FUNCTION(heif_image_handle_get_ispe_width)                                                                         \
    FUNCTION(heif_image_handle_get_list_of_metadata_block_IDs)                                                         \
    FUNCTION(heif_image_handle_get_luma_bits_per_pixel)                                                                \
    FUNCTION(heif_image_handle_get_metadata)                                                                           \
    FUNCTION(heif_image_handle_get_metadata_content_type)                                                              \
    FUNCTION(heif_image_handle_get_metadata_size)                                                                      \
    FUNCTION(heif_image_handle_get_metadata_type)                                                                      \
    FUNCTION(heif_image_handle_get_nclx_color_profile)                                                                 \
    FUNCTION(heif_image_handle_get_raw_color_profile)                                                                  \
    FUNCTION(heif_image_handle_get_raw_color_profile_size)                                                             \
    FUNCTION(heif_image_handle_get_width)                                                                              \
    FUNCTION(heif_image_handle_has_alpha_channel)                                                                      \
    FUNCTION(heif_image_handle_release)                                                                                \
    FUNCTION(heif_image_release)                                                                                       \
    FUNCTION(heif_image_set_nclx_color_profile)                                                                        \
    FUNCTION(heif_nclx_color_profile_alloc)                                                                            \
    FUNCTION(heif_nclx_color_profile_free)                                                                             \
    FUNCTION(heif_nclx_color_profile_set_color_primaries)                                                              \
    FUNCTION(heif_nclx_color_profile_set_matrix_coefficients)                                                          \
    FUNCTION(heif_nclx_color_profile_set_transfer_characteristics)                                                     \
    FUNCTION(heif_register_decoder_plugin)

IC_LIBRARY_TABLE(ic_heif, IC_LIBRARY_HEIF, IC_HEIF_FUNCTIONS)
