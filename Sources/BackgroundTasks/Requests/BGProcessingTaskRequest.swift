import TaskModel

/// Asks for minutes of work while nobody is disturbed by it.
public class BGProcessingTaskRequest: BGTaskRequest {
    /// False by default: the run may then have no network.
    public var requiresNetworkConnectivity = false
    /// False by default. The machine may wait for power all the same when its battery is low.
    public var requiresExternalPower = false
    /// True by default: waits for an idle machine, and ends when its person returns (rule 56).
    public var requiresIdle = true

    /// - Parameter identifier: One of the manifest's identifiers.
    public init(identifier: String) {
        super.init(identifier: identifier, initiator: .schedule)
    }

    override func taskRequest() -> TaskRequest {
        filled(
            TaskRequest(
                identifier: TaskIdentifier(identifier), kind: .processing,
                requiresNetwork: requiresNetworkConnectivity, requiresExternalPower: requiresExternalPower,
                requiresIdle: requiresIdle))
    }

    final func fillProcessing(from request: TaskRequest) {
        fill(from: request)
        requiresNetworkConnectivity = request.requiresNetwork
        requiresExternalPower = request.requiresExternalPower
        requiresIdle = request.requiresIdle
    }
}
