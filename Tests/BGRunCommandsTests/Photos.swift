import Foundation
import Glibc
import SamplePhotos

/// Pictures that all tests share, made once, never changed, and kept for the next run.
enum Photos {
    static let count = 12

    /// Small ones, quick to export.
    static let small = Result { try make(width: 480, height: 320, seed: 11) }
    /// Large enough for an export to be met in the middle.
    static let large = Result { try make(width: 2400, height: 1600, seed: 12) }

    private static func make(width: Int, height: Int, seed: UInt64) throws -> [String] {
        let folder = NSTemporaryDirectory() + "bgrun-photos-\(getuid())-\(width)-\(seed)"
        let kept = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if kept.count == count { return kept.sorted().map { folder + "/" + $0 } }
        let own = folder + "-\(getpid())"
        try SamplePhotos.write(count: count, width: width, height: height, seed: seed, to: own)
        // In one step, so that nobody meets a half-filled folder.
        guard rename(own, folder) == 0 || errno == ENOTEMPTY || errno == EEXIST else {
            throw CocoaError(.fileWriteUnknown)
        }
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
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
