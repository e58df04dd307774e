package import JobLink

/// Who decides how the work of this process goes on, and hears how it goes.
protocol WorkHost: AnyObject, Sendable {
    /// From now on words are left to ``take()``.
    func beginWork()
    /// What was said since the last call; ``StopSignals/wakeUp()`` tells that there is something.
    func take() -> [HostWord]
    func tell(_ report: JobReport)
}

/// What the host of a job says to its work.
package enum HostWord: Sendable {
    case command(JobCommand)
    /// To be told to the person.
    case note(String)
    /// The host is gone: nobody wants this work, and another process may soon do it.
    case gone

    /// Nothing more is to be done.
    var isStop: Bool {
        switch self {
        case .command(.stop), .gone: true
        case .command, .note: false
        }
    }
}
