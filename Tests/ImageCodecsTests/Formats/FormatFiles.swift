import Foundation
import ImageCodecs
import Testing

/// Makes files of one format: by our own encoders, and where there is none by other programs.
struct FormatFiles {
    /// What a file is made to show.
    enum Feature: CaseIterable {
        case plain, alpha, deep, profile, metadata, turned, animated
    }

    let format: ImageFormat
    private let tools: ToolFolder

    init(_ format: ImageFormat) throws {
        self.format = format
        tools = try ToolFolder()
    }

    static let profile = BuiltInProfile.displayP3.bytes
    static let xmp = Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)

    /// The picture of a feature, as it is to be seen.
    static func picture(_ feature: Feature) -> Picture {
        let layout: PixelLayout =
            switch feature {
            case .alpha: .rgba8
            case .deep: .rgba16
            default: .rgbx8
            }
        return Picture.sample(width: 64, height: 48, layout: layout)
    }

    /// nil where the format, or the program that writes it, has no such thing.
    func file(_ feature: Feature) throws -> [UInt8]? {
        let picture = FormatFiles.picture(feature)
        switch format {
        case .heic: return try heic(feature, picture)
        case .gif: return try gif(feature, picture)
        case .jp2: return try jp2(feature, picture)
        case .raw: return raw(feature)
        default: return try written(feature, picture)
        }
    }

    /// A picture of one colour, as small as the format makes it.
    func flat(side: Int) throws -> [UInt8] {
        let picture = Picture(
            width: side, height: side, layout: .rgbx8, bytes: [UInt8](repeating: 255, count: side * side * 4))
        switch format {
        case .heic: return try heic(.plain, picture) ?? []
        case .gif: return try gif(.plain, picture) ?? []
        case .jp2: return try jp2(.plain, picture) ?? []
        case .raw: return raw(.plain) ?? []
        default: return try encoded(picture, as: format)
        }
    }

    private func written(_ feature: Feature, _ picture: Picture) throws -> [UInt8]? {
        switch feature {
        case .alpha where !format.writesAlpha: return nil
        case .deep where format.deepBits == nil: return nil
        case .turned: return try turned(picture)
        case .animated: return try animated()
        default:
            return try encoded(picture, as: format) {
                $0.quality = 90
                if feature == .deep { $0.isOpaque = true }
                if feature == .profile { $0.metadata.icc = FormatFiles.profile }
                if feature == .metadata {
                    $0.metadata.exif = MetadataTests.exif(isBigEndian: true)
                    $0.metadata.xmp = FormatFiles.xmp
                }
            }
        }
    }

    /// Stored lying on its side: EXIF's orientation 6, or the format's own way to say so.
    private func turned(_ picture: Picture) throws -> [UInt8]? {
        let stored = picture.turnedLeft
        switch format {
        case .avif: return try turnedAVIF(stored)
        case .jxl:
            let jpeg = try encoded(stored, as: .jpeg) {
                $0.quality = 95
                $0.fullChroma = true
                $0.metadata.exif = MetadataTests.exif(isBigEndian: true)
            }
            try tools.run("cjxl", [try tools.write(jpeg, as: "turned.jpg"), tools.path("turned.jxl").path])
            return try tools.read("turned.jxl")
        case .tiff:
            var writer = TIFFWriter(width: stored.width, height: stored.height) { x, y, c in
                UInt64(stored.pixel(x, y)[c])
            }
            writer.orientation = 6
            return writer.file()
        default:
            return try encoded(stored, as: format) {
                $0.quality = 95
                $0.fullChroma = true
                $0.metadata.exif = MetadataTests.exif(isBigEndian: true)
            }
        }
    }

    /// With the container's own property for it, and no EXIF.
    private func turnedAVIF(_ stored: Picture) throws -> [UInt8] {
        let png = try tools.write(try encoded(stored, as: .png), as: "turned.png")
        try tools.run(
            "avifenc",
            ["--irot", "3", "--min", "5", "--max", "15", "-y", "444", png, tools.path("turned.avif").path])
        return try tools.read("turned.avif")
    }

    private func animated() throws -> [UInt8]? {
        let other = Picture.sample(width: 64, height: 48, isGray: true)
        let frames = try [FormatFiles.picture(.plain), other].enumerated().map { index, frame in
            try tools.write(try encoded(frame, as: .png), as: "frame\(index).png")
        }
        switch format {
        case .avif:
            try tools.run("avifenc", ["--fps", "2"] + frames + [tools.path("two.avif").path])
            return try tools.read("two.avif")
        case .webp:
            try tools.run("img2webp", frames + ["-o", tools.path("two.webp").path])
            return try tools.read("two.webp")
        case .jxl:
            let gif = try #require(try gif(.animated, FormatFiles.picture(.plain)))
            try tools.run("cjxl", [try tools.write(gif, as: "two.gif"), tools.path("two.jxl").path])
            return try tools.read("two.jxl")
        case .png: return PNGWriter.animated(try tools.read("frame0.png"))
        default: return nil
        }
    }

    private func heic(_ feature: Feature, _ picture: Picture) throws -> [UInt8]? {
        if feature == .animated { return nil }
        if feature == .turned {
            // heif-enc turns nothing.
            var writer = HEIFWriter()
            let stored = picture.turnedLeft
            _ = writer.add(
                try tools.hevc(stored), shown: (stored.width, stored.height), properties: [HEIFWriter.turn(quarters: 3)]
            )
            return writer.file()
        }
        let isPhoto = feature == .metadata
        let source = try encoded(picture, as: isPhoto ? .jpeg : .png) {
            $0.quality = 98
            $0.fullChroma = true
            if feature == .profile { $0.metadata.icc = FormatFiles.profile }
            if isPhoto { $0.metadata.exif = MetadataTests.exif(isBigEndian: true) }
            if isPhoto { $0.metadata.xmp = FormatFiles.xmp }
        }
        let input = try tools.write(source, as: isPhoto ? "in.jpg" : "in.png")
        try tools.run("heif-enc", ["-q", "90", "-p", "chroma=444", "-o", tools.path("out.heic").path, input])
        return try tools.read("out.heic")
    }

    private func gif(_ feature: Feature, _ picture: Picture) throws -> [UInt8]? {
        guard [.plain, .alpha, .animated].contains(feature) else { return nil }
        let input = try tools.write(try encoded(picture, as: .png), as: "in.png")
        let other = feature == .animated ? [try tools.write(try encoded(picture, as: .png), as: "other.png")] : []
        try tools.run("convert", [input] + other + [tools.path("out.gif").path])
        return try tools.read("out.gif")
    }

    private func jp2(_ feature: Feature, _ picture: Picture) throws -> [UInt8]? {
        guard [.plain, .alpha, .deep].contains(feature) else { return nil }
        let input = try tools.write(try encoded(picture, as: .png) { $0.isOpaque = feature == .deep }, as: "in.png")
        try tools.run("opj_compress", ["-r", "4", "-i", input, "-o", tools.path("out.jp2").path])
        return try tools.read("out.jp2")
    }

    /// A DNG of a sensor with a Bayer pattern, as the specification 1.4 asks for at least.
    private func raw(_ feature: Feature) -> [UInt8]? {
        guard [.plain, .deep, .turned, .metadata].contains(feature) else { return nil }
        return RawWriter.file(orientation: feature == .turned ? 6 : 1)
    }
}

extension Picture {
    /// As a camera that was turned to the right stores it: to be shown a quarter to the right.
    var turnedLeft: Picture {
        var turned = Picture(width: height, height: width, layout: layout, bytes: [])
        for y in 0..<width { for x in 0..<height { turned.bytes += pixel(width - 1 - y, x) } }
        return turned
    }

    /// Shown as an orientation of 1 or 6 says.
    func upright(_ orientation: Int) -> Picture {
        guard orientation == 6 else { return self }
        var turned = Picture(width: height, height: width, layout: layout, bytes: [])
        for y in 0..<width { for x in 0..<height { turned.bytes += pixel(y, height - 1 - x) } }
        return turned
    }
}
