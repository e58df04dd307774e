package import ChunkedCompute
import ImageCodecs

/// An item whose work is done. Its outputs, if it has any, stand under no name yet.
package struct MadeItem: Sendable {
    /// What came of it, without the outputs that await their commit.
    package let result: ItemResult
    private let outputs: [WrittenOutput]

    /// Of an item that has nothing to commit.
    package init(_ result: ItemResult) { self.init(result, outputs: []) }

    /// Of an item whose outputs are to be committed.
    package init(_ result: ItemResult, outputs: [WrittenOutput]) {
        self.result = result
        self.outputs = outputs
    }

    package var awaitsCommit: Bool { !outputs.isEmpty }

    /// Flushes the outputs, where that is wanted, and gives them their names. To be called once, on any thread.
    ///
    /// - Returns: The one outcome of the item; errors are in it.
    package func commit() -> ItemResult {
        var result = result
        let clock = ContinuousClock.now
        do throws(ExportFailure) {
            for output in outputs {
                try output.file.commit(mayReplace: output.mayReplace, flushes: output.flushes)
                result.outputs.append(output.facts)
            }
        } catch {
            result.status = .failed
            result.failure = ImageExporter.failure(error)
        }
        result.times.commit = clock.secondsSince
        return result
    }
}

/// One output of a ``MadeItem``.
package struct WrittenOutput: Sendable {
    let facts: ItemResult.Output
    let file: PendingFile
    /// A file that stands under its name gives way.
    let mayReplace: Bool
    var flushes = true
}

extension WrittenOutput {
    /// Writes what is in memory as a whole.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - path: Its final path, within the folder.
    ///   - size: Pixels of a picture.
    ///   - mayReplace: A file that stands under its name gives way.
    ///   - flushes: Whether it is flushed when it is committed; see ``OutputFile/commit(mayReplace:flushes:)``.
    ///   - folder: Nothing is written outside it.
    /// - Throws: ``ExportFailure`` with the system's reason.
    package init(
        _ bytes: [UInt8], at path: String, size: (width: Int, height: Int) = (0, 0), mayReplace: Bool,
        flushes: Bool = true, in folder: OutputFolder
    ) throws {
        let file = try PendingFile(path: path, in: folder)
        let checksum = try bytes.withUnsafeBytes { bytes in
            try file.write(bytes)
            return Checksum.xxh3(bytes)
        }
        self.init(
            facts: .init(path: path, width: size.width, height: size.height, bytes: bytes.count, checksum: checksum),
            file: file, mayReplace: mayReplace, flushes: flushes)
    }
}
