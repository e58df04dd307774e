import Glibc
import SystemText

/// A file below the output folder that several processes write, each its parts in their places, and that gets its final name
/// once all of them are there.
package final class PartedFile: Sendable {
    private let fd: Int32
    private let place: FileCalls.Name
    private let path: String
    private let calls: FileCalls

    /// Opens the file, and makes it and its folder where they are missing.
    ///
    /// - Parameters:
    ///   - path: Where it stands until it is committed.
    ///   - folder: Nothing is written outside it.
    ///   - calls: What to ask the system with.
    /// - Throws: ``ExportFailure`` with the system's reason, e.g. where something else than a file has that name.
    package init(path: String, in folder: OutputFolder, calls: FileCalls = .system) throws(ExportFailure) {
        let (parent, name) = try folder.place(of: path)
        // A pipe of that name must not hold us up.
        let fd = openat(parent, name.systemBytes, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
        var status = stat()
        var failure: ExportFailure?
        if fd < 0 || fstat(fd, &status) != 0 {
            failure = .output("cannot write \(path)")
        } else if status.st_mode & S_IFMT != S_IFREG || status.st_nlink != 1 {
            // What is written would be seen under another name of it.
            failure = ExportFailure("outputRefused", "\(path) is no file, or has another name; remove it")
        }
        if let failure {
            if fd >= 0 { close(fd) }
            close(parent)
            throw failure
        }
        self.fd = fd
        self.path = path
        self.calls = calls
        place = .init(folder: parent, name: name)
    }

    deinit {
        close(fd)
        close(place.folder)
    }

    /// Writes bytes at an offset. Several threads may do so at once.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(ExportFailure) {
        var done = 0
        while done < bytes.count {
            let count = calls.writeAt(fd, UnsafeRawBufferPointer(rebasing: bytes[done...]), offset + done)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .output("cannot write \(path)") }
            done += count
        }
    }

    /// Cuts off, or fills up with zeros, what lies behind an offset.
    package func end(at byteCount: Int) throws(ExportFailure) {
        while ftruncate(fd, off_t(byteCount)) != 0 {
            guard errno == EINTR else { throw .output("cannot write \(path)") }
        }
    }

    /// Flushes the data and gives the file its final name.
    ///
    /// - Parameters:
    ///   - final: That name's path, on the same volume.
    ///   - folder: The output folder.
    ///   - mayReplace: Whether a file that stands there already gives way; otherwise that is a failure.
    /// - Throws: ``ExportFailure`` with the system's reason; the file stands where it did then, and so does another one under
    ///   the final name.
    package func commit(
        as final: String, in folder: OutputFolder, mayReplace: Bool
    ) throws(ExportFailure) {
        guard calls.flush(fd) == 0 else { throw .output("cannot flush \(final)") }
        let (parent, name) = try folder.place(of: final)
        defer { close(parent) }
        try calls.rename(place, .init(folder: parent, name: name), final, mayReplace)
        // Where a link stood in for a rename, this name still stands.
        unlinkat(place.folder, place.name.systemBytes, 0)
    }
}
