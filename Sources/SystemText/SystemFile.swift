import Glibc

/// Files and folders by names that may be no UTF-8.
package enum SystemFile {
    /// All of a file's bytes.
    ///
    /// - Returns: nil where it cannot be read, with the reason in `errno`.
    package static func contents(_ path: String) -> [UInt8]? {
        let file = open(path.systemBytes, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        var bytes: [UInt8] = []
        var piece = max(Int(status.st_size) + 1, 4096)
        while true {
            let before = bytes.count
            bytes.append(contentsOf: repeatElement(0, count: piece))
            let count = bytes.withUnsafeMutableBytes { room in
                read(file, room.baseAddress.map { $0 + before }, piece)
            }
            bytes.removeLast(piece - max(count, 0))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return bytes }
            piece = 64 << 10
        }
    }

    /// Calls a body with all of a file's bytes, which are not read before they are looked at.
    ///
    /// - Returns: nil where it cannot be read.
    package static func withMappedBytes<Result>(_ path: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let file = open(path.systemBytes, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let count = Int(status.st_size)
        guard count > 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard let map = mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0), map != MAP_FAILED else { return nil }
        defer { munmap(map, count) }
        return body(UnsafeRawBufferPointer(start: map, count: count))
    }

    /// Whether something is there. Links are followed.
    package static func exists(_ path: String) -> Bool { access(path.systemBytes, F_OK) == 0 }

    /// Names in a folder, in order of their bytes, without `.` and `..`; nil where it cannot be read.
    package static func names(in folder: String) -> [String]? {
        guard let stream = opendir(folder.systemBytes) else { return nil }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { String(system: $0) }
    }

    /// Where a link leads; nil for what is none.
    package static func target(ofLink path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(path.systemBytes, &buffer, Int(PATH_MAX))
        return count > 0 ? String(system: buffer[..<count].map { UInt8(bitPattern: $0) }) : nil
    }

    /// The path of the folder that something lies in, by its name.
    package static func parent(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of a path.
    package static func name(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }
}
