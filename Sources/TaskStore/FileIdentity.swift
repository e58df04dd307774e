package import Glibc

/// What tells that a file is still the one that was seen: cheap to read, changes with every write.
package struct FileIdentity: Hashable, Sendable {
    package var size: Int64
    /// Modification time in nanoseconds since 1970.
    package var modified: Int64

    package init(size: Int64, modified: Int64) {
        self.size = size
        self.modified = modified
    }

    package init(_ status: stat) {
        self.init(
            size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec))
    }
}
