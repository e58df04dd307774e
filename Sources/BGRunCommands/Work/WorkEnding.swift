import ImageCodecs
import JobLink
import TaskModel
import TaskStore

/// How a run of a job ends: the status, and what a person and a program are told.
struct WorkEnding {
    var outcome: TaskOutcome
    var status: ExitStatus
    /// What is still to be shown.
    var text: String
    /// One line of JSON.
    var summary: String
    /// As ``JobEnd/cause``.
    var cause: String?
    /// The same where a long one does not fit.
    private var shorterSummary: String

    private struct Refused: Encodable {
        var outcome: String
        var message: String
    }

    init(_ outcome: TaskOutcome, _ status: ExitStatus, text: String) {
        self.outcome = outcome
        self.status = status
        self.text = text
        summary = JSONText.encode(Refused(outcome: outcome.code, message: text))
        shorterSummary = summary
    }

    /// The work was begun.
    init(_ outcome: TaskOutcome, _ status: ExitStatus, text: String, summary: WorkSummary) {
        self.outcome = outcome
        self.status = status
        self.text = text
        self.summary = JSONText.encode(summary)
        shorterSummary = JSONText.encode(summary.listing(atMost: JobLedger.maxListed))
    }

    /// Nothing was started.
    static func refused(_ code: String, _ status: ExitStatus, _ text: String) -> WorkEnding {
        WorkEnding(.failed(code: code), status, text: text)
    }

    static func refused(_ rejection: Rejection, _ words: WorkWords) -> WorkEnding {
        let lines = rejection.failures.map { "  \($0.detail): \($0.sentence) \($0.fix)".onOneLine + "\n" }
        return .refused(
            rejection.first.detail, .of(rejection), "bgrun: the \(words.job) was not started.\n" + lines.joined())
    }

    static func refused(_ refusals: [PlanRefusal]) -> WorkEnding {
        var text = "bgrun: nothing was started.\n"
        for refusal in refusals.prefix(JobLedger.maxListed) {
            text += "  \(refusal.code): \(refusal.sentence)".onOneLine + "\n"
        }
        let more = refusals.count - JobLedger.maxListed
        if more > 0 { text += "  and \(more) more\n" }
        let status: ExitStatus = refusals.allSatisfy { $0.code == "outputExists" } ? .cannotCreate : .usage
        return .refused(refusals.first?.code ?? "refused", status, text)
    }

    /// Formats that were asked for and cannot be written here; nil where all can.
    static func missingLibrary(of formats: [ImageFormat]) -> WorkEnding? {
        let missing = formats.compactMap { format in
            format.library.flatMap { $0.isInstalled ? nil : (format, $0) }
        }
        guard !missing.isEmpty else { return nil }
        let lines = missing.map { format, library in
            "  libraryMissing: \(format.name) is written by \(library.file). Install the package \(library.package).\n"
        }
        return .refused("libraryMissing", .unavailable, "bgrun: nothing was started.\n" + lines.joined())
    }

    static func missing(_ inputs: [InputProblem]) -> WorkEnding {
        let lines = inputs.map { "  \($0.code): \($0.path): \($0.reason)".onOneLine + "\n" }
        return .refused("missingInput", .missingInput, "bgrun: nothing was started.\n" + lines.joined())
    }

    static func failed(_ error: StoreError) -> WorkEnding {
        .refused("state.\(error.code.rawValue)", .of(error), "bgrun: \(error)\n")
    }

    static func stoppedBeforeStart(_ reason: StopReason) -> WorkEnding {
        WorkEnding(
            .stopped(reason), .stoppedEarly,
            text: "Stopped before anything was started. Run the same command to go on.\n")
    }

    /// Tells the person, and a program that asked for it, what no display has told.
    func show(json: Bool) {
        StandardError.write(text)
        if json { _ = StandardOutput.write(summary + "\n") }
    }

    /// Tells the host, whose packets hold only so much.
    func tell(_ host: JobHost) {
        func end(_ summary: String) -> JobEnd {
            JobEnd(outcome: outcome, status: status.rawValue, text: text, summary: summary, cause: cause)
        }
        host.end(end(summary), shorter: end(shorterSummary))
    }
}
