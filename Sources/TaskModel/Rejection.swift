/// Why a request was refused at submission. Nothing was stored or started.
package struct Rejection: Error, Hashable, Codable, Sendable {
    /// The checks' answers, named as in Apple's `BGTaskScheduler.Error.Code`.
    package enum Code: String, Codable, Sendable {
        case unavailable, tooManyPendingTaskRequests, notPermitted, immediateRunIneligible
    }

    /// One check that said no.
    package struct Failure: Hashable, Codable, Sendable {
        package var code: Code
        /// Stable machine code of the cause, e.g. `identifierShape`, `alreadyRunning`, `noLoader`.
        package var detail: String
        /// What is wrong, one sentence.
        package var sentence: String
        /// What would help, one sentence.
        package var fix: String

        package init(code: Code, detail: String, sentence: String, fix: String) {
            self.code = code
            self.detail = detail
            self.sentence = sentence
            self.fix = fix
        }
    }

    /// The first check that failed; it gives the rejection its code.
    package let first: Failure
    /// The checks that failed after it (rule 18: a person sees all of them at once).
    package let others: [Failure]

    package init(first: Failure, others: [Failure] = []) {
        self.first = first
        self.others = others
    }

    /// All failures in the order of the checks.
    package var failures: [Failure] { [first] + others }
    package var code: Code { first.code }
    package var sentence: String { first.sentence }
    package var fix: String { first.fix }
}
