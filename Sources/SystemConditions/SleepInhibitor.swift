import Glibc
import Locking

/// What makes the machine wait before it sleeps or shuts down (rule 78).
package protocol SleepInhibiting: Sendable {
    /// Blocks for a second at most; does nothing while it holds already.
    ///
    /// - Parameter why: A few words that the person may be shown.
    /// - Throws: ``BusError`` where there is nothing to ask, or it refuses; work can go on without.
    func hold(why: String) throws(BusError)
    func release()
}

/// Delays sleep and shutdown until it is given back, for as long as logind grants (5 s by default), so that running work
/// can keep a checkpoint (rule 78). Held only while work runs.
package final class SleepInhibitor: SleepInhibiting {
    private let bus: BusAddress
    private let descriptor = Lock<Int32?>(nil)

    package init(_ bus: BusAddress) {
        self.bus = bus
    }

    deinit { release() }

    package var isHeld: Bool { descriptor.withLock { $0 != nil } }

    /// Takes the inhibitor, unless it is held. Blocks until logind has answered, for a second at most.
    ///
    /// - Parameter why: A few words that the person may be shown.
    /// - Throws: ``BusError`` where there is no bus or no logind, or it refuses; work can go on without.
    package func hold(why: String) throws(BusError) {
        if isHeld { return }
        let taken = try SystemBus(bus).inhibit(what: "sleep:shutdown", who: "bgrun", why: why)
        // Another thread may have been quicker: one is enough.
        let spare = descriptor.withLock { held -> Int32? in
            guard held == nil else { return taken }
            held = taken
            return nil
        }
        if let spare { close(spare) }
    }

    package func release() {
        if let held = descriptor.withLock({ $0.take() }) { close(held) }
    }
}
