import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import InferenceData
import TaskStore

/// Makes the files that were asked for of the parts of all batches.
struct ResultAssembly {
    let plan: InferencePlan
    let outputs: OutputFolder
    /// Whether parts of each batch are there, as they were made for this job.
    let isThere: [Bool]

    /// Bytes that are copied at a time.
    private static let pieceBytes = 1 << 20

    /// - Returns: The files, as the journal notes them.
    /// - Throws: `ExportFailure`, and `DataError` for arrays that do not go together.
    func write() throws -> [MadeOutput] {
        var made: [MadeOutput] = []
        // All of them go together, or none is written.
        let arrays = try plan.results.indices.dropLast().map { try parts(of: $0) }
        for (number, result) in plan.results.enumerated() {
            // The lines come last.
            let isLines = number == plan.results.count - 1
            let isWritten =
                isLines ? try writeLines(result.path) : try writeArray(number, arrays[number], result.path)
            guard isWritten, let file = ExistingFile(result.path) else { continue }
            made.append(MadeOutput(path: result.path, identity: file.identity, width: 0, height: 0, checksum: ""))
        }
        return made
    }

    /// Takes the parts away.
    func removeParts() {
        // The kernel gives blocks back side by side.
        let paths = plan.batches.flatMap { $0.intents.map(\.path) }
        DispatchQueue.concurrentPerform(iterations: paths.count) { unlink(paths[$0]) }
        if let first = plan.batches.first { rmdir(OutputFolderGuard.parent(first.item.lines)) }
    }

    private func writeLines(_ path: String) throws -> Bool {
        let file = try OutputFile(path: path, in: outputs)
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        for (batch, isThere) in zip(plan.batches, isThere) {
            if isThere {
                try copy(batch.item.lines, from: 0, to: file, through: &piece)
            } else {
                let isArrays = plan.results.count > 1
                for (place, name) in batch.item.names.enumerated() {
                    let line = ProblemLine(
                        name, .init(code: "noResult", reason: "its batch could not be computed"),
                        row: isArrays ? batch.item.first + place : nil)
                    try write(Array((line.text + "\n").utf8), to: file)
                }
            }
        }
        try file.commit(mayReplace: plan.mayReplace)
        return true
    }

    /// Parts of an output by the places of their batches, and how their rows lie in its file.
    private struct ArrayParts {
        var headers: [Int: NPYHeader]
        var assembly: NPYAssembly
    }

    /// - Returns: nil where no batch has a row.
    private func parts(of output: Int) throws -> ArrayParts? {
        var headers: [Int: NPYHeader] = [:]
        for (place, batch) in plan.batches.enumerated() where isThere[place] {
            let part = batch.item.array(output)
            guard ExistingFile(part) != nil else { continue }
            headers[place] = try withOpenFile(part) { file throws(DataError) in try NPYFile(file).header }
        }
        guard let like = headers.min(by: { $0.key < $1.key })?.value else { return nil }
        if let other = headers.values.first(where: {
            $0.rowShape != like.rowShape || $0.elementType != like.elementType
        }) {
            throw ExportFailure(
                "mismatch",
                "rows of \(plan.results[output].path) have the shapes \(like.rowShape) and \(other.rowShape), which do "
                    + "not go together")
        }
        return ArrayParts(
            headers: headers, assembly: try NPYAssembly(elementType: like.elementType, rowShape: like.rowShape))
    }

    /// - Returns: false where no batch has a row.
    private func writeArray(_ output: Int, _ parts: ArrayParts?, _ path: String) throws -> Bool {
        guard let parts else { return false }
        let file = try OutputFile(path: path, in: outputs)
        let count = plan.batches.reduce(0) { $0 + $1.item.count }
        try write(parts.assembly.header(rowCount: count), to: file)
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        for (place, batch) in plan.batches.enumerated() {
            if let header = parts.headers[place] {
                try copy(batch.item.array(output), from: header.byteCount, to: file, through: &piece)
            } else {
                let filler = try RowForm.filler(parts.assembly)
                for _ in batch.item.names { try write(filler, to: file) }
            }
        }
        try file.commit(mayReplace: plan.mayReplace)
        return true
    }

    private func write(_ bytes: [UInt8], to file: borrowing OutputFile) throws {
        try bytes.withUnsafeBytes { try file.write($0) }
    }

    private func copy(
        _ path: String, from offset: Int, to file: borrowing OutputFile, through piece: inout [UInt8]
    ) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw ExportFailure("outputFailed", "\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var position = offset
        while true {
            let count = pread(descriptor, &piece, piece.count, off_t(position))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw ExportFailure("outputFailed", "\(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { return }
            try piece.withUnsafeBytes { try file.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            position += count
        }
    }
}
