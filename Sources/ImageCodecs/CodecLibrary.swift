import CImageCodecs

/// A library that is opened when a picture needs it.
package enum CodecLibrary: CaseIterable, Sendable {
    case avif, heif, jxl, raw, gif, openjpeg, tiff

    var forC: ic_library {
        switch self {
        case .avif: IC_LIBRARY_AVIF
        case .heif: IC_LIBRARY_HEIF
        case .jxl: IC_LIBRARY_JXL
        case .raw: IC_LIBRARY_RAW
        case .gif: IC_LIBRARY_GIF
        case .openjpeg: IC_LIBRARY_OPENJPEG
        case .tiff: IC_LIBRARY_TIFF
        }
    }

    /// The file that is opened, e.g. `libavif.so.15`.
    package var file: String { String(cString: ic_library_file(forC)) }

    /// The Debian package that has it.
    package var package: String { String(cString: ic_library_package(forC)) }

    /// Tried once for a process; what is opened stays so.
    package var isInstalled: Bool { ic_library_is_there(forC) != 0 }
}
