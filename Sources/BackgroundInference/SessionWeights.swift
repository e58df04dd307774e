import Foundation
import Inference
import Locking
import SystemText

/// Weights of a session's model that were laid out before, and those that it lays out, kept for the next session.
///
/// The program that has a session is trusted with its own folder: unlike a job of `bgrun` it writes entries itself.
final class SessionWeights: Sendable {
    let laidOut: LaidOutWeights
    private let cache: WeightCache
    private let files: [String]
    /// Bytes of what was laid out here and is kept already.
    private let keptByteCount = Lock(0)

    /// Parts follow from the model's files alone; another of these numbers is for when they are made in another way.
    private static let version = "BackgroundInference 1"
    private let precision: String

    /// Nil where nothing can be written in the folder.
    ///
    /// - Parameters:
    ///   - folder: Of the program's caches.
    ///   - path: Of the model.
    ///   - model: As it was loaded.
    init?(folder: String, path: String, _ model: SessionModel) {
        guard let cache = WeightCache(folder: folder) else { return nil }
        self.cache = cache
        let place = SystemFile.parent(path)
        files = [path] + model.model.dataFiles.map { "\(place)/\($0)" }
        precision = model.precision == .bfloat16 ? "bf16" : "fp32"
        let key = cache.key(files: files, precision: precision, program: Self.version, readsAll: false)
        laidOut = LaidOutWeights(key.flatMap { cache.entry($0) })
    }

    /// Keeps what was laid out here, where that is worth it. Without it the next session lays out the same.
    func keep() {
        let made = laidOut.madeByteCount
        let isNew = keptByteCount.withLock { kept in
            guard made - kept >= WeightCache.fewestBytes else { return false }
            kept = made
            return true
        }
        guard isNew,
            let key = cache.key(files: files, precision: precision, program: Self.version, readsAll: true),
            let sheet = cache.sheet(for: key)
        else { return }
        defer { close(sheet) }
        if laidOut.write(to: sheet, key: key.digest, limit: key.limitBytes) != nil { cache.keep(sheet, as: key) }
    }
}
