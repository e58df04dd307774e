import ChunkedCompute
import Glibc
import ImageCodecs
import Inference
import InferenceData
import TaskStore

/// What the part of a batch says where arrays were asked for. The rows themselves lie in a file for each output, which all
/// batches share.
struct BatchNote: Codable, Sendable {
    /// Rows of one output, one for each input of the batch.
    struct Rows: Codable, Sendable {
        var elementType: ElementType
        /// Of one row.
        var shape: [Int]
        /// XXH3-128 of all of them, hexadecimal.
        var checksum: String

        /// How they lie in their file.
        func assembly() throws(DataError) -> NPYAssembly {
            try NPYAssembly(elementType: elementType, rowShape: shape)
        }
    }

    /// Of each output of the model; empty where no input has a result.
    var rows: [Rows]
    /// Inputs without a result, whose rows are NaN, or zeros where there is none.
    var problems: [ItemResult.Problem]
}

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
    /// Whether rows of an output stand under the name of its result: a kill came when that had been given, and before the
    /// journal knew of it.
    let arePlaced: [Bool]

    init(of plan: InferencePlan) {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let results = plan.results.dropLast().map(\.path)
        let gathered = results.indices.map { open(plan.rowsPath(of: $0), flags) }
        let placed = zip(gathered, results).map { $0 < 0 ? open($1, flags) : -1 }
        files = zip(gathered, placed).map(max)
        arePlaced = placed.map { $0 >= 0 }
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
            guard output < files.count, files[output] >= 0, let assembly = try? rows.assembly() else { return false }
            let range = assembly.offset(ofRow: item.first)..<assembly.offset(ofRow: item.first + item.count)
            return Checksum.xxh3(range, ofFile: files[output]) == rows.checksum
        }
    }
}
