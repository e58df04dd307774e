package import TaskStore

/// Files that were listed. Each takes forty bytes and its name, of a million as of one: a path is made when it is asked
/// for.
package struct InputFiles: RandomAccessCollection, Sendable {
    private struct Row: Sendable {
        var inode: UInt64
        var size: Int64
        var modified: Int64
        /// Where its name ends among all names; it begins where that of the row before ends.
        var nameEnd: UInt32
        var folder: UInt32
        var device: UInt32
        var isNamed: Bool
    }

    private struct Folder: Sendable {
        /// What stands before the names of its files in their paths.
        var prefix: String
        /// As ``InputFile/folder``.
        var shown: String
    }

    private var rows: [Row] = []
    private var names: [UInt8] = []
    private var folders: [Folder] = []
    private var devices: [UInt64] = []

    package var startIndex: Int { 0 }
    package var endIndex: Int { rows.count }

    package subscript(place: Int) -> InputFile {
        let row = rows[place]
        let folder = folders[Int(row.folder)]
        let name = name(of: place)
        return InputFile(
            path: folder.prefix + name, folder: folder.shown, name: name, identity: identity(of: place),
            key: key(of: place), isNamed: row.isNamed)
    }

    package func name(of place: Int) -> String {
        let start = place == 0 ? 0 : Int(rows[place - 1].nameEnd)
        return String(decoding: names[start..<Int(rows[place].nameEnd)], as: UTF8.self)
    }

    package func path(of place: Int) -> String { folders[Int(rows[place].folder)].prefix + name(of: place) }

    package func identity(of place: Int) -> FileIdentity {
        FileIdentity(size: rows[place].size, modified: rows[place].modified)
    }

    package func key(of place: Int) -> FileKey {
        FileKey(device: devices[Int(rows[place].device)], inode: rows[place].inode)
    }

    package func isNamed(_ place: Int) -> Bool { rows[place].isNamed }

    /// Whether one of them is the file that a key is of.
    package func contains(_ key: FileKey) -> Bool { rows.indices.contains { self.key(of: $0) == key } }

    /// Adds a file to the end.
    package mutating func append(_ file: InputFile) {
        let prefix = String(file.path.utf8.dropLast(file.name.utf8.count)) ?? ""
        if folders.last?.prefix.utf8.elementsEqual(prefix.utf8) != true
            || folders.last?.shown.utf8.elementsEqual(file.folder.utf8) != true
        {
            folders.append(Folder(prefix: prefix, shown: file.folder))
        }
        if devices.last != file.key.device { devices.append(file.key.device) }
        names.append(contentsOf: file.name.utf8)
        precondition(names.count <= UInt32.max, "the names of all inputs take more than four gigabytes")
        rows.append(
            Row(
                inode: file.key.inode, size: file.identity.size, modified: file.identity.modified,
                nameEnd: UInt32(names.count), folder: UInt32(folders.count - 1), device: UInt32(devices.count - 1),
                isNamed: file.isNamed))
    }

    /// Bytes that they take here.
    package var byteCount: Int {
        rows.capacity * MemoryLayout<Row>.stride + names.capacity
            + folders.reduce(folders.capacity * MemoryLayout<Folder>.stride) {
                $0 + $1.prefix.utf8.count + $1.shown.utf8.count
            } + devices.capacity * MemoryLayout<UInt64>.stride
    }

    /// The files at some of the places, in their order.
    package func keeping(_ isKept: (Int) throws -> Bool) rethrows -> InputFiles {
        var kept = InputFiles()
        for place in indices where try isKept(place) { kept.append(self[place]) }
        return kept
    }
}
