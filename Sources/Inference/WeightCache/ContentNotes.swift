import Foundation
import Glibc
import OpenCLKit
import SystemText

/// The SHA-256 of files, and notes of it, so that a large one is read once for it.
///
/// A note holds for as long as the file has the same size and times. The time of the last change of a file's state is the
/// kernel's and cannot be set back; a file that was changed shortly before it was read gets no note, since a later change
/// may then have the same time.
struct ContentNotes: Sendable {
    /// What says that a file is still what it was.
    struct State: Hashable, Sendable {
        var device: UInt64
        var number: UInt64
        var byteCount: Int
        /// Nanoseconds since 1970: of the content, and of anything about the file.
        var contentTime: Int
        var stateTime: Int

        fileprivate init?(_ status: stat) {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            device = UInt64(status.st_dev)
            number = UInt64(status.st_ino)
            byteCount = Int(status.st_size)
            contentTime = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
            stateTime = status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec
        }

        /// Of the file at a path; nil where there is none.
        init?(_ path: String) {
            var status = stat()
            guard stat(path.systemBytes, &status) == 0 else { return nil }
            self.init(status)
        }

        fileprivate var text: String { "\(byteCount) \(contentTime) \(stateTime)" }
        fileprivate var name: String { "\(device)-\(number)" }
    }

    let folder: String
    /// A file that was not changed for so long is noted.
    let quiet: Duration
    private static let capacity = 256

    /// - Parameters:
    ///   - path: Of a file.
    ///   - most: A larger file that is not known is not read.
    /// - Returns: nil also where it cannot be read, or changes meanwhile.
    func content(of path: String, most: Int) -> (Digest, State)? {
        let descriptor = open(path.systemBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let state = Self.state(descriptor) else { return nil }
        if let known = known(state) { return (known, state) }
        guard state.byteCount <= most, let mapping = Mapping(descriptor) else { return nil }
        let time = Self.now
        let digest = Digest(mapping.bytes)
        guard Self.state(descriptor) == state else { return nil }
        if time - max(state.stateTime, state.contentTime) > Int(quiet / .nanoseconds(1)) { note(digest, state) }
        return (digest, state)
    }

    private static func state(_ descriptor: Int32) -> State? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? State(status) : nil
    }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private func known(_ state: State) -> Digest? {
        guard let text = try? String(contentsOfFile: "\(folder)/\(state.name)", encoding: .utf8),
            text.hasPrefix("\(state.text) ")
        else { return nil }
        return Digest(hexadecimal: text.dropFirst(state.text.utf8.count + 1))
    }

    private func note(_ digest: Digest, _ state: State) {
        guard CacheFolder.makeWritable(folder) else { return }
        // Written whole or not at all; without it the file is read again.
        try? Data("\(state.text) \(digest.hexadecimal)".utf8).write(
            to: URL(filePath: "\(folder)/\(state.name)"), options: .atomic)
    }

    func removeOldest() {
        let paths = CacheFolder.names(in: folder).map { "\(folder)/\($0)" }
        guard paths.count > Self.capacity else { return }
        let byAge = paths.sorted { CacheFolder.changeTime(of: $0) < CacheFolder.changeTime(of: $1) }
        for path in byAge.prefix(paths.count - Self.capacity) { unlink(path.systemBytes) }
    }
}
