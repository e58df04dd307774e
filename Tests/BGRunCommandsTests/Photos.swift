import Foundation
import SamplePhotos

/// Pictures that all tests share, made once and never changed.
enum Photos {
    static let count = 12

    /// Small ones, quick to export.
    static let small = Result { try make(width: 480, height: 320, seed: 11) }
    /// Large enough for an export to be met in the middle.
    static let large = Result { try make(width: 2400, height: 1600, seed: 12) }

    private static func make(width: Int, height: Int, seed: UInt64) throws -> [String] {
        let folder = NSTemporaryDirectory() + "bgrun-photos-\(getpid())-\(seed)"
        return try SamplePhotos.write(count: count, width: width, height: height, seed: seed, to: folder).map(\.path)
    }
}

extension TestPlace {
    /// Puts small pictures named `photos/photo-0001.jpg` and so on into this folder.
    func putPhotos(_ count: Int = Photos.count, from photos: Result<[String], any Error> = Photos.small) throws {
        for photo in try photos.get().prefix(count) {
            try put(photo, at: "photos/" + (photo as NSString).lastPathComponent)
        }
    }
}
