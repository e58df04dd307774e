/// A person's request for work that starts now, shows its progress and has a clear end.
package struct ContinuedProcessingRequest: Hashable, Codable, Sendable {
    /// What to do when the work cannot start at once.
    package enum Strategy: String, Codable, Sendable {
        /// Refuse the request; nothing stays queued.
        case fail
        /// Wait at the back of the line.
        case queue
    }

    /// Who asked (rule 26).
    package enum Initiator: String, Codable, Sendable {
        case terminal, script
    }

    package var identifier: TaskIdentifier
    package var title: String
    package var subtitle: String
    package var strategy: Strategy
    /// Without these the request is refused.
    package var requiredResources: ComputeResources
    /// These are used where they are; the result is the same without them (rule 36).
    package var preferredResources: ComputeResources
    package var initiator: Initiator

    package init(
        identifier: TaskIdentifier, title: String, subtitle: String, strategy: Strategy = .queue,
        requiredResources: ComputeResources = [], preferredResources: ComputeResources = [],
        initiator: Initiator = .terminal
    ) {
        self.identifier = identifier
        self.title = title
        self.subtitle = subtitle
        self.strategy = strategy
        self.requiredResources = requiredResources
        self.preferredResources = preferredResources
        self.initiator = initiator
    }
}
