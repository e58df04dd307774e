/// How often the process of a job was started, as its host says in the environment.
package enum JobAttempt {
    package static let variable = "BGRUN_JOB_ATTEMPT"

    /// It goes on with what a process of the same job began, and nobody has asked for that.
    package static func isAgain(_ environment: [String: String]) -> Bool {
        environment[variable].flatMap { Int($0) } ?? 1 > 1
    }
}
