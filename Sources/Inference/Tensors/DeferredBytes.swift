import Locking

/// Bytes that are written when somebody first looks at them, and then stay.
final class DeferredBytes: Sendable {
    let byteCount: Int
    private let fill: @Sendable (UnsafeMutableRawBufferPointer) -> Void
    /// Where they are, as a number; 0 before they are wanted.
    private let place = Lock(UInt(0))

    init(byteCount: Int, fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void) {
        self.byteCount = byteCount
        self.fill = fill
    }

    /// For as long as this object is held. Who comes while they are being written waits.
    var bytes: UnsafeMutableRawBufferPointer {
        let start = place.withLock { place in
            if place == 0 {
                let made = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, 1), alignment: 64)
                fill(UnsafeMutableRawBufferPointer(rebasing: made.prefix(byteCount)))
                place = UInt(bitPattern: made.baseAddress)
            }
            return place
        }
        return UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: start), count: byteCount)
    }

    deinit {
        UnsafeMutableRawPointer(bitPattern: place.withLock { $0 })?.deallocate()
    }
}
