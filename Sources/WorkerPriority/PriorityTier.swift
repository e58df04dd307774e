/// What keeps the processes of a job behind the person's own work, the strongest first.
package enum PriorityTier: String, Codable, Hashable, Sendable, CaseIterable {
    /// A unit of the person's systemd manager with a weight of its own.
    case userManager
    /// The group by which the kernel shares out processors among sessions.
    case autogroup
    /// Nothing but the rests between chunks.
    case pacing

    /// One sentence for a person.
    package var sentence: String {
        switch self {
        case .userManager:
            "Background jobs run at the lowest weight, as units of your systemd manager, leave other sessions what they "
                + "want of the processors, and are raised at once."
        case .autogroup:
            "Background jobs run in a session of their own at the lowest weight (autogroup), and are raised at once."
        case .pacing:
            "Neither a systemd user manager nor autogroups are there: background jobs only rest between their chunks."
        }
    }
}
