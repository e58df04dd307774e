import TaskModel

/// Asks for a short run, about 30 seconds, in which the program brings itself up to date.
public final class BGAppRefreshTaskRequest: BGTaskRequest {
    /// - Parameter identifier: One of the manifest's identifiers.
    public init(identifier: String) {
        super.init(identifier: identifier, initiator: .schedule)
    }

    override func taskRequest() -> TaskRequest {
        filled(TaskRequest(identifier: TaskIdentifier(identifier), kind: .refresh))
    }
}
