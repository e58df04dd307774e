package import SchedulingCore
package import TaskModel

/// Takes down what happens to each job, as spans that end when something changes.
package struct TimelineRecorder: Sendable {
    package private(set) var timeline: Timeline
    private var index: [JobID: Int] = [:]
    private var open: [JobID: Timeline.Span] = [:]
    private var openConditions: [ConditionKind: Timeline.ConditionSpan] = [:]

    package init(title: String, start: WallTime) {
        timeline = Timeline(title: title, start: start, length: .zero)
    }

    package mutating func submitted(_ id: JobID, _ virtual: VirtualRequest, at now: Duration) {
        // A retried entry keeps its row.
        guard index[id] == nil else { return }
        index[id] = timeline.jobs.count
        timeline.jobs.append(
            Timeline.Job(
                id: id, program: virtual.program, identifier: virtual.request.identifier, kind: virtual.request.kind,
                title: virtual.request.title, submitted: now))
    }

    package mutating func rejected(_ virtual: VirtualRequest, _ rejection: Rejection, at now: Duration) {
        timeline.rejections.append(
            Timeline.RejectedRequest(
                at: now, program: virtual.program, identifier: virtual.request.identifier, kind: virtual.request.kind,
                rejection: rejection))
    }

    package mutating func launched(_ id: JobID, at now: Duration) {
        timeline.counts.launches += 1
        if let row = index[id] { timeline.jobs[row].starts.append(now) }
    }

    package mutating func askedToEnd(_ id: JobID, _ reason: StopReason, at now: Duration) {
        if let row = index[id] { timeline.jobs[row].stops.append(Timeline.Stop(at: now, reason: reason)) }
    }

    package mutating func state(
        _ id: JobID, _ state: Timeline.State, reasons: [WaitReason], device: String?, at now: Duration
    ) {
        if let span = open[id] {
            if span.state == state, span.device == device, span.reasons.map(\.code) == reasons.map(\.code) { return }
            close(id, at: now)
        }
        open[id] = Timeline.Span(from: now, to: now, state: state, reasons: reasons, device: device)
    }

    package mutating func ended(_ id: JobID, _ outcome: TaskOutcome, chunks: Int, at now: Duration) {
        close(id, at: now)
        guard let row = index[id] else { return }
        timeline.jobs[row].outcome = outcome
        timeline.jobs[row].ended = now
        timeline.jobs[row].chunks = chunks
    }

    package mutating func chunks(_ id: JobID, _ chunks: Int) {
        if let row = index[id] { timeline.jobs[row].chunks = chunks }
    }

    package mutating func note(_ code: String, _ sentence: String, _ id: JobID?, at now: Duration) {
        let identifier = id.flatMap { index[$0] }.map { timeline.jobs[$0].identifier }
        timeline.notes.append(Timeline.Note(at: now, identifier: identifier, code: code, sentence: sentence))
    }

    package mutating func note(_ code: String, _ sentence: String, about identifier: TaskIdentifier?, at now: Duration)
    {
        timeline.notes.append(Timeline.Note(at: now, identifier: identifier, code: code, sentence: sentence))
    }

    package mutating func conditions(_ gates: ConditionGates, _ thresholds: ConditionThresholds, at now: Duration) {
        for kind in ConditionKind.allCases {
            let isClosed = gates.closed.contains(ConditionSet(kind))
            if isClosed, openConditions[kind] == nil {
                let words = ConditionWords(kind, gates.conditions, thresholds)
                let measured = words.measured.map { " It is \($0), and must be \(words.threshold ?? "otherwise")." }
                openConditions[kind] = Timeline.ConditionSpan(
                    kind: kind, from: now, to: now, text: words.sentence + (measured ?? ""))
            } else if !isClosed, let span = openConditions.removeValue(forKey: kind) {
                append(span, to: now)
            }
        }
    }

    package mutating func count(_ path: WritableKeyPath<Timeline.Counts, Int>) {
        timeline.counts[keyPath: path] += 1
    }

    /// The timeline up to now, with what is going on cut there.
    package func finished(at now: Duration) -> Timeline {
        var copy = self
        for id in open.keys.sorted() { copy.close(id, at: now) }
        for kind in ConditionKind.allCases {
            if let span = openConditions[kind] { copy.append(span, to: now) }
        }
        copy.timeline.length = now
        copy.timeline.conditions.sort { ($0.from, $0.kind.rawValue) < ($1.from, $1.kind.rawValue) }
        return copy.timeline
    }

    private mutating func append(_ span: Timeline.ConditionSpan, to now: Duration) {
        guard now > span.from else { return }
        var span = span
        span.to = now
        timeline.conditions.append(span)
    }

    private mutating func close(_ id: JobID, at now: Duration) {
        guard var span = open.removeValue(forKey: id), let row = index[id], now > span.from else { return }
        span.to = now
        timeline.jobs[row].spans.append(span)
    }
}
