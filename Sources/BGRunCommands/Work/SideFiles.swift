import Glibc
import ImageCodecs
import SystemText
import TaskStore

/// Files that workers read beside the inputs, such as a model, as they were when the job looked at them.
///
/// A worker may read them at any time of a job that lasts for days, and what it makes of another content is not of this job.
struct SideFiles {
    /// One of them is not what it was.
    struct Changed: Error, CustomStringConvertible {
        let path: String

        var description: String {
            "\(path) was changed while the job ran. Run the same command again: what was made with it is made anew."
        }
    }

    private struct Note {
        let identity: FileIdentity?
        let checksum: String?

        /// In this order a change between the two is found later.
        init(_ path: String) {
            identity = SideFiles.identity(path)
            checksum = Checksum.xxh3(ofFile: path)
        }
    }

    private var notes: [String: Note] = [:]

    /// Notes how a file is.
    ///
    /// - Returns: XXH3-128 of its bytes, hexadecimal; nil where it cannot be read.
    mutating func note(_ path: String) -> String? {
        let note = Note(path)
        notes[path] = note
        return note.checksum
    }

    /// Looks at all files again; only the content of one that was written to is read.
    ///
    /// - Throws: ``Changed`` where one has another content, or is gone.
    mutating func check() throws(Changed) {
        for (path, before) in notes where Self.identity(path) != before.identity {
            let now = Note(path)
            guard now.checksum == before.checksum else { throw Changed(path: path) }
            notes[path] = now
        }
    }

    private static func identity(_ path: String) -> FileIdentity? {
        var status = stat()
        return stat(path.systemBytes, &status) == 0 ? FileIdentity(status) : nil
    }
}
