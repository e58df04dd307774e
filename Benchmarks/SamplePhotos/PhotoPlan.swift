import Foundation
import ImageCodecs
import SeededNumbers

/// Everything about one file of a set that is not its scene: how it is held, tagged and compressed.
struct PhotoPlan {
    private static let cameras = [
        ("Halden Optical", "HO-24", "HO 24-70mm F2.8"), ("Norrvik", "N6 Mark II", "Norrvik 35mm F1.4"),
        ("Tamarack", "Field 3", "TK 18-55mm F3.5-5.6"), ("Orbis Mobile", "Orbis 9 Pro", "back camera 6.8mm f/1.8"),
    ]
    /// How the camera was held, by place in the set.
    private static let orientations = [1, 1, 1, 6, 1, 1, 8, 1, 1, 3, 1, 1]

    let sceneSeed: UInt64
    let uprightWidth: Int
    let uprightHeight: Int
    let orientation: Int
    let profile: CameraProfile?
    private let exif: PhotoExif
    private let hasThumbnail: Bool

    var storedWidth: Int { orientation >= 5 ? uprightHeight : uprightWidth }
    var storedHeight: Int { orientation >= 5 ? uprightWidth : uprightHeight }

    init(index: Int, width: Int, height: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ UInt64(index) &* 0xD1B5_4A32_D192_ED03)
        sceneSeed = random.next()
        orientation = Self.orientations[index % Self.orientations.count]
        // Turned files and one in twelve of the others show an upright picture.
        let isPortrait = orientation >= 5 || index % 12 == 10
        (uprightWidth, uprightHeight) = isPortrait ? (height, width) : (width, height)
        profile =
            switch index % 6 {
            case 1: index % 12 < 6 ? .displayP3 : .adobeRGB
            case 3: nil
            case 5: index % 12 < 6 ? nil : .srgb
            default: .srgb
            }
        hasThumbnail = index % 4 != 2
        let camera = Self.cameras[random.integer(0...(Self.cameras.count - 1))]
        let minute = random.integer(0...59)
        let turned = orientation >= 5
        exif = PhotoExif(
            make: camera.0, model: camera.1, lens: camera.2,
            dateTime: "2026:0\(random.integer(1...9)):\(random.integer(10...28)) 1\(random.integer(0...9)):"
                + "\(minute < 10 ? "0" : "")\(minute):\(random.integer(10...59))",
            orientation: orientation, width: turned ? uprightHeight : uprightWidth,
            height: turned ? uprightWidth : uprightHeight, shutter: [60, 125, 250, 500, 1000][random.integer(0...4)],
            aperture: [18, 28, 40, 56, 80][random.integer(0...4)], iso: [100, 200, 400, 800][random.integer(0...3)],
            focalLength: random.integer(24...85), isSRGB: profile == nil || profile == .srgb,
            position: random.happens(0.6)
                ? (Double(random.uniform(-55...65)), Double(random.uniform(-179...179))) : nil,
            thumbnail: nil)
    }

    /// The file's bytes and the quality that brought them near the usual size.
    func encode() throws -> (bytes: [UInt8], quality: Int) {
        let upright = SamplePhotos.pixels(seed: sceneSeed, width: uprightWidth, height: uprightHeight)
        let stored =
            orientation == 1
            ? upright : Self.turn(upright, width: uprightWidth, height: uprightHeight, orientation: orientation)
        var exif = exif
        if hasThumbnail { exif.thumbnail = try thumbnail(of: stored) }
        let metadata = ImageMetadata(exif: exif.block(), icc: profile?.data())

        let usual = SamplePhotos.usualBitsPerPixel
        let pixels = Double(storedWidth * storedHeight)
        var quality = 93
        var bytes = try jpeg(stored, storedWidth, storedHeight, quality: quality, metadata)
        while true {
            let bitsPerPixel = Double(bytes.count * 8) / pixels
            let next =
                bitsPerPixel > usual.upperBound
                ? quality - 2 : bitsPerPixel < usual.lowerBound ? quality + 1 : quality
            guard next != quality, (88...98).contains(next) else { return (bytes, quality) }
            // Turning back would go in circles: keep the larger file.
            if bitsPerPixel < usual.lowerBound && quality < 93 { return (bytes, quality) }
            quality = next
            bytes = try jpeg(stored, storedWidth, storedHeight, quality: quality, metadata)
        }
    }

    private func jpeg(
        _ pixels: [UInt8], _ width: Int, _ height: Int, quality: Int, _ metadata: ImageMetadata
    ) throws -> [UInt8] {
        let encoder = try CodecRegistry.encoder(
            for: EncodeRequest(
                format: .jpeg, width: width, height: height, layout: .rgbx8, quality: quality, metadata: metadata))
        try pixels.withUnsafeBytes { rows in
            guard let start = rows.baseAddress else { return }
            try encoder.writeRows(start, strideBytes: width * 4, count: height)
        }
        var bytes: [UInt8] = []
        try encoder.finish { bytes = Array($0) }
        return bytes
    }

    /// Every n-th pixel is enough for a preview that programs ought to drop.
    private func thumbnail(of stored: [UInt8]) throws -> [UInt8] {
        let step = max(1, max(storedWidth, storedHeight) / 160)
        let (width, height) = (max(1, storedWidth / step), max(1, storedHeight / step))
        var small: [UInt8] = []
        small.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                let offset = (y * step * storedWidth + x * step) * 4
                small += stored[offset..<(offset + 4)]
            }
        }
        return try jpeg(small, width, height, quality: 75, ImageMetadata())
    }

    /// Turns upright pixels so that a viewer that follows the orientation tag shows them upright again.
    static func turn(_ upright: [UInt8], width: Int, height: Int, orientation: Int) -> [UInt8] {
        let swaps = orientation >= 5
        let (storedWidth, storedHeight) = swaps ? (height, width) : (width, height)
        return [UInt8](unsafeUninitializedCapacity: upright.count) { bytes, count in
            count = upright.count
            upright.withUnsafeBytes { source in
                let target = UnsafeMutableRawBufferPointer(bytes)
                // Blocks keep both pictures' rows in the cache.
                for blockY in stride(from: 0, to: storedHeight, by: 32) {
                    for blockX in stride(from: 0, to: storedWidth, by: 32) {
                        for y in blockY..<min(blockY + 32, storedHeight) {
                            for x in blockX..<min(blockX + 32, storedWidth) {
                                let (fromX, fromY) = uprightPlace(x, y, width, height, orientation)
                                let pixel = source.loadUnaligned(
                                    fromByteOffset: (fromY * width + fromX) * 4, as: UInt32.self)
                                target.storeBytes(
                                    of: pixel, toByteOffset: (y * storedWidth + x) * 4, as: UInt32.self)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Where the stored pixel (x, y) lies in the upright picture (EXIF 2.32, tag 274).
    @inline(__always)
    private static func uprightPlace(
        _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ orientation: Int
    ) -> (Int, Int) {
        switch orientation {
        case 2: (width - 1 - x, y)
        case 3: (width - 1 - x, height - 1 - y)
        case 4: (x, height - 1 - y)
        case 5: (y, x)
        case 6: (width - 1 - y, x)
        case 7: (width - 1 - y, height - 1 - x)
        case 8: (y, height - 1 - x)
        default: (x, y)
        }
    }
}
