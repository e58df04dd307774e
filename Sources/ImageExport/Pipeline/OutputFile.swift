import Glibc

/// A file that stands under its final name whole, or not at all.
///
/// It is written without a name (`O_TMPFILE`), flushed, and linked in place. File systems without nameless files get a hidden
/// temporary name instead, `.bgrun-PID-N`.
struct OutputFile: ~Copyable {
    private let fd: Int32
    private let folder: String
    private let path: String
    /// Set where the file has a temporary name.
    private var temporaryPath: String?

    /// Creates the folder of `path` when needed.
    init(path: String) throws(ExportFailure) {
        self.path = path
        let cut = path.lastIndex(of: "/") ?? path.startIndex
        folder = cut == path.startIndex ? (path.hasPrefix("/") ? "/" : ".") : String(path[..<cut])
        try makeFolders(folder)
        var fd = open(folder, namelessFile | O_WRONLY | O_CLOEXEC, 0o666)
        if fd < 0 && [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) {
            let name = temporaryName(in: folder)
            fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            temporaryPath = name
        }
        guard fd >= 0 else { throw Self.failure("cannot create a file in \(folder)") }
        self.fd = fd
    }

    deinit {
        close(fd)
        if let temporaryPath { unlink(temporaryPath) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(ExportFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let n = Glibc.write(fd, rest.baseAddress, rest.count)
            if n < 0 && errno == EINTR { continue }
            guard n > 0 else { throw Self.failure("cannot write") }
            rest = UnsafeRawBufferPointer(rebasing: rest[n...])
        }
    }

    /// Flushes the data and gives the file its name.
    ///
    /// - Parameter mayReplace: Whether a file that stands there already gives way; otherwise that is a failure.
    /// - Throws: ``ExportFailure`` with the system's reason; nothing stands under the final name then.
    consuming func commit(mayReplace: Bool) throws(ExportFailure) {
        guard fdatasync(fd) == 0 else { throw Self.failure("cannot flush") }
        var source = temporaryPath
        if source == nil {
            if linkNameless(to: path) { return }
            guard errno == EEXIST else { throw Self.failure("cannot name the file") }
            guard mayReplace else { throw ExportFailure("outputExists", "\(path) exists already") }
            // A link cannot replace; a rename can.
            let name = temporaryName(in: folder)
            guard linkNameless(to: name) else { throw Self.failure("cannot name the file") }
            source = name
        }
        guard let source else { return }
        temporaryPath = source
        if mayReplace {
            guard rename(source, path) == 0 else { throw Self.failure("cannot name the file") }
            temporaryPath = nil
        } else if link(source, path) != 0 {
            guard errno != EEXIST else { throw ExportFailure("outputExists", "\(path) exists already") }
            throw Self.failure("cannot name the file")
        }
    }

    private func linkNameless(to name: String) -> Bool {
        linkat(AT_FDCWD, "/proc/self/fd/\(fd)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
    }

    fileprivate static func failure(_ what: String) -> ExportFailure {
        let reason = String(cString: strerror(errno))
        // What lies with this one path, and what lies with the volume.
        let code =
            switch errno {
            case ENOSPC, EDQUOT: "diskFull"
            case EACCES, EPERM, ENAMETOOLONG, ENOTDIR, ENOENT, EISDIR, ELOOP: "outputRefused"
            default: "outputFailed"
            }
        return ExportFailure(code, "\(what): \(reason)")
    }
}

/// `O_TMPFILE` (asm-generic/fcntl.h), a macro that Swift does not import.
private let namelessFile = O_DIRECTORY | 0o20_000_000

/// Hidden names of files under way carry the process, so that leftovers of dead ones can be told apart.
private func temporaryName(in folder: String) -> String {
    "\(folder)/.bgrun-\(getpid())-\(UInt64.random(in: 0 ..< 1 << 48))"
}

private func makeFolders(_ folder: String) throws(ExportFailure) {
    if access(folder, F_OK) == 0 { return }
    let cut = folder.lastIndex(of: "/") ?? folder.startIndex
    if cut > folder.startIndex { try makeFolders(String(folder[..<cut])) }
    guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
        throw OutputFile.failure("cannot create \(folder)")
    }
}

/// An ``OutputFile`` that can wait in a list for its commit.
final class PendingFile {
    private var file: OutputFile?

    init(path: String) throws(ExportFailure) {
        file = try OutputFile(path: path)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(ExportFailure) {
        try file?.write(bytes)
    }

    func commit(mayReplace: Bool) throws(ExportFailure) {
        try file.take()?.commit(mayReplace: mayReplace)
    }
}
