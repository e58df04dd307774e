public import Foundation
package import TaskModel

/// Something that a program's author should know: a stable code, one sentence, and what would help (rule 19).
public struct BGDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// Stable machine code, e.g. `registeredLate`.
    public let code: String
    public let sentence: String
    public let fix: String
    /// The identifier it is about, if it is about one.
    public let identifier: String?

    package init(_ diagnostic: Diagnostic, identifier: String? = nil) {
        code = diagnostic.code
        sentence = diagnostic.sentence
        fix = diagnostic.fix
        self.identifier = identifier
    }

    public var description: String { "\(code): \(sentence) \(fix)" }
}

/// One thing that keeps a request from starting now, or running work paused (rule 95).
public struct BGWaitReason: Hashable, Sendable, CustomStringConvertible {
    /// Stable machine code, e.g. `noRoom` or `condition.network`.
    public let code: String
    /// What holds it up, one sentence.
    public let sentence: String
    /// What would help, one sentence.
    public let fix: String
    /// As it was measured, with its unit; nil when nothing is measured.
    public let measured: String?
    /// What it is compared with, with its unit.
    public let threshold: String?
    /// Identifiers of the tasks that hold what is missing.
    public let holders: [String]
    /// Earliest moment at which this reason can end by itself; nil when that is not known.
    public let earliest: Date?

    /// - Parameters:
    ///   - reason: What the scheduler says.
    ///   - wallOffset: What has to be added to the scheduler's clock to get seconds since 1970.
    package init(_ reason: WaitReason, wallOffset: Duration) {
        code = reason.code.text
        sentence = reason.sentence
        fix = reason.fix
        measured = reason.measured
        threshold = reason.threshold
        holders = reason.holders.map(\.rawValue)
        earliest = reason.earliest.map { Date(timeIntervalSince1970: ($0 + wallOffset).seconds) }
    }

    public var description: String { "\(code): \(sentence) \(fix)" }
}
