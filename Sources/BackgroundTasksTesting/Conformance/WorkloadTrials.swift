import BackgroundTasks
import Foundation

/// The trials that a workload is put to, one after the other, each in a folder of its own.
struct WorkloadTrials {
    /// A place to disturb a run at.
    enum Moment: CustomStringConvertible, Hashable {
        case count(Int)
        /// Of real time, for workloads that name no moments.
        case delay(Duration)

        var description: String {
            switch self {
            case .count(let count): "moment \(count)"
            case .delay(let delay): "after \(delay)"
            }
        }
    }

    private let limits: WorkloadCheck.Limits
    private let root: URL
    private let make: @Sendable (WorkloadStage) throws -> Workload
    private(set) var findings: [WorkloadFinding] = []
    private var mode: BGTaskScheduler.Mode = .continued
    private var reference = WorkloadFiles(of: URL(filePath: "/nonexistent"))
    private var stateFiles = 0
    private var momentCount = 0
    private var duration: Duration = .zero
    private var usesVolume = false
    /// A run is still going on: nothing more can be tried.
    private var isStuck = false
    private var trials = 0

    init(
        limits: WorkloadCheck.Limits, root: URL, make: @escaping @Sendable (WorkloadStage) throws -> Workload
    ) {
        self.limits = limits
        self.root = root
        self.make = make
    }

    /// Moments of a run that nobody disturbs, chosen by the dice: the first and the last one, and others between them.
    func moments(_ count: Int, _ dice: inout Dice) -> [Moment] {
        if momentCount < 2 {
            let longest = max(duration / .seconds(1), 0.001)
            return (0..<count).map { _ in .delay(.seconds(Double.random(in: 0...longest, using: &dice))) }
        }
        let ends = [1, momentCount].prefix(count)
        let between = momentCount > 2 ? Array(2..<momentCount).shuffled(using: &dice) : []
        return (ends + between.prefix(count - ends.count)).map(Moment.count)
    }

    // MARK: Trials

    /// - Returns: Whether it makes sense to disturb it.
    mutating func undisturbed() async throws -> Bool {
        let folder = try newFolder()
        let run = try await run(in: folder, "undisturbed", disturbances: [:])
        guard let run else { return false }
        guard run.outcome?.isCompleted == true else {
            if findings.isEmpty {
                find(.doesNotRun, "The workload ended as \(run.outcome?.description ?? "nothing")", "undisturbed")
            }
            return false
        }
        reference = WorkloadFiles(of: folder.appending(path: "output"))
        stateFiles = WorkloadFiles(of: folder.appending(path: "state")).names.count
        momentCount = run.moments
        duration = run.duration
        return true
    }

    /// Asked to stop, started again, asked to stop again, and then left alone.
    mutating func expired(at moment: Moment, thenAt second: Int, _ reason: BGStopReason) async throws {
        let trial = "asked to stop at \(moment), \(reason)"
        let folder = try newFolder()
        guard let first = try await run(in: folder, trial, at: moment, .expire(reason)) else { return }
        checkStopped(folder, first, trial)
        if first.outcome?.isCompleted == true { return checkDone(folder, trial) }
        let again = "\(trial), started again and asked to stop at moment \(second)"
        guard let next = try await run(in: folder, again, at: .count(second), .expire(reason)) else { return }
        checkStopped(folder, next, again)
        if next.outcome?.isCompleted == true { return checkDone(folder, again) }
        try await finish(folder, again)
    }

    mutating func paused(at moment: Moment) async throws {
        guard mode == .continued else { return }
        let trial = "paused at \(moment) and resumed"
        let folder = try newFolder()
        guard let run = try await run(in: folder, trial, at: moment, .pause) else { return }
        checkWentOn(folder, run, trial)
    }

    mutating func promoted(at moment: Moment) async throws {
        guard mode == .continued, case .count(let count) = moment else { return }
        let trial = "demoted at \(moment), then promoted and demoted"
        let folder = try newFolder()
        let changes: [Int: WorkloadRun.Disturbance] = [count: .demote, count + 1: .promote, count + 2: .demote]
        guard let run = try await run(in: folder, trial, disturbances: changes) else { return }
        checkWentOn(folder, run, trial)
    }

    /// Gone at a moment, as far as its folders tell: the expiration handler had no time.
    mutating func withoutTime(at moment: Moment) async throws {
        let trial = "ended at \(moment) without time for its handler"
        let folder = try newFolder()
        let copy = try newFolder()
        let run = try await run(in: folder, trial, at: moment, .copyAndExpire(to: copy))
        guard let run, run.wasDisturbed else { return }
        checkPartial(copy, trial)
        try await finish(copy, trial)
    }

    mutating func withFullVolume(at moment: Moment) async throws {
        guard usesVolume else { return }
        let trial = "with a volume that is full from \(moment) on"
        let folder = try newFolder()
        var wasFull = false
        let run = try await run(in: folder, trial, at: moment, .fillVolume) { wasFull = $0.volumeWasFull }
        guard let run else { return }
        if run.outcome?.isCompleted != true {
            checkPartial(folder, trial)
            try await finish(folder, trial)
        } else if wasFull {
            find(.fullVolumeIgnored, "The task succeeded though a file did not fit", trial)
        } else {
            checkDone(folder, trial)
        }
    }

