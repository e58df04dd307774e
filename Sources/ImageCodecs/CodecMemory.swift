import CImageCodecs

/// What this process keeps of the memory that codecs free.
package enum CodecMemory {
    /// Covers a 3 MP picture in the planes of JPEG XL.
    private static let keptBytes: Int32 = 256 << 20

    /// Has what an encoder frees serve the next picture's: taken from the kernel anew each time, its pages cost a quarter of the
    /// time of a JPEG XL of 2.5 MP. For processes that encode one picture after the other.
    package static func keepFreed() { ic_keep_freed_memory(keptBytes) }
}
