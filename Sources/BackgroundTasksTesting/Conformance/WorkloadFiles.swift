import Foundation

/// The files below a folder, for comparing them.
struct WorkloadFiles: Equatable {
    /// Path below the folder; contents of nil could not be read.
    private(set) var contents: [String: Data?] = [:]

    /// Files that go away meanwhile are not there.
    init(of folder: URL) {
        let root = folder.path(percentEncoded: false)
        guard let paths = try? FileManager.default.subpathsOfDirectory(atPath: root) else { return }
        for path in paths {
            let file = folder.appending(path: path)
            var isFolder = ObjCBool(false)
            guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false), isDirectory: &isFolder),
                !isFolder.boolValue
            else { continue }
            contents[path] = .some(try? Data(contentsOf: file))
        }
    }

    var names: [String] { contents.keys.sorted() }

    /// Files that are not as in the other folder, those included that are missing here.
    func differing(from other: WorkloadFiles) -> [String] {
        Set(names).union(other.names).sorted().filter { contents[$0] != other.contents[$0] }
    }

    /// Writes them below another folder.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (path, data) in contents {
            guard let data else { continue }
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
    }
}
