import CWeightCache
import Glibc
import OneDNNKit
import OpenCLKit

/// Laid out weights on disk, by content: laying them out takes longer than everything else that a model is prepared with.
///
/// Entries are named by a SHA-256 of everything that decides their bytes. What reads or runs models of strangers writes
/// none under a name of its choice: a job's workers get entries open, for reading, and a new one is written by a process
/// that has seen the model and nothing else, into memory that the cache copies under the name that it has computed itself.
/// So a hostile model can have wrong weights kept for itself, and for no other; a hostile picture for none.
package struct WeightCache: Sendable {
    /// The folder of all entries.
    package let folder: String
    /// All entries together; of more, those go that were not used for longest.
    private let capacityBytes: Int
    /// An entry that is written while less than this would be left on the volume is given up.
    static let roomBytes = 1 << 30
    /// Models whose laid out weights take less are faster prepared than looked up.
    package static let fewestBytes = 1 << 20
    /// Files up to here are read for their key when a job begins; larger ones only after it.
    static let quicklyReadBytes = 16 << 20

    private let notes: ContentNotes

    /// - Parameters:
    ///   - folder: Of caches; nil where there is none that can be written.
    ///   - capacityBytes: Of all entries.
    ///   - quiet: How long a file has to be unchanged for its content to be noted.
    package init?(folder: String?, capacityBytes: Int = 2 << 30, quiet: Duration = .seconds(2)) {
        guard let folder, CacheFolder.makeWritable("\(folder)/weights") else { return nil }
        self.folder = "\(folder)/weights"
        self.capacityBytes = capacityBytes
        notes = ContentNotes(folder: "\(folder)/weights/contents", quiet: quiet)
    }

    /// What an entry is of.
    package struct Key: Hashable, Sendable {
        package let digest: Digest
        /// The most bytes that an entry may have: those of the files eight times, for layouts of two sizes of batches, each
        /// four times as large in Winograd's form, and what few channels or filters are filled up with.
        package let limitBytes: Int
        /// What the files were when they were read.
        fileprivate let files: [String: ContentNotes.State]
    }

    /// The key of a model.
    ///
    /// - Parameters:
    ///   - files: The model's, and those of the data beside it.
    ///   - precision: What convolutions and products take.
    ///   - program: Version of the program, whose passes decide how weights are taken.
    ///   - readsAll: Whether large files that are not known are read; SHA-256 takes about 0.1 s for 100 MB.
    /// - Returns: nil where a file cannot be read, or is large and not known.
    package func key(files: [String], precision: String, program: String, readsAll: Bool) -> Key? {
        guard let engine = try? CPUEngine() else { return nil }
        var texts = ["bgrun weights", program, engine.version, "\(engine.instructionSet)", precision]
        var states: [String: ContentNotes.State] = [:]
        var byteCount = 0
        for file in files {
            let most = readsAll ? Int.max : Self.quicklyReadBytes
            guard let (content, state) = notes.content(of: file, most: most) else { return nil }
            texts.append(content.hexadecimal)
            states[file] = state
            byteCount += state.byteCount
        }
        return Key(digest: Digest(of: texts), limitBytes: 8 * min(byteCount, 1 << 40) + 16 << 20, files: states)
    }

    /// An entry, open for reading, which is then the one used last.
    ///
    /// - Returns: A descriptor that the caller closes; nil where there is none.
    package func open(_ key: Key) -> Int32? {
        let descriptor = Glibc.open(path(key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        // Without it its place in the order of use is lost, and nothing else.
        _ = futimens(descriptor, nil)
        return descriptor
    }

    /// An entry in memory; nil where there is none, or a bad one.
    package func entry(_ key: Key) -> WeightEntry? {
        guard let descriptor = open(key) else { return nil }
        defer { close(descriptor) }
        return WeightEntry(descriptor: descriptor, key: key.digest)
    }

    /// Memory for a process to write an entry to, which can have no more than the key allows.
    ///
    /// - Returns: A descriptor that the caller closes; nil where the system has none.
    package func sheet(for key: Key) -> Int32? {
        let descriptor = bg_sheet_make(Int64(key.limitBytes))
        return descriptor >= 0 ? descriptor : nil
    }

    /// Keeps what was written to a sheet, whole or not at all, and nothing when the model's files have changed meanwhile.
    ///
    /// - Returns: Whether the entry stands.
    @discardableResult
    package func keep(_ sheet: Int32, as key: Key) -> Bool {
        guard bg_sheet_close(sheet) == 0, WeightEntry(descriptor: sheet, key: key.digest)?.isSound == true,
            key.files.allSatisfy({ ContentNotes.State($0.key) == $0.value })
        else { return false }
        var status = stat()
        guard fstat(sheet, &status) == 0, hasRoom(for: Int(status.st_size)) else { return false }
        let temporary = "\(path(key)).\(getpid()).tmp"
        let target = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard target >= 0 else { return false }
        var offset = off_t(0)
        while offset < status.st_size {
            let count = sendfile(target, sheet, &offset, Int(status.st_size - offset))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
        }
        // Not flushed: what a crash of the machine leaves of it is not sound, and is made anew.
        close(target)
        guard offset == status.st_size, rename(temporary, path(key)) == 0 else {
            unlink(temporary)
            return false
        }
        removeOldest()
        return true
    }

    private func hasRoom(for byteCount: Int) -> Bool {
        var volume = statvfs()
        guard byteCount <= capacityBytes, statvfs(folder, &volume) == 0 else { return false }
        return UInt64(volume.f_bavail) * UInt64(volume.f_frsize) >= UInt64(byteCount + Self.roomBytes)
    }

    private func path(_ key: Key) -> String { "\(folder)/\(key.digest.hexadecimal)" }

    // MARK: Bounds

    /// How much there is.
    package var size: (entries: Int, bytes: Int) {
        let entries = entries.filter(\.isEntry)
        return (entries.count, entries.reduce(0) { $0 + $1.byteCount })
    }

    private struct Entry {
        var path: String
        var isEntry: Bool
        var byteCount: Int
        /// Nanoseconds since 1970.
        var used: Int
    }

    /// Entries and what writers have left behind.
    private var entries: [Entry] {
        CacheFolder.names(in: folder).compactMap { name in
            let path = "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return Entry(
                path: path, isEntry: Digest(hexadecimal: name) != nil, byteCount: Int(status.st_size),
                used: CacheFolder.changeTime(of: path))
        }
    }

    private func removeOldest() {
        var rest = capacityBytes
        for entry in entries.sorted(by: { $0.used > $1.used }) {
            if entry.isEntry {
                rest -= entry.byteCount
                if rest < 0 { unlink(entry.path) }
            } else if !isBeingWritten(entry.path) {
                unlink(entry.path)
            }
        }
        notes.removeOldest()
    }

    /// Whether the process that its name has is there.
    private func isBeingWritten(_ path: String) -> Bool {
        let parts = path.split(separator: ".")
        guard parts.last == "tmp", let process = parts.dropLast().last.flatMap({ pid_t($0) }) else { return false }
        return process != getpid() && (kill(process, 0) == 0 || errno == EPERM)
    }
}
