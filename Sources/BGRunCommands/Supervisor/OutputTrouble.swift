package import ChunkedCompute
import Glibc
import SystemText

/// Tells a bad item from an output volume that takes nothing any more, so that a job stops at once instead of failing
/// ten thousand times.
package struct OutputTrouble {
    /// Failures to write in a row that mean the volume and not the items.
    private static let maxInRow = 3

    private var inRow = 0
    /// What to tell the person, once the volume is given up.
    private(set) var verdict: (status: ExitStatus, sentence: String)?

    package init() {}

    /// Looks at a result. A path that cannot be written (`outputRefused`: its name, its folder, its permissions) is the
    /// item's own failure; a full volume stops the job at once, and so do failures of the volume in a row.
    ///
    /// - Returns: Whether the job should stop; the item then counts as not done.
    package mutating func stopsJob(_ result: ItemResult) -> Bool {
        guard let failure = result.failure, ["diskFull", "outputFailed"].contains(failure.code) else {
            if result.status == .good || result.status == .damaged { inRow = 0 }
            return false
        }
        // What was in work then fails the same way.
        guard verdict == nil else { return true }
        inRow += 1
        if failure.code == "diskFull" {
            verdict = (.writeFailed, "The volume of the outputs is full (\(failure.reason)). Make room there")
        } else if inRow >= Self.maxInRow {
            verdict = (
                .writeFailed, "Writing failed \(inRow) times in a row (\(failure.reason)). Look at the output volume"
            )
        }
        return verdict != nil
    }

    /// The number that the file system of a folder has, or will have once the folder is made: the same after it was
    /// mounted again, of those that keep one (statvfs(3), `f_fsid`). nil when it is not told.
    static func volume(of folder: String) -> Int64? {
        var volume = statvfs()
        guard statvfs(nearestFolder(folder).systemBytes, &volume) == 0, volume.f_fsid != 0 else { return nil }
        return Int64(bitPattern: UInt64(volume.f_fsid))
    }

    /// The nearest folder at or above a path that exists.
    static func nearestFolder(_ path: String) -> String {
        var folder = path
        while access(folder.systemBytes, F_OK) != 0, folder != "/" { folder = OutputFolderGuard.parent(folder) }
        return folder
    }

    /// The nearest folder above a path that exists, when it cannot be written.
    static func unwritableFolder(above path: String) -> String? {
        let folder = nearestFolder(OutputFolderGuard.parent(path))
        return access(folder.systemBytes, W_OK | X_OK) == 0 ? nil : folder
    }
}

extension WorkPlan {
    /// The folder that keeps every output of the plan from being written; nil when some can be.
    func unwritableFolder(_ outputFolder: String) -> String? {
        let folders = outputFolders
        guard !folders.isEmpty, folders.allSatisfy({ OutputTrouble.unwritableFolder(above: $0 + "/x") != nil })
        else { return nil }
        return OutputTrouble.unwritableFolder(above: outputFolder + "/x") ?? outputFolder
    }
}
