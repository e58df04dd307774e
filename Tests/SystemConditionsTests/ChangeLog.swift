import SystemConditions
import TaskModel

/// What a monitor reports, as a stream.
struct ChangeLog: Sendable {
    let changes: AsyncStream<Conditions>
    private let continuation: AsyncStream<Conditions>.Continuation

    init() {
        (changes, continuation) = AsyncStream.makeStream()
    }

    var receiver: @Sendable (Conditions) -> Void {
        { [continuation] in continuation.yield($0) }
    }

    /// Waits for a report that fits; the time limit of its test ends a wait for one that never comes.
    func first(where isWanted: @escaping (Conditions) -> Bool = { _ in true }) async -> Conditions? {
        for await change in changes where isWanted(change) { return change }
        return nil
    }
}
