import Glibc
import SystemText

/// One spelling for each file: from the root, without `.`, `..` and links, so that every way to write a command is the
/// same command.
enum CanonicalPath {
    /// A folder, which need not exist: links are resolved as far as there is something, the rest is taken as written.
    static func folder(_ path: String) -> String {
        var existing = components(absolute(path))
        var rest: [String] = []
        while true {
            let path = "/" + existing.joined(separator: "/")
            if let real = OutputFolderGuard.resolved(path) {
                // What is not there has no links, so `..` can be taken back by name.
                return "/" + rest.reduce(into: components(real)) { append($1, to: &$0) }.joined(separator: "/")
            }
            guard let last = existing.popLast() else { return absolute(path) }
            rest.insert(last, at: 0)
        }
    }

    /// An input: a folder without links; a file in such a folder under the name it was called by.
    static func input(_ path: String) -> String {
        let parts = components(absolute(path))
        var status = stat()
        let whole = "/" + parts.joined(separator: "/")
        let isFolder = stat(whole.systemBytes, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        guard let name = parts.last, name != "..", !isFolder else { return folder(path) }
        let parent = folder("/" + parts.dropLast().joined(separator: "/"))
        return parent == "/" ? "/" + name : parent + "/" + name
    }

    /// Whether a path is a folder itself or something below it. Both are canonical.
    static func isBelow(_ path: String, _ folder: String) -> Bool {
        guard path.utf8.starts(with: folder.utf8) else { return false }
        return folder == "/" || path.utf8.count == folder.utf8.count
            || path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
    }

    private static func absolute(_ path: String) -> String {
        path.utf8.first == UInt8(ascii: "/") ? path : (ProcessTexts.folder ?? "") + "/" + path
    }

    private static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
    }

    private static func append(_ part: String, to parts: inout [String]) {
        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
}
