import Glibc

/// Free space where outputs go (rule 50).
package struct VolumeReader: Sendable {
    /// Bytes that this user may still write to the volume of a folder; nil when that cannot be told.
    package typealias FreeBytes = @Sendable (_ folder: String) -> Int?

    let freeBytes: FreeBytes

    /// The volume with least room.
    func read(_ folders: [String]) -> Reading<Int> {
        guard !folders.isEmpty else { return .unknown("no output folder is known") }
        let rooms = folders.compactMap { folder in freeBytes(folder).map { (folder: folder, bytes: $0) } }
        guard let least = rooms.min(by: { $0.bytes < $1.bytes }) else {
            return .unknown("the volume of \(folders[0]) does not tell its room")
        }
        return .known(max(0, least.bytes), source: least.folder)
    }

    /// Asks the file system, which has half a second to answer. A folder that is yet to be made counts as its nearest
    /// parent.
    package static let fileSystem: FreeBytes = VolumeQuestions(asked).freeBytes

    /// Blocks for as long as the volume does.
    private static let asked: FreeBytes = { folder in
        var path = folder.isEmpty ? "." : folder
        var status = Glibc.statvfs()
        while statvfs(path, &status) != 0 {
            guard errno == ENOENT, path != "/", path != "." else { return nil }
            var parent = path[...]
            while parent.count > 1, parent.last == "/" { parent.removeLast() }
            while let last = parent.last, last != "/" { parent.removeLast() }
            while parent.count > 1, parent.last == "/" { parent.removeLast() }
            path = parent.isEmpty ? "." : String(parent)
        }
        return Numeral.product(Int(clamping: status.f_bavail), Int(clamping: status.f_frsize))
    }
}
