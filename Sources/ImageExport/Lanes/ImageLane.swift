package import ChunkedCompute

/// Runs the image kernels of one worker on one device. Every call runs one chunk to the end and blocks meanwhile; used by
/// one thread.
///
/// All lanes give the same bytes for integer arithmetic, and at most one level of 65535 difference for float.
package protocol ImageLane: AnyObject {
    /// As shown to people, e.g. `CPU (AVX-512)`.
    var name: String { get }

    /// Source rows worth handing over as one chunk of that arithmetic, beside those that neighbouring chunks share.
    func chunkSourceRows(_ arithmetic: ResizeArithmetic) -> Int

    /// Rows worth handing over as one chunk of a chain, beside those that neighbouring chunks share.
    var chunkChainRows: Int { get }

    /// Whether all tiles of a chunk of a chain have memory of their own, or the one after the other use the same.
    var runsTilesAtOnce: Bool { get }

    /// Makes the output rows that `output` has room for.
    ///
    /// - Parameters:
    ///   - plan: The resize.
    ///   - source: At least the rows of ``ResizePlan/sourceRows(for:)``; one more row is readable behind them.
    ///   - output: Where the rows go, one behind the other.
    /// - Throws: When the device fails; the rows are not to be used then.
    func resize(_ plan: ResizePlan, source: RowBand, output: RowBand) throws(LaneError)

    /// Sharpens the rows that `output` has room for.
    ///
    /// - Parameters:
    ///   - plan: The sharpening.
    ///   - source: The rows and ``SharpenPlan/radius`` more on each side, as far as the picture has them.
    ///   - output: Where the rows go, one behind the other.
    /// - Throws: When the device fails; the rows are not to be used then.
    func sharpen(_ plan: SharpenPlan, source: RowBand, output: RowBand) throws(LaneError)

    /// Carries out a chain of operations for the rows that `output` has room for. On a device all of them happen there.
    ///
    /// - Parameters:
    ///   - plan: The chain.
    ///   - source: At least the rows of ``ChainPlan/sourceRows(for:)``.
    ///   - output: Where the rows go; may be the source where the chain's radius is 0.
    /// - Throws: When the device fails; the rows are not to be used then.
    func develop(_ plan: ChainPlan, source: RowBand, output: RowBand) throws(LaneError)
}

/// A device failed under a chunk. The chunk counts as not done.
package struct LaneError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
