import ArgumentParser
import TaskModel

/// Why a command that makes pages, and is no job, makes nothing.
struct SheetRefusal: Error {
    /// As the outcome of a job has it.
    let outcome: String
    let status: ExitStatus
    /// For a person.
    let text: String

    /// - Parameters:
    ///   - code: Tells a program what is in the way.
    ///   - status: The exit status.
    ///   - sentence: What is in the way.
    ///   - fix: What to do about it.
    init(_ code: String, _ status: ExitStatus, _ sentence: String, fix: String) {
        outcome = TaskOutcome.failed(code: code).code
        self.status = status
        text = "bgrun: \(sentence) \(fix)".onOneLine + "\n"
    }

    init(_ ending: WorkEnding) {
        outcome = ending.outcome.code
        status = ending.status
        text = ending.text
    }
}
