import Foundation
import ImageCodecs

/// Camera-like photographs made from a seed: the same seed and size give the same files.
package enum SamplePhotos {
    /// One written file.
    package struct Photo: Sendable {
        package let path: String
        /// Stored size in pixels, before EXIF orientation.
        package let width: Int
        package let height: Int
        package let orientation: Int
        /// nil: no profile embedded.
        package let profile: CameraProfile?
        /// JPEG quality the file was written with.
        package let quality: Int
        package let bytes: Int

        package var bitsPerPixel: Double { Double(bytes * 8) / Double(width * height) }
    }

    /// The bits per pixel of camera files; ``write(count:width:height:seed:to:)`` looks for a quality that lands here.
    package static let usualBitsPerPixel = 2.0...3.0

    /// An upright scene: R, G, B and one unused byte (255) a pixel, row-major without padding.
    package static func pixels(seed: UInt64, width: Int, height: Int) -> [UInt8] {
        precondition(width > 0 && height > 0, "a picture has at least one pixel")
        let scene = SceneRenderer(Scene(seed: seed, width: width, height: height)).pixels()
        return Demosaic.apply(scene, width: width, height: height)
    }

    /// Writes `photo-0001.jpg` and so on: baseline 4:2:0 JPEGs with EXIF, most of them landscape.
    ///
    /// One in six has a wide-gamut profile, the others sRGB or none; some are stored turned, with the orientation tag
    /// that sets them upright.
    ///
    /// - Parameters:
    ///   - count: Number of files.
    ///   - width: Width of the landscape pictures; portraits swap it with `height`.
    ///   - height: Height of the landscape pictures.
    ///   - seed: Decides every pixel and tag.
    ///   - folder: Made when missing.
    ///   - onPhoto: Called after each file.
    /// - Throws: ``CodecError`` from the encoder, or a Foundation error when the folder cannot be written.
    /// - Returns: The files in the order of their names.
    @discardableResult
    package static func write(
        count: Int, width: Int, height: Int, seed: UInt64, to folder: String,
        onPhoto: (Photo) -> Void = { _ in }
    ) throws -> [Photo] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try (0..<count).map { index in
            let plan = PhotoPlan(index: index, width: width, height: height, seed: seed)
            let number = String(index + 1)
            let name = "photo-" + String(repeating: "0", count: max(0, 4 - number.count)) + number + ".jpg"
            let (bytes, quality) = try plan.encode()
            let path = folder + "/" + name
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let photo = Photo(
                path: path, width: plan.storedWidth, height: plan.storedHeight, orientation: plan.orientation,
                profile: plan.profile, quality: quality, bytes: bytes.count)
            onPhoto(photo)
            return photo
        }
    }
}
