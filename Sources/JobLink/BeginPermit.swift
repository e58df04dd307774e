import CProcess
import Glibc

/// Permissions for a process to begin something by itself, one for each time: whoever takes one first has it, whether that
/// is the process that uses it up or the one that gave it. Neither waits for the other.
package struct BeginPermit {
    /// Of an eventfd(2).
    package let descriptor: Int32

    /// - Returns: nil when the system has none to give.
    package init?() {
        let descriptor = bg_event()
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    package func give() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// - Returns: Whether it was there to be taken.
    package func take() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, MemoryLayout<UInt64>.size) == MemoryLayout<UInt64>.size
    }

    package func closeDescriptor() { close(descriptor) }
}
