import CProcess
import Glibc
import SystemText

/// The system calls that bring a file into being, so that a test can let each of them fail. They set `errno` as usual.
package struct FileCalls: Sendable {
    /// Opens a nameless file in a folder for writing.
    package var openNameless: @Sendable (_ folder: Int32) -> Int32
    /// Makes a file of a new name in a folder.
    package var create: @Sendable (_ folder: Int32, _ name: String) -> Int32
    package var write: @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int
    package var writeAt: @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int
    package var flush: @Sendable (_ file: Int32) -> Int32
    /// Gives a nameless file a new name.
    package var name: @Sendable (_ file: Int32, _ folder: Int32, _ name: String) -> Int32
    /// Gives a file another name that nothing has.
    package var move: @Sendable (_ from: Name, _ to: Name) -> Int32
    /// Gives a file another name; what has it gives way.
    package var replace: @Sendable (_ from: Name, _ to: Name) -> Int32

    /// A name in a folder that is open.
    package struct Name: Sendable {
        package var folder: Int32
        package var name: String
    }

    package static let system = FileCalls(
        openNameless: { folder in openat(folder, ".", bg_o_nameless | O_WRONLY | O_CLOEXEC, 0o666) },
        create: { folder, name in
            openat(folder, name.systemBytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        },
        write: { file, bytes in Glibc.write(file, bytes.baseAddress, bytes.count) },
        writeAt: { file, bytes, offset in pwrite(file, bytes.baseAddress, bytes.count, off_t(offset)) },
        flush: { file in fdatasync(file) },
        name: { file, folder, name in
            linkat(AT_FDCWD, "/proc/self/fd/\(file)", folder, name.systemBytes, AT_SYMLINK_FOLLOW)
        },
        move: moveUnlessExists,
        replace: { from, to in renameat(from.folder, from.name.systemBytes, to.folder, to.name.systemBytes) })

    private static let moveUnlessExists: @Sendable (Name, Name) -> Int32 = { from, to in
        let (old, new) = (from.name.systemBytes, to.name.systemBytes)
        if bg_rename(from.folder, old, to.folder, new, UInt32(BG_RENAME_NOREPLACE)) == 0 { return 0 }
        guard [EINVAL, ENOSYS].contains(errno) else { return -1 }
        // A file system without that rename, e.g. NFS, has links; the first name is taken away by its owner.
        return linkat(from.folder, old, to.folder, new, 0)
    }

    /// Gives a file its final name in place of another one.
    func rename(_ from: Name, _ to: Name, _ path: String, _ mayReplace: Bool) throws(ExportFailure) {
        guard (mayReplace ? replace : move)(from, to) != 0 else { return }
        throw !mayReplace && errno == EEXIST ? .outputExists(path) : .output("cannot name \(path)")
    }
}

extension ExportFailure {
    static func outputExists(_ path: String) -> ExportFailure {
        ExportFailure("outputExists", "\(path) exists already")
    }
}
