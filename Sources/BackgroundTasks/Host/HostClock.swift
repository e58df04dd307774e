/// The time a host goes by, and what wakes it.
package protocol HostClock: Sendable {
    /// Time since the machine started, sleep included.
    var now: Duration { get }
    /// Seconds since 1970; may jump.
    var wallNow: Duration { get }
    /// An alarm that is not set.
    ///
    /// - Parameter action: Called on a queue of the clock, at or after the moment the alarm was last set to.
    /// - Returns: An alarm that ends with its last reference.
    func makeAlarm(_ action: @escaping @Sendable () -> Void) -> any HostAlarm
    /// Calls the action whenever the wall clock has been set, as long as what is returned is kept.
    func watchWallClock(_ action: @escaping @Sendable () -> Void) -> any Sendable
}

/// Wakes its owner at one moment at most.
package protocol HostAlarm: AnyObject, Sendable {
    /// Replaces the moment by another one on the clock's `now`; nil for never. A moment that has passed is soon.
    func set(at time: Duration?)
}
