import Foundation

/// A progress that may be read while another thread writes it.
///
/// Foundation's own has no lock on Linux. Writes to this object and reads of its fraction exclude each other; those of
/// child progresses come in by a way that cannot be overridden, and each moves the fraction by whole words.
final class TaskProgress: Progress, @unchecked Sendable {
    // Recursive: setting a total of the base class may read what is overridden here.
    private let lock = NSRecursiveLock()

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }

    override func addChild(_ child: Progress, withPendingUnitCount units: Int64) {
        lock.withLock { super.addChild(child, withPendingUnitCount: units) }
    }

    /// 0 ... 1 with the children's share; nil while the total is not known.
    var sampledFraction: Double? {
        lock.withLock {
            if isIndeterminate || super.totalUnitCount == 0 { return nil }
            let fraction = fractionCompleted
            return fraction.isFinite ? min(max(fraction, 0), 1) : nil
        }
    }
}
