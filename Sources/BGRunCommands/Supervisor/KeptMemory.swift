import CHeap
import JobLink

/// What a worker's item gives back is taken again by the next one. Handed to the kernel in between, its pages would be
/// cleared and fetched anew each time: 10 % of the processor time of MobileNetV2, a quarter of that of a JPEG XL of 2.5 MP.
enum KeptMemory {
    /// Freed bytes at the end of the heap: the activations of a batch.
    private static let batchBytes: Int32 = 64 << 20
    /// Freed bytes at the end of the heap: a picture of 3 MP in the planes of JPEG XL.
    private static let pictureBytes: Int32 = 256 << 20
    /// Smaller blocks are taken from the heap; the most that the C library allows.
    private static let largestBlock: Int32 = 32 << 20

    /// - Returns: Whether the C library lets itself be told.
    @discardableResult
    static func begin(_ work: WorkerTerms.Work) -> Bool {
        let bytes =
            switch work {
            case .infer, .enhance: batchBytes
            default: pictureBytes
            }
        return bg_keep_heap(bytes, largestBlock) != 0
    }

    /// For a worker that stands still.
    static func giveBack() { bg_trim_heap() }
}
