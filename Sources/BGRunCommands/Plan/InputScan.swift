import Glibc
import SystemText
package import TaskStore

/// A file's place in its file system: equal for two names of one file.
package struct FileKey: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// nil where nothing is there. Links are followed.
    init?(ofFileAt path: String) {
        var status = stat()
        guard stat(path.systemBytes, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// One regular file that may be a picture; it was not opened.
package struct InputFile: Hashable, Sendable {
    package var path: String
    /// Folder below the one that was named; empty for a file at its top and for one that was named itself.
    package var folder: String
    package var name: String
    package var identity: FileIdentity
    package var key: FileKey
    /// It was named on the command line, so it has to be a picture.
    package var isNamed: Bool
}

/// A thing among the inputs that is not used, and why.
package struct InputProblem: Hashable, Sendable {
    var path: String
    /// `special`, `brokenLink`, `linkedFolder`, `unreadable` or `missing`.
    var code: String
    var reason: String
}

/// Lists the inputs: files as they are named, folders with everything below them in order of name.
///
/// Nothing is opened but folders. Hidden names are passed over. A link to a file counts as the file; below a named
/// folder, links to folders are not followed, so that a walk ends and stays where it was sent.
package struct InputScan {
    package private(set) var files = InputFiles()
    private(set) var problems: [InputProblem] = []
    /// Links to folders that were met and not followed.
    private(set) var linkedFolders: [InputProblem] = []
    /// Named inputs that do not exist.
    private(set) var missing: [InputProblem] = []
    /// The inputs as they were named.
    let roots: [String]
    /// Folders not to be walked where they are met below an input: the output folder. One that is named as an input
    /// is walked.
    private let excluded: Set<FileKey>
    private var walked: Set<FileKey> = []
    /// Files that could be met again: one folder alone is walked once, and has no two of one name.
    private var seen: PlaceTable?
    private let shouldStop: () -> Bool

    package init(_ inputs: [String], excluding outputFolder: String, shouldStop: @escaping () -> Bool = { false }) {
        var status = stat()
        excluded = stat(outputFolder.systemBytes, &status) == 0 ? [FileKey(status)] : []
        self.shouldStop = shouldStop
        roots = inputs
        seen = inputs.count > 1 ? PlaceTable() : nil
        for input in inputs {
            add(named: input)
        }
    }

    private mutating func add(named path: String) {
        var status = stat()
        guard stat(path.systemBytes, &status) == 0 else {
            let reason = errno == ENOENT ? "it does not exist" : Self.lastError()
            missing.append(InputProblem(path: path, code: "missing", reason: reason))
            return
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            walk(path, folder: "", status, isNamed: true)
        } else {
            add(path, folder: "", status, isNamed: true)
        }
    }

    private mutating func walk(_ path: String, folder: String, _ status: stat, isNamed: Bool = false) {
        // A folder that was met before is a loop (a bind mount) or was named twice.
        guard isNamed || !excluded.contains(FileKey(status)), walked.insert(FileKey(status)).inserted, !shouldStop()
        else { return }
        guard let names = Self.names(in: path) else {
            problems.append(InputProblem(path: path, code: "unreadable", reason: Self.lastError()))
            return
        }
        for name in names {
            let child = path.utf8.last == UInt8(ascii: "/") ? path + name : path + "/" + name
            var status = stat()
            guard lstat(child.systemBytes, &status) == 0 else {
                problems.append(InputProblem(path: child, code: "unreadable", reason: Self.lastError()))
                continue
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                walk(child, folder: folder.isEmpty ? name : folder + "/" + name, status)
            case S_IFLNK:
                addLink(child, folder: folder)
            default:
                add(child, folder: folder, status, isNamed: false)
            }
        }
    }

    private mutating func addLink(_ path: String, folder: String) {
        var target = stat()
        guard stat(path.systemBytes, &target) == 0 else {
            let reason =
                switch errno {
                case ELOOP: "the link leads back to itself"
                case ENOENT, ENOTDIR: "the link leads nowhere"
                default: Self.lastError()
                }
            problems.append(InputProblem(path: path, code: "brokenLink", reason: reason))
            return
        }
        if target.st_mode & S_IFMT == S_IFDIR {
            linkedFolders.append(
                InputProblem(
                    path: path, code: "linkedFolder",
                    reason: "a link to a folder is not followed; name the folder itself to export what is in it"))
        } else {
            add(path, folder: folder, target, isNamed: false)
        }
    }

    private mutating func add(_ path: String, folder: String, _ status: stat, isNamed: Bool) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            problems.append(
                InputProblem(path: path, code: "special", reason: "it is a \(Self.kind(status)), which is never opened")
            )
            return
        }
        let name = SystemFile.name(path)
        let file = InputFile(
            path: path, folder: folder, name: name, identity: FileIdentity(status), key: FileKey(status),
            isNamed: isNamed)
        if Self.isNew(file, among: files, &seen) { files.append(file) }
    }

    private static func isNew(_ file: InputFile, among files: InputFiles, _ seen: inout PlaceTable?) -> Bool {
        let hash = PlaceTable.hash(file.folder + "/" + file.name) ^ file.key.hashValue
        let other = seen?.insert(files.count, hash: hash) { place in
            let other = files[place]
            return other.key == file.key && PathKey(other.folder) == PathKey(file.folder)
                && PathKey(other.name) == PathKey(file.name)
        }
        return other == nil
    }

    /// Names in a folder that are not hidden, in order of their bytes; nil when it cannot be read.
    private static func names(in path: String) -> [String]? {
        SystemFile.names(in: path)?.filter { $0.utf8.first != UInt8(ascii: ".") }
    }

    /// What a thing is that is no file, in a word.
    static func kind(_ status: stat) -> String {
        switch status.st_mode & S_IFMT {
        case S_IFDIR: "folder"
        case S_IFIFO: "pipe"
        case S_IFSOCK: "socket"
        case S_IFCHR, S_IFBLK: "device"
        default: "special file"
        }
    }

    private static func lastError() -> String { String(cString: strerror(errno)) }
}
