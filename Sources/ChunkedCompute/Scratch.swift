import Glibc

/// Memory that a lane or stage keeps between chunks: it grows to what was asked for and is given back with its owner.
package final class Scratch {
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Kernels read whole vectors, so up to this many bytes behind the last sample may be read (never used).
    package static let slackBytes = 256

    /// From this size on the kernel is asked for pages of 2 MB, which would otherwise be fetched 4 KB at a time.
    private static let largeBytes = 32 << 20
    private static let largePage = 2 << 20
    /// Linux's `MADV_HUGEPAGE`.
    private static let largePagesWanted: Int32 = 14

    package init() {}

    deinit {
        memory.deallocate()
    }

    package var byteCount: Int { memory.count }

    /// At least `count` bytes, aligned for any vector type; the contents are unspecified after growing.
    package func bytes(_ count: Int) -> UnsafeMutableRawPointer {
        if memory.count < count + Self.slackBytes || memory.baseAddress == nil {
            memory.deallocate()
            let isLarge = count >= Self.largeBytes
            memory = .allocate(byteCount: count + Self.slackBytes, alignment: isLarge ? Self.largePage : 64)
            // Not every kernel has large pages, and none has to.
            if isLarge { madvise(memory.baseAddress, memory.count, Self.largePagesWanted) }
        }
        guard let base = memory.baseAddress else { preconditionFailure("an allocation without an address") }
        return base
    }

    /// At least `count` elements; see ``bytes(_:)``.
    package func elements<Element: BitwiseCopyable>(
        _ type: Element.Type, _ count: Int
    ) -> UnsafeMutablePointer<Element> {
        bytes(count * MemoryLayout<Element>.stride).assumingMemoryBound(to: type)
    }

    /// Gives the memory back when it is larger than `limit` bytes.
    package func trim(above limit: Int) {
        guard memory.count > limit else { return }
        memory.deallocate()
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
}
