/// Names by which people expect a file to be a picture, whether this program reads its format or not.
enum PictureNames {
    private static let extensions: Set<String> = [
        // Formats for looking at.
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "tif", "tiff", "webp", "heic", "heif", "hif", "avif", "jxl",
        "gif", "bmp", "dib", "jp2", "j2k", "jpx", "jpf", "jxr", "qoi", "tga", "ppm", "pgm", "pbm", "pnm", "pam",
        // Formats for working on.
        "psd", "psb", "xcf", "kra", "exr", "hdr", "dpx",
        // Raw formats of cameras.
        "cr2", "cr3", "crw", "nef", "nrw", "arw", "srf", "sr2", "dng", "raf", "orf", "rw2", "pef", "srw", "x3f", "3fr",
        "fff", "iiq", "mrw", "erf", "kdc", "dcr", "mos", "rwl", "gpr",
    ]

    static func promisePicture(_ name: String) -> Bool {
        fileExtension(name).map(extensions.contains) ?? false
    }

    /// The extension in lower case without its dot; nil where there is none.
    static func fileExtension(_ name: String) -> String? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
        let text = name[name.index(after: dot)...].lowercased()
        return text.isEmpty ? nil : text
    }
}
