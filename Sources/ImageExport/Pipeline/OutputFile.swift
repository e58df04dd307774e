import Glibc
import Locking
import SystemText

/// A file that stands under its final name whole, or not at all.
///
/// It is written without a name (`O_TMPFILE`), flushed, and linked in place. File systems without nameless files get a hidden
/// temporary name instead, `.bgrun-PID-N`, which goes away with this value; one that a killed process left is removed by
/// the next job into the folder.
package struct OutputFile: ~Copyable, Sendable {
    private let fd: Int32
    /// The folder that it appears in, for its place alone.
    private let folder: Int32
    private let name: String
    private let path: String
    private let calls: FileCalls
    /// Set where the file has a temporary name.
    private var temporaryName: String?

    /// Makes the folder of `path` where it is missing.
    ///
    /// - Parameters:
    ///   - path: The final path, absolute where a folder is given.
    ///   - folder: Nothing is written outside it; nil lets `path` lead anywhere.
    ///   - calls: What to ask the system with.
    /// - Throws: ``ExportFailure`` with the system's reason; nothing is left then but folders.
    package init(path: String, in folder: OutputFolder?, calls: FileCalls = .system) throws(ExportFailure) {
        let (parent, name) =
            if let folder { try folder.place(of: path) } else { try Self.anyFolder(of: path) }
        var fd = calls.openNameless(parent)
        var temporaryName: String?
        if fd < 0 && [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) {
            let hidden = Self.temporaryName()
            fd = calls.create(parent, hidden)
            temporaryName = hidden
        }
        guard fd >= 0 else {
            let failure = ExportFailure.output("cannot create a file for \(path)")
            close(parent)
            throw failure
        }
        self.path = path
        self.name = name
        self.folder = parent
        self.calls = calls
        self.fd = fd
        self.temporaryName = temporaryName
    }

    deinit {
        close(fd)
        if let temporaryName { unlinkat(folder, temporaryName.systemBytes, 0) }
        close(folder)
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(ExportFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = calls.write(fd, rest)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .output("cannot write \(path)") }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Flushes the data and gives the file its name.
    ///
    /// - Parameters:
    ///   - mayReplace: Whether a file that stands there already gives way; otherwise that is a failure.
    ///   - flushes: false leaves the data to the kernel: a crash of the machine can then leave the name without them.
    /// - Throws: ``ExportFailure`` with the system's reason; what stood under the final name, or nothing, still does.
    package consuming func commit(mayReplace: Bool, flushes: Bool = true) throws(ExportFailure) {
        guard !flushes || calls.flush(fd) == 0 else { throw .output("cannot flush \(path)") }
        if temporaryName == nil {
            if calls.name(fd, folder, name) == 0 { return }
            guard errno == EEXIST else { throw .output("cannot name \(path)") }
            guard mayReplace else { throw .outputExists(path) }
            // A link cannot replace; a rename can.
            let hidden = Self.temporaryName()
            guard calls.name(fd, folder, hidden) == 0 else { throw .output("cannot name \(path)") }
            temporaryName = hidden
        }
        guard let source = temporaryName else { return }
        try calls.rename(.init(folder: folder, name: source), .init(folder: folder, name: name), path, mayReplace)
        // Where a link stood in for a rename, the temporary name still stands, and goes away with this value.
    }

    /// Hidden names of files under way carry the process, so that leftovers of dead ones can be told apart.
    private static func temporaryName() -> String { ".bgrun-\(getpid())-\(UInt64.random(in: 0 ..< 1 << 48))" }

    private static func anyFolder(of path: String) throws(ExportFailure) -> (Int32, String) {
        let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = try OutputFolder.openAny(parent)
        return (descriptor, SystemFile.name(path))
    }
}

/// An ``OutputFile`` that can wait in a list for its commit, and be committed on another thread.
final class PendingFile: Sendable {
    private let file: Lock<OutputFile?>

    init(path: String, in folder: OutputFolder?) throws(ExportFailure) {
        file = Lock(try OutputFile(path: path, in: folder))
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(ExportFailure) {
        try file.withLock { file throws(ExportFailure) in try file?.write(bytes) }
    }

    func commit(mayReplace: Bool, flushes: Bool = true) throws(ExportFailure) {
        try file.withLock { file throws(ExportFailure) in
            try file.take()?.commit(mayReplace: mayReplace, flushes: flushes)
        }
    }
}
