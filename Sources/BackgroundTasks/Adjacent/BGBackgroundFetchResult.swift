import SchedulingCore

/// What a fetch or a poke was good for. Honest answers bring the next one nearer or push it away.
public enum BGBackgroundFetchResult: UInt, Hashable, Sendable {
    case newData = 0
    case noData = 1
    case failed = 2

    var value: RefreshBudget.Result {
        switch self {
        case .newData: .newData
        case .noData: .noData
        case .failed: .failed
        }
    }
}

/// Whether a program may refresh itself in the background.
public enum BGBackgroundRefreshStatus: Int, Hashable, Sendable {
    /// Nobody here can allow it.
    case restricted = 0
    /// A person said no; do not ask again.
    case denied = 1
    case available = 2
}

/// Names a background task between its begin and its end.
public struct BGBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// There is no time to run in the background.
    public static let invalid = BGBackgroundTaskIdentifier(rawValue: 0)
}

extension BGAppRefreshTask {
    /// Ends the task, and says what it was good for: that shapes when its program may refresh again (rule 57).
    public func setTaskCompleted(result: BGBackgroundFetchResult) {
        reports?.refreshed(job, result)
        setTaskCompleted(success: result != .failed)
    }
}
