import CProcess
import Glibc
import SystemText

/// The folder that was chosen for the outputs of a job, opened once and then known by its descriptor.
///
/// Everything below it is reached by `openat2` with `RESOLVE_BENEATH`: whatever is put in the way meanwhile, nothing is
/// written outside. Relative links that stay inside are followed, as somebody arranged it so; a link with an absolute
/// path is refused even where it leads back, because what it means can change without the folder. Kernels before Linux
/// 5.6 and containers that hide the call get one `openat` a level, which follows no link at all.
package final class OutputFolder: Sendable {
    package let path: String
    /// Open for its place alone, which is enough for the calls that take a folder.
    package let descriptor: Int32
    private let identity: Place
    private let followsLinks: Bool

    private struct Place: Equatable {
        var device: UInt
        var inode: UInt

        init(_ status: stat) {
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
        }
    }

    /// Opens a folder, and makes it and those above it where they are missing; no link is followed on the way.
    ///
    /// - Parameters:
    ///   - path: Absolute and without links, so that one that took the place of a part of it shows.
    ///   - making: Whether to make what is missing.
    ///   - followsLinks: false asks for the stricter walk of older kernels.
    /// - Throws: ``ExportFailure`` with the system's reason.
    package convenience init(
        path: String, making: Bool = true, followsLinks: Bool = true
    ) throws(ExportFailure) {
        var fd = Glibc.open("/", Self.placeFlags)
        var reached = ""
        for part in path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init) where fd >= 0 {
            reached += "/\(part)"
            fd = Self.step(from: fd, to: String(part), making: making)
        }
        guard fd >= 0 else {
            guard errno != EXDEV else {
                throw ExportFailure(
                    "outputRefused", "cannot open the output folder \(path): \(reached) was replaced by a link")
            }
            throw .output(making ? "cannot make the output folder \(path)" : "cannot open the output folder \(path)")
        }
        try self.init(path: path, adopting: fd, followsLinks: followsLinks)
    }

    /// Takes over a folder that another process opened.
    ///
    /// - Throws: ``ExportFailure`` where the descriptor is none.
    package init(path: String, adopting descriptor: Int32, followsLinks: Bool = true) throws(ExportFailure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .output("cannot use the output folder \(path)") }
        self.path = path
        self.descriptor = descriptor
        self.followsLinks = followsLinks
        identity = Place(status)
    }

    deinit { close(descriptor) }

    /// Opens the folder of an output for its place alone, and makes it where it is missing.
    ///
    /// - Returns: A descriptor, which belongs to the caller, and the output's name in that folder.
    /// - Throws: ``ExportFailure`` with the path of what is in the way.
    func place(of output: String) throws(ExportFailure) -> (descriptor: Int32, name: String) {
        guard let parts = parts(of: output), let name = parts.last else {
            throw ExportFailure("outputRefused", "\(output) is not a path below the output folder")
        }
        guard isInPlace else {
            throw ExportFailure("outputFailed", "the output folder \(path) was moved, removed or unmounted")
        }
        return (try open(parts.dropLast()), name)
    }

    /// The first part of a folder's absolute path that leads out of this one; nil when there is none, or nothing yet.
    package func violation(inPath folder: String) -> String? {
        guard let parts = parts(of: folder) else { return folder == path ? nil : folder }
        return firstWayOut(parts)
    }

    /// Whether the chosen path still names this folder.
    private var isInPlace: Bool {
        var status = stat()
        return stat(path.systemBytes, &status) == 0 && Place(status) == identity
    }

    /// Names from this folder to a path below it; nil for any other path.
    private func parts(of path: String) -> [String]? {
        let prefix = self.path == "/" ? "/" : self.path + "/"
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        let parts = path.utf8.dropFirst(prefix.utf8.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        return parts.contains { ["", ".", ".."].contains($0) } ? nil : parts
    }

    private func open(_ parts: ArraySlice<String>) throws(ExportFailure) -> Int32 {
        let fd = beneath(parts)
        if fd >= 0 { return fd }
        guard errno == ENOENT else { throw refusal(parts) }
        var parent = beneath([])
        for end in parts.indices {
            let prefix = parts[...end]
            var next = beneath(prefix)
            if next < 0 && errno == ENOENT {
                guard mkdirat(parent, parts[end].systemBytes, 0o777) == 0 || errno == EEXIST else {
                    let failure = ExportFailure.output("cannot create \(shown(prefix))")
                    close(parent)
                    throw failure
                }
                next = beneath(prefix)
            }
            let reason = errno
            close(parent)
            errno = reason
            guard next >= 0 else { throw refusal(prefix) }
            parent = next
        }
        return parent
    }

    /// Opens a folder below this one; -1 and `errno` as usual, with EXDEV where it leads out.
    private func beneath(_ parts: ArraySlice<String>) -> Int32 {
        guard !parts.isEmpty else { return openat(descriptor, ".", Self.placeFlags) }
        if followsLinks {
            let resolve = UInt32(BG_RESOLVE_BENEATH | BG_RESOLVE_NO_MAGICLINKS)
            for _ in 0..<Self.maxAttempts {
                let fd = bg_openat2(descriptor, parts.joined(separator: "/").systemBytes, Self.placeFlags, 0, resolve)
                if fd >= 0 { return fd }
                // EPERM is the answer of a container's filter.
                if [ENOSYS, EPERM].contains(errno) { break }
                guard errno == EAGAIN else { return -1 }
            }
        }
        return level(by: parts)
    }

    /// One level at a time, no link followed: EXDEV where there is one.
    private func level(by parts: ArraySlice<String>) -> Int32 {
        var fd = openat(descriptor, ".", Self.placeFlags)
        for part in parts where fd >= 0 { fd = Self.step(from: fd, to: part, making: false) }
        return fd
    }

    /// Opens a folder in a folder, which is closed; -1 and `errno` as usual, with EXDEV where there is a link instead.
    private static func step(from folder: Int32, to name: String, making: Bool) -> Int32 {
        let flags = placeFlags | O_NOFOLLOW
        var next = openat(folder, name.systemBytes, flags)
        if next < 0, making, errno == ENOENT, mkdirat(folder, name.systemBytes, 0o777) == 0 || errno == EEXIST {
            next = openat(folder, name.systemBytes, flags)
        }
        var reason = errno
        var status = stat()
        if next < 0, fstatat(folder, name.systemBytes, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFLNK
        {
            reason = EXDEV
        }
        close(folder)
        errno = reason
        return next
    }

    private static let placeFlags = bg_o_path | O_DIRECTORY | O_CLOEXEC

    private func refusal(_ parts: ArraySlice<String>) -> ExportFailure {
        let failure = ExportFailure.output("cannot open \(shown(parts))")
        guard let wayOut = firstWayOut(Array(parts)) else { return failure }
        return ExportFailure(
            "outputRefused",
            "\(wayOut) is a link that leads out of the output folder; only relative links that stay inside are followed"
        )
    }

    private func firstWayOut(_ parts: [String]) -> String? {
        for end in parts.indices {
            let fd = beneath(parts[...end])
            if fd >= 0 {
                close(fd)
            } else if [EXDEV, ELOOP].contains(errno) {
                return shown(parts[...end])
            }
        }
        return nil
    }

    private func shown(_ parts: ArraySlice<String>) -> String { ([path] + parts).joined(separator: "/") }

    /// A rename nearby makes the kernel give up; it is not that something is always renamed.
    private static let maxAttempts = 16

    /// Opens a folder that no job has chosen, wherever its path leads, and makes it where it is missing.
    static func openAny(_ folder: String) throws(ExportFailure) -> Int32 {
        try make(folder)
        let fd = Glibc.open(folder.systemBytes, placeFlags)
        guard fd >= 0 else { throw .output("cannot open \(folder)") }
        return fd
    }

    private static func make(_ folder: String) throws(ExportFailure) {
        if access(folder.systemBytes, F_OK) == 0 { return }
        let cut = folder.utf8.lastIndex(of: UInt8(ascii: "/")) ?? folder.startIndex
        if cut > folder.startIndex { try make(String(folder[..<cut])) }
        guard mkdir(folder.systemBytes, 0o777) == 0 || errno == EEXIST else { throw .output("cannot create \(folder)") }
    }
}

extension ExportFailure {
    /// A failed call about an output, with the reason in `errno`.
    static func output(_ what: String) -> ExportFailure {
        let reason = errno
        return ExportFailure(outputCode(reason), "\(what): \(String(cString: strerror(reason)))")
    }

    /// Tells what lies with one path from what lies with the volume.
    static func outputCode(_ reason: Int32) -> String {
        switch reason {
        case ENOSPC, EDQUOT: "diskFull"
        case EACCES, EPERM, ENAMETOOLONG, ENOTDIR, ENOENT, EISDIR, ELOOP, EXDEV: "outputRefused"
        default: "outputFailed"
        }
    }
}
