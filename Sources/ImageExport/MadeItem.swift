package import ChunkedCompute

/// An item whose work is done. Its outputs, if it has any, stand under no name yet.
package struct MadeItem: Sendable {
    /// What came of it, without the outputs that await their commit.
    package let result: ItemResult
    private let outputs: [WrittenOutput]

    /// Of an item that has nothing to commit.
    package init(_ result: ItemResult) { self.init(result, outputs: []) }

    init(_ result: ItemResult, outputs: [WrittenOutput]) {
        self.result = result
        self.outputs = outputs
    }

    package var awaitsCommit: Bool { !outputs.isEmpty }

    /// Flushes the outputs and gives them their names, each whole. To be called once, on any thread.
    ///
    /// - Returns: The one outcome of the item; errors are in it.
    package func commit() -> ItemResult {
        var result = result
        let clock = ContinuousClock.now
        do throws(ExportFailure) {
            for output in outputs {
                try output.file.commit(mayReplace: output.mayReplace)
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
struct WrittenOutput: Sendable {
    var facts: ItemResult.Output
    var file: PendingFile
    /// A file that stands under its name gives way.
    var mayReplace: Bool
}
