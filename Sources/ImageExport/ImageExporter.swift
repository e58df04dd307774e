/// Carries one item from its input file to its committed outputs. One per worker thread; keeps its buffers between
/// items.
package final class ImageExporter {
    /// What a running item tells its host between two bands.
    package struct Progress: Sendable {
        /// Source rows done and to do, over all stages; for a live display and for telling a hang from work.
        package var done: Int
        package var total: Int
    }

    package init() {}

    /// - Parameter onProgress: Called between bands; returning false asks to stop before the outputs are committed.
    package func export(_ item: ExportItem, onProgress: (Progress) -> Bool) -> ExportResult {
        ExportResult(status: .stopped)
    }
}
