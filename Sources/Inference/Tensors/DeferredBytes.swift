import Locking
import OneDNNKit

/// Bytes that are written when somebody first looks at them, and then stay, but for looks in passing.
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

    /// Whether somebody has asked for bytes that stay.
    var isHeld: Bool { place.withLock { $0 } != 0 }

    /// For the call only: where nobody has asked for bytes that stay, they are written to `scratch`.
    func withBytes<R, Failure>(
        in scratch: ScratchBytes, _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        if isHeld { return try body(UnsafeRawBufferPointer(bytes)) }
        return try scratch.withBytes(byteCount) { passing throws(Failure) in
            fill(passing)
            return try body(UnsafeRawBufferPointer(passing))
        }
    }

    deinit {
        UnsafeMutableRawPointer(bitPattern: place.withLock { $0 })?.deallocate()
    }
}

/// Memory for one thing after the other, as large as the largest so far.
final class ScratchBytes {
    private var buffer = AlignedBuffer(byteCount: 0)

    /// Bytes that hold anything, for the call.
    func withBytes<R, Failure>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        if count > buffer.byteCount { buffer = AlignedBuffer(byteCount: count) }
        return try buffer.withUnsafeMutableBytes { bytes throws(Failure) in
            try body(UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count)))
        }
    }
}
