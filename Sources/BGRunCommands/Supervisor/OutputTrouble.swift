import Glibc
import ImageExport

/// Tells a bad item from an output volume that takes nothing any more, so that a job stops at once instead of failing
/// ten thousand times.
struct OutputTrouble {
    /// Failures to write in a row that mean the volume and not the items.
    private static let maxInRow = 3

    private var inRow = 0
    /// What to tell the person, once the volume is given up.
    private(set) var verdict: (status: ExitStatus, sentence: String)?

    /// Looks at a result.
    ///
    /// - Returns: Whether the job should stop; the item then counts as not done.
    mutating func stopsJob(_ result: ExportResult, outputs: [ExportItem.Output]) -> Bool {
        guard let failure = result.failure, ["diskFull", "outputFailed"].contains(failure.code) else {
            if result.status == .good || result.status == .damaged { inRow = 0 }
            return false
        }
        inRow += 1
        if failure.code == "diskFull" {
            verdict = (.writeFailed, "The volume of the outputs is full (\(failure.reason)). Make room there")
        } else if let path = outputs.first?.path, let folder = Self.unwritableFolder(above: path) {
            verdict = (.cannotCreate, "Nothing can be written in \(folder) (\(failure.reason)). Make it writable")
        } else if inRow >= Self.maxInRow {
            verdict = (
                .writeFailed, "Writing failed \(inRow) times in a row (\(failure.reason)). Look at the output volume"
            )
        }
        return verdict != nil
    }

    /// The nearest folder above a path that exists, when it cannot be written.
    static func unwritableFolder(above path: String) -> String? {
        var folder = OutputFolderGuard.parent(path)
        while access(folder, F_OK) != 0, folder != "/" { folder = OutputFolderGuard.parent(folder) }
        return access(folder, W_OK | X_OK) == 0 ? nil : folder
    }
}
