#pragma once

#include <tiffio.h>

#include "ic_library_internal.h"

#define IC_TIFF_FUNCTIONS(FUNCTION)                                                                                    \
    FUNCTION(TIFFClientOpenExt)                                                                                        \
    FUNCTION(TIFFClose)                                                                                                \
    FUNCTION(TIFFComputeStrip)                                                                                         \
    FUNCTION(TIFFComputeTile)                                                                                          \
    FUNCTION(TIFFGetField)                                                                                             \
    FUNCTION(TIFFGetFieldDefaulted)                                                                                    \
    FUNCTION(TIFFIsCODECConfigured)                                                                                    \
    FUNCTION(TIFFIsTiled)                                                                                              \
    FUNCTION(TIFFMergeFieldInfo)                                                                                       \
    FUNCTION(TIFFNumberOfDirectories)                                                                                  \
    FUNCTION(TIFFOpenOptionsAlloc)                                                                                     \
    FUNCTION(TIFFOpenOptionsFree)                                                                                      \
    FUNCTION(TIFFOpenOptionsSetErrorHandlerExtR)                                                                       \
    FUNCTION(TIFFOpenOptionsSetWarningHandlerExtR)                                                                     \
    FUNCTION(TIFFRGBAImageBegin)                                                                                       \
    FUNCTION(TIFFRGBAImageEnd)                                                                                         \
    FUNCTION(TIFFRGBAImageGet)                                                                                         \
    FUNCTION(TIFFRGBAImageOK)                                                                                          \
    FUNCTION(TIFFReadEncodedStrip)                                                                                     \
    FUNCTION(TIFFReadEncodedTile)                                                                                      \
    FUNCTION(TIFFScanlineSize)                                                                                         \
    FUNCTION(TIFFSetDirectory)                                                                                         \
    FUNCTION(TIFFSetErrorHandler)                                                                                      \
    FUNCTION(TIFFSetField)                                                                                             \
    FUNCTION(TIFFSetWarningHandler)                                                                                    \
    FUNCTION(TIFFStripSize)                                                                                            \
    FUNCTION(TIFFTileRowSize)                                                                                          \
    FUNCTION(TIFFTileSize)                                                                                             \
    FUNCTION(TIFFWriteDirectory)                                                                                       \
    FUNCTION(TIFFWriteEncodedStrip)

IC_LIBRARY_TABLE(ic_tiff, IC_LIBRARY_TIFF, IC_TIFF_FUNCTIONS)
