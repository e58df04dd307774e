import BackgroundTasks
public import Foundation
import SchedulingCore

/// Checks that a workload keeps to what the scheduler expects of it: stopped, paused, promoted, killed and out of room at
/// any moment, it behaves, and a later run gives the same results, byte for byte.
///
/// ```swift
/// let check = WorkloadCheck { stage in
///     let export = Export(into: stage.output, checkpoints: stage.state)
///     return Workload(BGContinuedProcessingTask.self) { task in export.run(task) }
/// }
/// #expect(try await check.findings() == [])
/// ```
///
/// Each run is given a fresh workload, as a program that was started again would have: what it is to remember has to be in
/// the stage's folders. Time on the machine stands still, so nothing but the check stops the work.
public struct WorkloadCheck: Sendable {
    /// Real time that a workload is given.
    public struct Limits: Hashable, Sendable {
        /// From being asked to stop to the completion of the task; 5 s, as the scheduler gives.
        public var grace: Duration = .seconds(5)
        /// For one run; a workload that takes longer counts as one that never ends.
        public var patience: Duration = .seconds(60)

        public init() {}
    }

    /// Chooses the moments; the same seed chooses the same ones.
    public var seed: UInt64 = 1
    /// Expirations that are tried at most, each at a moment of its own.
    public var expirations = 12
    /// Pauses, promotions, kills and full volumes that are tried at most, of each.
    public var others = 3
    public var limits = Limits()

    private let make: @Sendable (WorkloadStage) throws -> Workload

    /// - Parameter make: Makes a workload that knows nothing but what is in the folders of its stage.
    public init(_ make: @escaping @Sendable (WorkloadStage) throws -> Workload) {
        self.make = make
    }

    /// Tries everything.
    ///
    /// - Parameter kill: Runs a ``WorkloadKill`` in a child process, and returns when that is gone; without it, runs that
    ///   are killed are tried only on copies of the folders.
    /// - Returns: What the workload does not keep to, each kind once; empty when it conforms.
    /// - Throws: What the workload's closure and `kill` throw, and errors of the file system.
    public func findings(
        killing kill: (@Sendable (WorkloadKill) async throws -> Void)? = nil
    ) async throws -> [WorkloadFinding] {
        let root = FileManager.default.temporaryDirectory.appending(path: "bgrun-check-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        var trials = WorkloadTrials(limits: limits, root: root, make: make)
        guard try await trials.undisturbed() else { return trials.findings }
        var dice = Dice(seed: seed)
        let reasons: [BGStopReason] = [.timeBudget, .userStop, .conditionLost(.network), .shutdown, .preempted]
        for (index, moment) in trials.moments(expirations, &dice).enumerated() {
            let again = 1 + Int(dice.next() % 4)
            try await trials.expired(at: moment, thenAt: again, reasons[index % reasons.count])
        }
        for moment in trials.moments(others, &dice) {
            try await trials.paused(at: moment)
            try await trials.promoted(at: moment)
            try await trials.withoutTime(at: moment)
            try await trials.withFullVolume(at: moment)
            if let kill { try await trials.killed(at: moment, by: kill) }
        }
        return trials.findings
    }

    /// A run of the workload that nobody disturbs, except as its kill is armed.
    func runOnce(in folder: URL) async throws {
        var trials = WorkloadTrials(limits: limits, root: folder, make: make)
        _ = try await trials.run(in: folder, "a run to be killed", disturbances: nil)
    }
}

/// A run of a workload that kills its process at one moment.
///
/// ```swift
/// let findings = try await check.findings { kill in
///     await #expect(processExitsWith: .signal(SIGKILL)) { [kill] in
///         try await kill.run(check)  // makes the same check as the parent
///     }
/// }
/// ```
public struct WorkloadKill: Hashable, Codable, Sendable {
    /// With the folders of the stage.
    public let folder: URL
    /// Counted from 1.
    public let moment: Int

    /// Runs the check's workload once; does not return when the moment comes. Only for a child process.
    ///
    /// - Parameter check: Its workload is run.
    /// - Throws: What the workload's closure throws.
    public func run(_ check: WorkloadCheck) async throws {
        KillPoint.arm(WorkloadRun.killPoint, at: moment)
        try await check.runOnce(in: folder)
    }
}

/// Numbers that a seed decides (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
