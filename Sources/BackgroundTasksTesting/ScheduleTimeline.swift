public import BackgroundTasks
public import Foundation
import ScheduleSimulation
import SchedulingCore
import TaskModel

/// What came of a schedule: who ran, who waited and for what, and why work was stopped. Times are since ``start``.
///
/// ```swift
/// let export = try #require(timeline.requests("org.example.photos.export.one").first)
/// #expect(export.outcome == .completed(failures: 0))
/// #expect(export.waitedFor["condition.network"] == .seconds(3_600))
/// print(timeline.text())
/// ```
public struct ScheduleTimeline: Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable {
        case waiting
        /// It works, and nobody watches.
        case background
        /// It works, and a person waits for it.
        case foreground
        /// Asked to pause, and not yet at a point where it can.
        case pausing
        case paused
        /// Asked to stop; its grace is running.
        case expiring

        /// Work goes on in it.
        public var isWork: Bool { self == .background || self == .foreground || self == .pausing }
    }

    /// A time in which a request was in one state for the same reasons.
    public struct Span: Hashable, Sendable {
        public let from: Duration
        public let to: Duration
        public let state: State
        /// What it waited for, as measured when the span began; empty for work.
        public let reasons: [BGWaitReason]
        /// Identity of the device it ran on; nil for the CPU.
        public let device: String?

        public var length: Duration { to - from }
    }

    /// One time that work was asked to stop.
    public struct Stop: Hashable, Sendable {
        public let at: Duration
        public let reason: BGStopReason

        /// A value to compare with.
        public init(at: Duration, reason: BGStopReason) {
            self.at = at
            self.reason = reason
        }
    }

    /// One submission, with all its runs.
    public struct Request: Hashable, Sendable, Identifiable {
        /// Numbers submissions in their order.
        public let id: UInt64
        public let identifier: String
        public let mode: BGTaskScheduler.Mode
        public let submitted: Duration
        /// In order and without gaps; none is empty.
        public let spans: [Span]
        /// When its launch handler was called, once for each run.
        public let starts: [Duration]
        /// When it was asked to stop, and why.
        public let stops: [Stop]
        /// nil while it is not over.
        public let outcome: BGTaskScheduler.Outcome?
        public let ended: Duration?

        /// Time that it worked.
        public var worked: Duration { total { $0.state.isWork } }
        /// Time that it waited or was paused.
        public var waited: Duration { total { $0.state == .waiting || $0.state == .paused } }

        /// Time that it waited or was paused, by the machine codes of the reasons; those that held it up together count in
        /// full each.
        public var waitedFor: [String: Duration] {
            var times: [String: Duration] = [:]
            for span in spans {
                for code in Set(span.reasons.map(\.code)) { times[code, default: .zero] += span.length }
            }
            return times
        }

        private func total(_ isCounted: (Span) -> Bool) -> Duration {
            spans.filter(isCounted).reduce(.zero) { $0 + $1.length }
        }
    }

    /// A request that was not taken.
    public struct Refusal: Hashable, Sendable {
        public let at: Duration
        public let identifier: String
        public let error: BGTaskScheduler.Error
    }

    /// Something worth knowing, e.g. `overdue`, `stallWarning` or `graceExceeded`.
    public struct Note: Hashable, Sendable {
        public let at: Duration
        public let identifier: String?
        /// Stable machine code.
        public let code: String
        public let sentence: String
    }

    private let timeline: Timeline

    /// The date of its beginning.
    public let start: Date
    /// How much was played.
    public let length: Duration
    /// In order of submission.
    public let requests: [Request]
    public let refusals: [Refusal]
    public let notes: [Note]

    /// - Parameters:
    ///   - timeline: As it was taken down.
    ///   - refusals: In place of the timeline's own.
    init(_ timeline: Timeline, refusals: [Refusal]? = nil) {
        self.timeline = timeline
        start = Date(timeIntervalSince1970: timeline.start.sinceEpoch.inSeconds)
        length = timeline.length
        requests = timeline.jobs.map { Request($0, wallOffset: timeline.start.sinceEpoch) }
        self.refusals =
            refusals
            ?? timeline.rejections.map {
                Refusal(at: $0.at, identifier: $0.identifier.rawValue, error: BGTaskScheduler.Error($0.rejection))
            }
        notes = timeline.notes.map {
            Note(at: $0.at, identifier: $0.identifier?.rawValue, code: $0.code, sentence: $0.sentence)
        }
    }

    /// Submissions of one identifier, in their order.
    public func requests(_ identifier: String) -> [Request] { requests.filter { $0.identifier == identifier } }

    /// The timeline as a chart for a terminal, as `bgrun simulate` prints it.
    ///
    /// - Parameters:
    ///   - width: Columns; at least 60 are used.
    ///   - isUnicode: Whether more than ASCII can be shown.
    /// - Returns: Lines, the last of them ended too.
    public func text(width: Int = 100, isUnicode: Bool = true) -> String {
        TextTimeline.draw(timeline, width: width, isUnicode: isUnicode)
    }

    /// The timeline as a picture.
    public var svg: String { SVGTimeline.draw(timeline) }
}

extension ScheduleTimeline.Request {
    fileprivate init(_ job: Timeline.Job, wallOffset: Duration) {
        self.init(
            id: job.id.rawValue, identifier: job.identifier.rawValue, mode: BGTaskScheduler.Mode(job.kind),
            submitted: job.submitted,
            spans: job.spans.map { span in
                .init(
                    from: span.from, to: span.to, state: .init(span.state),
                    reasons: span.reasons.map { BGWaitReason($0, wallOffset: wallOffset) }, device: span.device)
            },
            starts: job.starts, stops: job.stops.map { .init(at: $0.at, reason: BGStopReason($0.reason)) },
            outcome: job.outcome.map { BGTaskScheduler.Outcome($0) }, ended: job.ended)
    }
}

extension ScheduleTimeline.State {
    fileprivate init(_ state: Timeline.State) {
        switch state {
        case .waiting: self = .waiting
        case .background: self = .background
        case .foreground: self = .foreground
        case .pausing: self = .pausing
        case .paused: self = .paused
        case .expiring: self = .expiring
        }
    }
}
