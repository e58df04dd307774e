import SchedulingCore
package import TaskModel

/// The JSON form of a timeline. Times are seconds since the start of the day.
package struct TimelineDocument: Encodable {
    /// Raised when a field changes its meaning or goes away.
    let version = 1
    let title: String
    /// Seconds since 1970.
    let start: Double
    let length: Double
    let counts: Counts
    let conditions: [Condition]
    let jobs: [Job]
    let rejected: [Rejected]
    let notes: [Note]

    struct Counts: Encodable {
        let steps, requests, launches, conditionChanges, events, deadlines, progressReports: Int
    }

    struct Condition: Encodable {
        let kind: String
        let from, to: Double
        let text: String
    }

    struct Job: Encodable {
        let id: UInt64
        let program, identifier, kind: String
        let submitted: Double
        let ended: Double?
        let outcome: String?
        let launches, chunks: Int
        let waited, worked: Double
        let waitedFor: [String: Double]
        let spans: [Span]
    }

    struct Span: Encodable {
        let from, to: Double
        let state: String
        let device: String?
        let reasons: [ReasonDocument]
    }

    struct Rejected: Encodable {
        let at: Double
        let program, identifier, kind, code: String
        let failures: [Rejection.Failure]
    }

    struct Note: Encodable {
        let at: Double
        let identifier: String?
        let code, sentence: String
    }

    package init(_ timeline: Timeline) {
        title = timeline.title
        start = timeline.start.sinceEpoch.inSeconds
        length = timeline.length.inSeconds
        let found = timeline.counts
        counts = Counts(
            steps: found.steps, requests: found.requests, launches: found.launches,
            conditionChanges: found.conditionChanges, events: found.events, deadlines: found.deadlines,
            progressReports: found.progressReports)
        conditions = timeline.conditions.map {
            Condition(kind: $0.kind.rawValue, from: $0.from.inSeconds, to: $0.to.inSeconds, text: $0.text)
        }
        jobs = timeline.jobs.map(Job.init)
        rejected = timeline.rejections.map {
            Rejected(
                at: $0.at.inSeconds, program: $0.program, identifier: $0.identifier.rawValue, kind: $0.kind.rawValue,
                code: $0.rejection.code.rawValue, failures: $0.rejection.failures)
        }
        notes = timeline.notes.map {
            Note(
                at: $0.at.inSeconds, identifier: $0.identifier?.rawValue, code: $0.code, sentence: $0.sentence)
        }
    }
}

extension TimelineDocument.Job {
    fileprivate init(_ job: Timeline.Job) {
        self.init(
            id: job.id.rawValue, program: job.program, identifier: job.identifier.rawValue, kind: job.kind.rawValue,
            submitted: job.submitted.inSeconds, ended: job.ended?.inSeconds, outcome: job.outcome?.code,
            launches: job.launches, chunks: job.chunks, waited: job.waited.inSeconds, worked: job.worked.inSeconds,
            waitedFor: Dictionary(
                job.waits.map { ($0.code.text, $0.time.inSeconds) }, uniquingKeysWith: { first, _ in first }),
            spans: job.spans.map { span in
                .init(
                    from: span.from.inSeconds, to: span.to.inSeconds, state: span.state.rawValue,
                    device: span.device, reasons: span.reasons.map { ReasonDocument($0, origin: .zero) })
            })
    }
}

/// The JSON form of a reason to wait.
package struct ReasonDocument: Encodable, Sendable {
    let code, sentence, fix: String
    let measured, threshold: String?
    let holders: [String]
    /// Seconds from the origin; nil when it is not known.
    let earliest: Double?

    /// - Parameters:
    ///   - reason: What is told.
    ///   - origin: The moment on the scheduler's clock that times are told from.
    package init(_ reason: WaitReason, origin: Duration) {
        code = reason.code.text
        sentence = reason.sentence
        fix = reason.fix
        measured = reason.measured
        threshold = reason.threshold
        holders = reason.holders.map(\.rawValue)
        earliest = reason.earliest.map { ($0 - origin).inSeconds }
    }
}
