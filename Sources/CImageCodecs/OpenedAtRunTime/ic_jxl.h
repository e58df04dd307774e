#pragma once

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>

#include "ic_picture_internal.h"

_Static_assert(JPEGXL_MAJOR_VERSION == 0 && JPEGXL_MINOR_VERSION == 7, "libjxl.so.0.7 has the structures of 0.7");

#define IC_JXL_FUNCTIONS(FUNCTION)                                                                                     \
    FUNCTION(JxlColorEncodingSetToSRGB)                                                                                \
    FUNCTION(JxlDecoderCloseInput)                                                                                     \
    FUNCTION(JxlDecoderCreate)                                                                                         \
    FUNCTION(JxlDecoderDestroy)                                                                                        \
    FUNCTION(JxlDecoderFlushImage)                                                                                     \
    FUNCTION(JxlDecoderGetBasicInfo)                                                                                   \
    FUNCTION(JxlDecoderGetBoxType)                                                                                     \
    FUNCTION(JxlDecoderGetColorAsEncodedProfile)                                                                       \
    FUNCTION(JxlDecoderGetColorAsICCProfile)                                                                           \
    FUNCTION(JxlDecoderGetICCProfileSize)                                                                              \
    FUNCTION(JxlDecoderImageOutBufferSize)                                                                             \
    FUNCTION(JxlDecoderProcessInput)                                                                                   \
    FUNCTION(JxlDecoderReleaseBoxBuffer)                                                                               \
    FUNCTION(JxlDecoderSetBoxBuffer)                                                                                   \
    FUNCTION(JxlDecoderSetDecompressBoxes)                                                                             \
    FUNCTION(JxlDecoderSetImageOutBuffer)                                                                              \
    FUNCTION(JxlDecoderSetInput)                                                                                       \
    FUNCTION(JxlDecoderSetKeepOrientation)                                                                             \
    FUNCTION(JxlDecoderSetParallelRunner)                                                                              \
    FUNCTION(JxlDecoderSetUnpremultiplyAlpha)                                                                          \
    FUNCTION(JxlDecoderSubscribeEvents)                                                                                \
    FUNCTION(JxlEncoderAddBox)                                                                                         \
    FUNCTION(JxlEncoderAddImageFrame)                                                                                  \
    FUNCTION(JxlEncoderCloseInput)                                                                                     \
    FUNCTION(JxlEncoderCreate)                                                                                         \
    FUNCTION(JxlEncoderDestroy)                                                                                        \
    FUNCTION(JxlEncoderFrameSettingsCreate)                                                                            \
    FUNCTION(JxlEncoderFrameSettingsSetOption)                                                                         \
    FUNCTION(JxlEncoderGetError)                                                                                       \
    FUNCTION(JxlEncoderInitBasicInfo)                                                                                  \
    FUNCTION(JxlEncoderProcessOutput)                                                                                  \
    FUNCTION(JxlEncoderSetBasicInfo)                                                                                   \
    FUNCTION(JxlEncoderSetCodestreamLevel)                                                                             \
    FUNCTION(JxlEncoderSetColorEncoding)                                                                               \
    FUNCTION(JxlEncoderSetFrameDistance)                                                                               \
    FUNCTION(JxlEncoderSetFrameLossless)                                                                               \
    FUNCTION(JxlEncoderSetICCProfile)                                                                                  \
    FUNCTION(JxlEncoderSetParallelRunner)                                                                              \
    FUNCTION(JxlEncoderUseBoxes)

IC_LIBRARY_TABLE(ic_jxl, IC_LIBRARY_JXL, IC_JXL_FUNCTIONS)

/// Runs the library's parts of a picture one after another on the caller's thread, and asks the pulse between them.
static inline JxlParallelRetCode ic_jxl_run(
    void *pulse, void *library, JxlParallelRunInit init, JxlParallelRunFunction part, uint32_t first, uint32_t end) {
    JxlParallelRetCode code = init(library, 1);
    for (uint32_t i = first; code == 0 && i < end; i++) {
        if (!ic_may_go_on(pulse)) return JXL_PARALLEL_RET_RUNNER_ERROR;
        part(library, i, 0);
    }
    return code;
}
