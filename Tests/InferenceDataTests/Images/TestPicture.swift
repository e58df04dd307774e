import ImageCodecs
import InferenceData
import Testing

/// An upright picture of 8- or 16-bit R, G, B and alpha, and files of it.
struct TestPicture {
    var width: Int
    var height: Int
    /// Four samples a pixel.
    var samples: [UInt16]
    var isWide = false

    init(width: Int, height: Int, isWide: Bool = false, _ pixel: (_ x: Int, _ y: Int) -> [Int]) {
        self.width = width
        self.height = height
        self.isWide = isWide
        samples = []
        for y in 0..<height {
            for x in 0..<width {
                let values = pixel(x, y)
                samples += values.map { UInt16($0) }
                if values.count == 3 { samples.append(isWide ? 65_535 : 255) }
            }
        }
    }

    /// The picture of Scripts/image_facts.py.
    static func formula(_ width: Int, _ height: Int) -> TestPicture {
        TestPicture(width: width, height: height) { x, y in
            (0..<3).map { c in
                let smooth = x * 3 + y * 2 + c * 40
                let rough = ((x / 5 + y / 7 + c) % 2) * 90 + (x * y) % 17 * 3
                return (smooth + rough) % 256
            }
        }
    }

    func code(_ x: Int, _ y: Int, _ channel: Int) -> Int { Int(samples[(y * width + x) * 4 + channel]) }

    /// The picture as a camera stores it that notes the orientation (Exif 2.32, tag 274).
    func stored(orientation: Int) -> TestPicture {
        let isTurned = orientation >= 5
        let (w, h) = isTurned ? (height, width) : (width, height)
        return TestPicture(width: w, height: h, isWide: isWide) { x, y in
            let (ux, uy) =
                switch orientation {
                case 2: (w - 1 - x, y)
                case 3: (w - 1 - x, h - 1 - y)
                case 4: (x, h - 1 - y)
                case 5: (y, x)
                case 6: (h - 1 - y, x)
                case 7: (h - 1 - y, w - 1 - x)
                case 8: (y, w - 1 - x)
                default: (x, y)
                }
            return (0..<4).map { code(ux, uy, $0) }
        }
    }

    func file(
        _ format: ImageFormat = .png, hasAlpha: Bool = false, orientation: Int = 1, icc: [UInt8]? = nil,
        quality: Int = 95
    ) throws -> [UInt8] {
        var metadata = ImageMetadata(icc: icc)
        if orientation != 1 {
            // A TIFF structure with one entry: tag 274, SHORT, one value.
            metadata.exif =
                [
                    0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0,
                    0, 0,
                ]
        }
        let layout: PixelLayout = isWide ? .rgba16 : hasAlpha ? .rgba8 : .rgbx8
        let encoder = try CodecRegistry.encoder(
            for: EncodeRequest(
                format: format, width: width, height: height, layout: layout, isOpaque: !hasAlpha, quality: quality,
                fullChroma: true, metadata: metadata))
        if isWide {
            try samples.withUnsafeBytes { bytes in
                try encoder.writeRows(
                    #require(bytes.baseAddress), strideBytes: width * layout.bytesPerPixel, count: height)
            }
        } else {
            try samples.map { UInt8($0) }.withUnsafeBytes { bytes in
                try encoder.writeRows(
                    #require(bytes.baseAddress), strideBytes: width * layout.bytesPerPixel, count: height)
            }
        }
        var file: [UInt8] = []
        try encoder.finish { file = Array($0) }
        return file
    }
}

extension ImageReader {
    func read(file: [UInt8], preset: ImagePreset, limits: DecodeLimits = DecodeLimits()) throws -> Result {
        try file.withUnsafeBytes { bytes in try read(bytes: bytes, preset: preset, limits: limits) }
    }
}
