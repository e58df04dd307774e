package import TaskModel

/// What came of a described day: who ran, who waited and for what.
package struct Timeline: Sendable, Equatable {
    package var title: String
    package var start: WallTime
    /// What was played; shorter than the day where it was stopped before its end.
    package var length: Duration
    /// In order of submission.
    package var jobs: [Job] = []
    package var rejections: [RejectedRequest] = []
    package var conditions: [ConditionSpan] = []
    package var notes: [Note] = []
    package var counts = Counts()

    package enum State: String, Sendable, CaseIterable {
        case waiting, background, foreground, pausing, paused, expiring

        package var isWork: Bool { self == .background || self == .foreground || self == .pausing }
    }

    package struct Span: Sendable, Equatable {
        /// Since the start.
        package var from: Duration
        package var to: Duration
        package var state: State
        /// As they were when the span began; empty for work.
        package var reasons: [WaitReason]
        /// nil for the CPU lane.
        package var device: String?

        package var length: Duration { to - from }
    }

    package struct Job: Sendable, Equatable {
        package var id: JobID
        package var program: String
        package var identifier: TaskIdentifier
        package var kind: TaskKind
        package var title: String
        package var submitted: Duration
        /// In order, without gaps.
        package var spans: [Span] = []
        /// When it was launched, once for each run.
        package var starts: [Duration] = []
        /// When it was asked to end, and why.
        package var stops: [Stop] = []
        package var chunks = 0
        /// nil while it is not over.
        package var outcome: TaskOutcome?
        package var ended: Duration?

        package var launches: Int { starts.count }
        /// Time that it worked.
        package var worked: Duration { spans.filter(\.state.isWork).reduce(.zero) { $0 + $1.length } }
        /// Time that it waited or was paused.
        package var waited: Duration {
            spans.filter { $0.state == .waiting || $0.state == .paused }.reduce(.zero) { $0 + $1.length }
        }

        /// Time by reason, longest first; reasons that held it up together count in full each.
        package var waits: [(code: WaitReason.Code, time: Duration)] { Timeline.waits(spans) }
    }

    package struct Stop: Sendable, Equatable {
        package var at: Duration
        package var reason: StopReason
    }

    package struct RejectedRequest: Sendable, Equatable {
        package var at: Duration
        package var program: String
        package var identifier: TaskIdentifier
        package var kind: TaskKind
        package var rejection: Rejection
    }

    /// A time in which a condition held work up.
    package struct ConditionSpan: Sendable, Equatable {
        package var kind: ConditionKind
        package var from: Duration
        package var to: Duration
        /// What was measured when it began, with what it is compared with.
        package var text: String
    }

    package struct Note: Sendable, Equatable {
        package var at: Duration
        package var identifier: TaskIdentifier?
        /// Stable machine code.
        package var code: String
        package var sentence: String
    }

    package struct Counts: Sendable, Equatable {
        /// Moments at which something happened.
        package var steps = 0
        package var requests = 0
        package var conditionChanges = 0
        package var events = 0
        package var deadlines = 0
        package var progressReports = 0
        package var launches = 0
    }

    /// Time by reason in some spans, longest first.
    package static func waits(_ spans: [Span]) -> [(code: WaitReason.Code, time: Duration)] {
        var times: [WaitReason.Code: Duration] = [:]
        for span in spans {
            for code in Set(span.reasons.map(\.code)) { times[code, default: .zero] += span.length }
        }
        return times.sorted { ($1.value, $0.key.text) < ($0.value, $1.key.text) }.map { (code: $0.key, time: $0.value) }
    }
}
