#pragma once

// Libraries that are opened when a picture needs them, so that programs start without them.

/// A library, and with it the format that it reads; the last one, HEVC for HEIF.
typedef enum ic_library {
    IC_LIBRARY_AVIF = 0,
    IC_LIBRARY_HEIF,
    IC_LIBRARY_JXL,
    IC_LIBRARY_RAW,
    IC_LIBRARY_GIF,
    IC_LIBRARY_OPENJPEG,
    IC_LIBRARY_TIFF,
    IC_LIBRARY_DE265,
} ic_library;

/// The name that is opened, with the version whose structures this was built for.
const char *ic_library_file(ic_library library);

/// The Debian package that has it.
const char *ic_library_package(ic_library library);

/// Opens it and leaves it open.
int ic_library_is_there(ic_library library);
