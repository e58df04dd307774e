import CHeap

/// What a batch gives back is taken again by the next one. Handed to the kernel in between, its pages would be cleared
/// and fetched anew each time: 10 % of the processor time of MobileNetV2.
enum KeptMemory {
    /// Freed bytes at the end of the heap that this process keeps.
    private static let byteCount: Int32 = 64 << 20
    /// Smaller blocks are taken from the heap; the most that the C library allows.
    private static let largestBlock: Int32 = 32 << 20

    /// To be called by a process that works on one batch after the other.
    ///
    /// - Returns: Whether the C library does so.
    @discardableResult
    static func begin() -> Bool { bg_keep_heap(byteCount, largestBlock) != 0 }
}
