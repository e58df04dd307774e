import Glibc
import ImageCodecs
import InferenceData
import SystemText
import TaskStore

/// What stands of a batch.
struct StandingBatch: Sendable {
    /// Of its part.
    var standing: Standing
    /// Of a part that stands, where arrays were asked for.
    var note: BatchNote?
    /// Its part, or its rows, are not what was written.
    var isTorn = false

    /// One that is to be made anew.
    static func anew(isTorn: Bool) -> StandingBatch {
        StandingBatch(standing: .make(mayReplace: true, foreign: nil), isTorn: isTorn)
    }
}

/// The rows of outputs that stand in their files already.
final class StandingRows: Sendable {
    /// By outputs; -1 where there are none.
    private let files: [Int32]
    /// Whether there is no file of an output's rows any more, and one under the name of its result: a kill came when that had
    /// been given, and before the journal knew of it. Or it is an older result, or somebody else's file, which holds nothing.
    let arePlaced: [Bool]
    /// Of the whole job.
    private let rowCount: Int

    init(of plan: InferencePlan) {
        let results = plan.results.dropLast().map(\.path)
        var files: [Int32] = []
        var arePlaced: [Bool] = []
        for (output, result) in results.enumerated() {
            let rows = plan.rowsPath(of: output)
            let (gathered, placed) = (ExistingFile(rows), ExistingFile(result))
            // Where a link stands in for a rename, a kill can leave both names.
            let isPlaced = placed != nil && (gathered == nil || gathered?.key == placed?.key)
            files.append(open((isPlaced ? result : rows).systemBytes, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
            arePlaced.append(isPlaced)
        }
        (self.files, self.arePlaced, rowCount) = (files, arePlaced, plan.rowCount)
    }

    deinit { for file in files where file >= 0 { close(file) } }

    /// How batches stand by their rows as well.
    func checked(_ batches: [StandingBatch], of plan: InferencePlan) -> [StandingBatch] {
        zip(batches, plan.batches).map { batch, planned in
            guard let note = batch.note, !hold(note, of: planned.item) else { return batch }
            return .anew(isTorn: true)
        }
    }

    private func hold(_ note: BatchNote, of item: InferenceItem) -> Bool {
        note.rows.enumerated().allSatisfy { output, rows in
            guard output < files.count, files[output] >= 0, let assembly = try? rows.assembly(),
                let range = assembly.range(ofRows: item.first..<(item.first + item.count)),
                !arePlaced[output] || isComplete(files[output], rows, assembly)
            else { return false }
            return Checksum.xxh3(range, ofFile: files[output]) == rows.checksum
        }
    }

    /// Whether a file has the rows of this job, and no other ones: inputs may have come or gone since it was made.
    private func isComplete(_ file: Int32, _ rows: BatchNote.Rows, _ assembly: NPYAssembly) -> Bool {
        var status = stat()
        guard fstat(file, &status) == 0, Int(status.st_size) == assembly.offset(ofRow: rowCount) else { return false }
        let header = rows.header(assembly, rowCount: rowCount)
        return Checksum.xxh3(0..<header.count, ofFile: file) == header.withUnsafeBytes { Checksum.xxh3($0) }
    }
}
