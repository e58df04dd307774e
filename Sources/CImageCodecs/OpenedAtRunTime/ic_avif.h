#pragma once

#include <avif/avif.h>

#include "ic_picture_internal.h"

_Static_assert(AVIF_VERSION_MAJOR == 0 && AVIF_VERSION_MINOR == 11, "libavif.so.15 has the structures of 0.11");

#define IC_AVIF_FUNCTIONS(FUNCTION)                                                                                    \
    FUNCTION(avifCropRectConvertCleanApertureBox)                                                                      \
    FUNCTION(avifDecoderCreate)                                                                                        \
    FUNCTION(avifDecoderDestroy)                                                                                       \
    FUNCTION(avifDecoderNextImage)                                                                                     \
    FUNCTION(avifDecoderParse)                                                                                         \
    FUNCTION(avifDecoderSetIOMemory)                                                                                   \
    FUNCTION(avifEncoderAddImage)                                                                                      \
    FUNCTION(avifEncoderCreate)                                                                                        \
    FUNCTION(avifEncoderDestroy)                                                                                       \
    FUNCTION(avifEncoderFinish)                                                                                        \
    FUNCTION(avifEncoderSetCodecSpecificOption)                                                                        \
    FUNCTION(avifImageCreate)                                                                                          \
    FUNCTION(avifImageCreateEmpty)                                                                                     \
    FUNCTION(avifImageDestroy)                                                                                         \
    FUNCTION(avifImageRGBToYUV)                                                                                        \
    FUNCTION(avifImageSetMetadataExif)                                                                                 \
    FUNCTION(avifImageSetMetadataXMP)                                                                                  \
    FUNCTION(avifImageSetProfileICC)                                                                                   \
    FUNCTION(avifImageSetViewRect)                                                                                     \
    FUNCTION(avifImageYUVToRGB)                                                                                        \
    FUNCTION(avifPeekCompatibleFileType)                                                                               \
    FUNCTION(avifRGBImageSetDefaults)                                                                                  \
    FUNCTION(avifRWDataFree)                                                                                           \
    FUNCTION(avifResultToString)

IC_LIBRARY_TABLE(ic_avif, IC_LIBRARY_AVIF, IC_AVIF_FUNCTIONS)
