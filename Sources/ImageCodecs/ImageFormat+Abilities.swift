extension ImageFormat {
    /// As people call it.
    package var name: String {
        switch self {
        case .jpeg: "JPEG"
        case .png: "PNG"
        case .tiff: "TIFF"
        case .webp: "WebP"
        case .avif: "AVIF"
        case .heic: "HEIC"
        case .gif: "GIF"
        case .jxl: "JPEG XL"
        case .jp2: "JPEG 2000"
        case .raw: "camera raw"
        }
    }

    /// What reads and writes it where that is opened at run time; nil for what is always there.
    package var library: CodecLibrary? {
        switch self {
        case .jpeg, .png, .webp: nil
        case .tiff: .tiff
        case .avif: .avif
        case .heic: .heif
        case .gif: .gif
        case .jxl: .jxl
        case .jp2: .openjpeg
        case .raw: .raw
        }
    }

    /// Bits a channel that it is written with, fewest first; empty where it is only read.
    package var writtenBits: [Int] {
        switch self {
        case .jpeg, .webp: [8]
        case .avif: [8, 10]
        case .png, .tiff, .jxl: [8, 16]
        case .heic, .gif, .jp2, .raw: []
        }
    }

    package var isWritten: Bool { !writtenBits.isEmpty }

    /// What a picture of this format is written as where nothing was asked for: a TIFF is for working on, so it is not.
    package var isKeptByDefault: Bool { isWritten && self != .tiff }

    /// Gray pictures are written with one channel.
    package var writesGray: Bool { isWritten && self != .webp }

    /// The largest of ``writtenBits`` where that is more than 8.
    package var deepBits: Int? { writtenBits.last.flatMap { $0 > 8 ? $0 : nil } }

    package var writesAlpha: Bool { isWritten && self != .jpeg }

    /// Whether it is written in a lossless form on request; PNG and TIFF always are.
    package var canBeLossless: Bool { self != .jpeg }

    /// Where nothing was asked for, 1 ... 100; nil for formats without. About equal to the eye between formats.
    package var defaultQuality: Int? {
        switch self {
        case .jpeg, .jxl: 85
        case .webp: 80
        case .avif: 60
        case .png, .tiff, .heic, .gif, .jp2, .raw: nil
        }
    }

    /// It can be written with losses, the fewer the higher its quality.
    package var hasQuality: Bool { defaultQuality != nil }
}
