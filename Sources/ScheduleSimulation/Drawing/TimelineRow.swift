package import TaskModel

/// All submissions of one identifier, drawn as one row.
package struct TimelineRow: Sendable {
    package var identifier: TaskIdentifier
    package var kind: TaskKind
    /// In order of submission.
    package var jobs: [Timeline.Job]
    package var rejections: [Timeline.RejectedRequest]
    /// What is drawn at each time: work before waits, in order and apart.
    package var spans: [Timeline.Span]

    /// Rows in order of their first submission.
    package static func rows(of timeline: Timeline) -> [TimelineRow] {
        var rows: [TimelineRow] = []
        var index: [TaskIdentifier: Int] = [:]
        func row(_ identifier: TaskIdentifier, _ kind: TaskKind) -> Int {
            if let known = index[identifier] { return known }
            index[identifier] = rows.count
            rows.append(TimelineRow(identifier: identifier, kind: kind, jobs: [], rejections: [], spans: []))
            return rows.count - 1
        }
        let moments =
            timeline.jobs.indices.map { (timeline.jobs[$0].submitted, false, $0) }
            + timeline.rejections.indices.map { (timeline.rejections[$0].at, true, $0) }
        for (_, isRejection, position) in moments.sorted(by: { ($0.0, $0.2) < ($1.0, $1.2) }) {
            if isRejection {
                let rejection = timeline.rejections[position]
                rows[row(rejection.identifier, rejection.kind)].rejections.append(rejection)
            } else {
                let job = timeline.jobs[position]
                rows[row(job.identifier, job.kind)].jobs.append(job)
            }
        }
        for position in rows.indices { rows[position].spans = flattened(rows[position].jobs) }
        return rows
    }

    package var worked: Duration { jobs.reduce(.zero) { $0 + $1.worked } }
    package var waited: Duration { jobs.reduce(.zero) { $0 + $1.waited } }
    package var launches: Int { jobs.reduce(0) { $0 + $1.launches } }
    package var waits: [(code: WaitReason.Code, time: Duration)] { Timeline.waits(jobs.flatMap(\.spans)) }

    /// How its submissions ended: `completed`, or with several `3 completed, 1 stopped.timeBudget`.
    package var endings: String {
        var counts: [(code: String, count: Int)] = []
        for code in jobs.map({ $0.outcome?.code ?? $0.unfinished }) + rejections.map({ _ in "rejected" }) {
            if let known = counts.firstIndex(where: { $0.code == code }) {
                counts[known].count += 1
            } else {
                counts.append((code, 1))
            }
        }
        guard jobs.count + rejections.count > 1 else { return counts.first?.code ?? "" }
        return counts.map { "\($0.count) \($0.code)" }.joined(separator: ", ")
    }

    /// The next run may wait while one runs; the run is what is seen.
    private static func flattened(_ jobs: [Timeline.Job]) -> [Timeline.Span] {
        var busy = jobs.flatMap(\.spans).filter { $0.state != .waiting }.sorted { $0.from < $1.from }
        var position = 0
        var gaps: [Timeline.Span] = []
        for span in jobs.flatMap(\.spans).filter({ $0.state == .waiting }).sorted(by: { $0.from < $1.from }) {
            var from = span.from
            while position < busy.count, busy[position].to <= from { position += 1 }
            var next = position
            while from < span.to {
                let end = next < busy.count ? min(max(busy[next].from, from), span.to) : span.to
                if end > from {
                    var piece = span
                    (piece.from, piece.to) = (from, end)
                    gaps.append(piece)
                }
                guard next < busy.count else { break }
                from = max(from, busy[next].to)
                next += 1
            }
        }
        busy += gaps
        return busy.sorted { $0.from < $1.from }
    }
}

extension Timeline.Job {
    /// What it does at the end of what was played.
    fileprivate var unfinished: String {
        switch spans.last?.state {
        case .background, .foreground, .pausing: "running"
        case .paused: "paused"
        case .expiring: "expiring"
        case .waiting, nil: "waiting"
        }
    }
}

/// Identifiers without what all of them begin with.
package struct ShortNames: Sendable {
    package let prefix: String

    package init(_ identifiers: [TaskIdentifier]) {
        let all = identifiers.map { $0.rawValue.split(separator: ".") }
        guard var common = all.first?.dropLast() else {
            prefix = ""
            return
        }
        for parts in all {
            common = common.prefix(zip(common, parts.dropLast()).prefix { $0 == $1 }.count)
        }
        prefix = common.isEmpty ? "" : common.joined(separator: ".") + "."
    }

    package func name(_ identifier: TaskIdentifier) -> String { String(identifier.rawValue.dropFirst(prefix.count)) }
}
