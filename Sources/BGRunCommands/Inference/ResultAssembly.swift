import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import InferenceData
import Locking
import SystemText
import TaskStore

/// Makes the files that were asked for of what all batches left.
struct ResultAssembly: Sendable {
    private let plan: InferencePlan
    private let outputs: OutputFolder
    private let batches: [StandingBatch]
    private let rows: StandingRows
    /// How the rows of each output lie in its file; nil where no batch has a row.
    private let layouts: [NPYAssembly?]

    /// Bytes that are written at a time.
    private static let pieceBytes = 1 << 20

    /// - Parameters:
    ///   - plan: What was done.
    ///   - batches: How its batches stand by their parts.
    ///   - outputs: Nothing is written outside it.
    /// - Throws: `ExportFailure` where rows do not go together, or are not what was written; nothing is written then.
    init(_ plan: InferencePlan, _ batches: [StandingBatch], into outputs: OutputFolder) throws {
        self.plan = plan
        self.outputs = outputs
        layouts = try plan.results.dropLast().enumerated().map { try Self.layout(of: $0, $1.path, batches) }
        rows = StandingRows(of: plan)
        self.batches = rows.checked(batches, of: plan)
        // One that was torn before this run, and could not be made anew, has no result. Held against what stands under the name
        // of a result, rows are not there any more.
        let areGone = rows.arePlaced.contains(true)
        let torn = zip(self.batches, plan.batches).count { $0.isTorn && (areGone || !$1.item.mayReplace) }
        guard torn == 0 else {
            throw ExportFailure(
                "outputFailed", "what \(torn) batches left in \(partsFolder) was changed by somebody else")
        }
    }

    /// Where batches leave what the results are made of.
    private var partsFolder: String { OutputFolderGuard.parent(plan.batches[0].item.part) }

    private static func layout(of output: Int, _ path: String, _ batches: [StandingBatch]) throws -> NPYAssembly? {
        let all = batches.compactMap { $0.note?.rows.dropFirst(output).first }
        guard let first = all.first else { return nil }
        if let other = all.first(where: { $0.shape != first.shape || $0.elementType != first.elementType }) {
            throw ExportFailure(
                "mismatch",
                "rows of \(path) have the shapes \(first.shape) and \(other.shape), which do not go together")
        }
        return try first.assembly()
    }

    /// Whether every input had its result.
    var isSound: Bool { batches.allSatisfy(\.standing.isSound) }

    /// - Returns: The files, as the journal notes them.
    /// - Throws: `ExportFailure`, and `StoreError`.
    func write(noting journal: JournalWriter) throws -> [MadeOutput] {
        try journal.plan(plan.results)
        let troubles = Lock<[any Error]>([])
        // The disk flushes them side by side.
        DispatchQueue.concurrentPerform(iterations: plan.results.count) { number in
            do {
                // The lines are the last of them.
                if number == plan.results.count - 1 { try writeLines() } else { try finishArray(number) }
            } catch {
                if (error as? ExportFailure)?.code == "outputExists" { journal.disown([plan.results[number]]) }
                troubles.withLock { $0.append(error) }
            }
        }
        if let trouble = troubles.withLock(\.first) { throw trouble }
        let made = zip(plan.results, layouts.map { $0 != nil } + [true]).filter(\.1).map(\.0.path)
        return made.compactMap { path in
            ExistingFile(path).map {
                MadeOutput(path: path, identity: $0.identity, width: 0, height: 0, checksum: "")
            }
        }
    }

    /// Takes away what batches left.
    func removeParts() {
        let folder = open(partsFolder.systemBytes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        let names = (SystemFile.names(in: partsFolder) ?? []).filter {
            $0.hasPrefix(".bgrun-") || $0.hasSuffix(".json") || $0.hasSuffix(".npy")
        }
        // The kernel gives blocks back side by side.
        DispatchQueue.concurrentPerform(iterations: names.count) { unlinkat(folder, names[$0].systemBytes, 0) }
        rmdir(partsFolder.systemBytes)
    }

    private func finishArray(_ output: Int) throws {
        guard let layout = layouts[output], !rows.arePlaced[output] else { return }
        let file = try PartedFile(path: plan.rowsPath(of: output), in: outputs)
        let filler = try RowForm.filler(layout)
        for (batch, planned) in zip(batches, plan.batches) where batch.note?.rows.isEmpty ?? true {
            for place in planned.item.names.indices {
                try filler.withUnsafeBytes { try file.write($0, at: layout.offset(ofRow: planned.item.first + place)) }
            }
        }
        let count = plan.rowCount
        let rows = batches.compactMap { $0.note?.rows.dropFirst(output).first }.first
        let header = rows?.header(layout, rowCount: count) ?? layout.header(rowCount: count)
        try header.withUnsafeBytes { try file.write($0, at: 0) }
        try file.end(at: layout.offset(ofRow: count))
        try file.commit(as: plan.results[output].path, in: outputs, mayReplace: plan.mayReplace)
    }

    private func writeLines() throws {
        guard let path = plan.results.last?.path else { return }
        let file = try OutputFile(path: path, in: outputs)
        var piece: [UInt8] = []
        for (batch, planned) in zip(batches, plan.batches) {
            piece += try lines(batch, planned.item)
            guard piece.count >= Self.pieceBytes else { continue }
            try piece.withUnsafeBytes { try file.write($0) }
            piece.removeAll(keepingCapacity: true)
        }
        try piece.withUnsafeBytes { try file.write($0) }
        try file.commit(mayReplace: plan.mayReplace)
    }

    private func lines(_ batch: StandingBatch, _ item: InferenceItem) throws -> [UInt8] {
        if batch.standing.isCurrent, batch.note == nil {
            guard let part = SystemFile.contents(item.part) else {
                throw ExportFailure("outputFailed", "\(item.part): \(String(cString: strerror(errno)))")
            }
            return part
        }
        let missing = ItemResult.Failure(code: "noResult", reason: "its batch could not be computed")
        let problems = Dictionary((batch.note?.problems ?? []).map { ($0.input, $0.failure) }) { first, _ in first }
        let lines = item.names.enumerated().map { place, name in
            let problem = batch.note == nil ? missing : problems[place]
            let row = layouts.isEmpty ? nil : item.first + place
            if let problem { return ProblemLine(name, problem, row: row).text + "\n" }
            return ArrayRow(row: item.first + place).jsonLine(for: name) + "\n"
        }
        return Array(lines.joined().utf8)
    }
}
