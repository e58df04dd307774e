/// The figures of one program in one case.
struct ContestantResult: Codable, Sendable {
    let key: String
    let title: String
    let remark: String
    let runs: [Measurement]
    let peakMB: Double

    init(_ contestant: Contestant, runs: [Measurement], peakBytes: Int) {
        key = contestant.key
        title = contestant.title
        remark = contestant.remark
        self.runs = runs
        peakMB = Double(peakBytes) / 1e6
    }

    var wall: Double { median(runs.map(\.wall)) }
    var cpu: Double { median(runs.map(\.cpu)) }
}

/// A target beside what was measured.
struct Verdict: Codable, Sendable {
    let text: String
    let limit: Double
    /// nil when a program that the target names did not run.
    let measured: Double?

    var passes: Bool? { measured.map { $0 <= limit } }
}

/// The figures of all programs in one case.
struct CaseResult: Codable, Sendable {
    let name: String
    let title: String
    let pictures: Int
    let contestants: [ContestantResult]
    let absent: [AbsentContestant]
    let verdicts: [Verdict]

    init(work: BenchmarkCase, pictures: Int, contestants: [ContestantResult], absent: [AbsentContestant]) {
        name = work.name
        title = work.title
        self.pictures = pictures
        self.contestants = contestants
        self.absent = absent
        let bgrun = contestants.first { $0.key == "bgrun" }
        var verdicts = work.targets.map { target in
            let fastest =
                contestants
                .filter { target.contestants.contains($0.key) }
                .min { $0.wall < $1.wall }
            let name = fastest?.key ?? target.contestants.joined(separator: " or ")
            return Verdict(
                text: "\(target.figure == .wall ? "wall time" : "CPU seconds") of \(name)", limit: target.limit,
                measured: bgrun.flatMap { bgrun in
                    fastest.map { Self.ratio(bgrun, to: $0, target.figure) }
                })
        }
        if let limit = work.memoryLimitMB {
            verdicts.append(Verdict(text: "MB peak memory", limit: limit, measured: bgrun?.peakMB))
        }
        if let limit = work.wallLimit {
            verdicts.append(Verdict(text: "seconds of wall time", limit: limit, measured: bgrun?.wall))
        }
        self.verdicts = verdicts
    }

    /// The median over the rounds of one program's figure divided by the other's in the same round.
    static func ratio(
        _ one: ContestantResult, to other: ContestantResult, _ figure: BenchmarkCase.Target.Figure
    ) -> Double {
        median(
            zip(one.runs, other.runs).map { one, other in
                figure == .wall ? one.wall / other.wall : one.cpu / other.cpu
            })
    }
}
