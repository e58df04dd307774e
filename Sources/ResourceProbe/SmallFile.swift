import Glibc

/// Reads of small system files, with no more than a file's worth of trust.
enum SmallFile {
    private static let mostBytes = 1 << 20
    /// Most files fit, and memory for the largest would take longer to clear than a file takes to read.
    private static let bytesAtOnce = 16 << 10

    /// The first 1 MiB of a file; nil when it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count < mostBytes {
            let count = withUnsafeTemporaryAllocation(byteCount: bytesAtOnce, alignment: 1) { part in
                let count = Glibc.read(descriptor, part.baseAddress, min(part.count, mostBytes - bytes.count))
                bytes += part.prefix(max(count, 0))
                return count
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
        }
        return bytes
    }

    static func text(_ path: String) -> String? {
        read(path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Names in a folder, sorted; nil when it cannot be listed.
    static func names(in path: String) -> [String]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