    mutating func killed(at moment: Moment, by kill: (WorkloadKill) async throws -> Void) async throws {
        guard case .count(let count) = moment, !isStuck else { return }
        let trial = "killed at \(moment)"
        let folder = try newFolder()
        try await kill(WorkloadKill(folder: folder, moment: count))
        checkPartial(folder, trial)
        try await finish(folder, trial)
    }

    // MARK: Runs

    private mutating func run(
        in folder: URL, _ trial: String, at moment: Moment, _ disturbance: WorkloadRun.Disturbance,
        lookAt: (WorkloadRun) -> Void = { _ in }
    ) async throws -> WorkloadRun.Seen? {
        switch moment {
        case .count(let count):
            try await run(in: folder, trial, disturbances: [count: disturbance], lookAt: lookAt)
        case .delay(let delay):
            try await run(in: folder, trial, disturbances: [1: disturbance], after: delay, lookAt: lookAt)
        }
    }

    /// - Parameters:
    ///   - folder: Of its stage.
    ///   - trial: What is told of findings.
    ///   - disturbances: By moment; nil to be killed at whichever is armed.
    ///   - delay: When the first disturbance comes by time.
    ///   - lookAt: Is given the run when it is over.
    /// - Returns: nil when nothing can be told from it, or nothing more can be tried.
    /// - Throws: What making the workload throws, and errors of the file system.
    mutating func run(
        in folder: URL, _ trial: String, disturbances: [Int: WorkloadRun.Disturbance]?, after delay: Duration? = nil,
        lookAt: (WorkloadRun) -> Void = { _ in }
    ) async throws -> WorkloadRun.Seen? {
        guard !isStuck else { return nil }
        for name in ["output", "state"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        let run = try WorkloadRun(
            in: folder, trial: trial, disturbances: disturbances, limits: limits)
        let workload = try make(run.stage)
        mode = workload.mode
        let seen = await run.play(workload, after: delay)
        usesVolume = usesVolume || run.volumeWasUsed
        isStuck = seen.isStuck
        for finding in seen.findings { add(finding) }
        lookAt(run)
        return isStuck ? nil : seen
    }

    /// Runs what was stopped to its end.
    private mutating func finish(_ folder: URL, _ trial: String) async throws {
        let trial = "\(trial), then resumed"
        guard let run = try await run(in: folder, trial, disturbances: [:]) else { return }
        guard run.outcome?.isCompleted == true else {
            return find(.doesNotResume, "The resumed run ended as \(run.outcome?.description ?? "nothing")", trial)
        }
        checkDone(folder, trial)
    }

    private mutating func newFolder() throws -> URL {
        trials += 1
        let folder = root.appending(path: "\(trials)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    // MARK: Checks

    private mutating func checkStopped(_ folder: URL, _ run: WorkloadRun.Seen, _ trial: String) {
        if run.outcome?.isCompleted != true { checkPartial(folder, trial) }
    }

    private mutating func checkWentOn(_ folder: URL, _ run: WorkloadRun.Seen, _ trial: String) {
        guard run.outcome?.isCompleted == true else {
            return find(.doesNotGoOn, "The task ended as \(run.outcome?.description ?? "nothing")", trial)
        }
        checkDone(folder, trial)
    }

    /// What stands among the results is finished.
    private mutating func checkPartial(_ folder: URL, _ trial: String) {
        let files = WorkloadFiles(of: folder.appending(path: "output"))
        for name in files.names {
            guard let finished = reference.contents[name] else {
                find(.temporaryFile, "\"\(name)\" is among the results", trial)
                continue
            }
            if files.contents[name] != finished { find(.partialFile, "\"\(name)\" is not the finished file", trial) }
        }
    }

    private mutating func checkDone(_ folder: URL, _ trial: String) {
        let files = WorkloadFiles(of: folder.appending(path: "output"))
        for name in files.differing(from: reference) {
            if reference.contents[name] == nil {
                find(.temporaryFile, "\"\(name)\" is among the results", trial)
            } else {
                find(.outputDiffers, "\"\(name)\" is not as in a run that nobody disturbed", trial)
            }
        }
        let left = WorkloadFiles(of: folder.appending(path: "state")).names
        if left.count > stateFiles {
            find(.leftoverState, "\(left.count) files of its state are left and not \(stateFiles)", trial)
        }
    }

    private mutating func find(_ code: WorkloadFinding.Code, _ seen: String, _ trial: String) {
        add(WorkloadFinding(code, seen, in: trial))
    }

    /// The first of a kind says enough.
    private mutating func add(_ finding: WorkloadFinding) {
        if !findings.contains(where: { $0.code == finding.code }) { findings.append(finding) }
    }
}
