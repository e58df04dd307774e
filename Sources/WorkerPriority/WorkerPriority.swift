import CWorkerPriority
package import Glibc
package import TaskModel

/// Gives the processes of one job the priority that is wanted, by the first means that works here, and changes it while
/// they run. Needs no privilege.
///
/// The job's first process leads a session of its own (setsid), with all its workers in it. Calls read and write files of
/// the kernel's and may run a command for some milliseconds: not for Swift's cooperative threads.
package struct WorkerPriority: Sendable {
    package enum Outcome: Hashable, Sendable {
        /// In force, as the kernel tells it.
        case applied(PriorityTier)
        /// Not yet: call again after that time.
        case retry(after: Duration)
    }

    /// Readings of a unit's weight before the next means is tried: the manager makes units and changes them a moment after
    /// it has answered.
    private static let maxReadings = 10
    private static let readingInterval: Duration = .milliseconds(20)
    /// Between readings of a unit that takes its time to be made.
    private static let slowInterval: Duration = .milliseconds(200)
    /// Somewhat longer than the kernel's own limit.
    private static let autogroupInterval: Duration = .milliseconds(110)
    /// The kernel ends workers, which add more, before the process that has their journal, and that before others.
    private static let oomScore = "200"

    private let process: pid_t
    private let unit: String?
    private let system: PrioritySystem
    private var readings = 0
    /// The manager was told of the present wish.
    private var hasAsked = false
    /// The wish that the readings are of.
    private var wanted: RunTerms.Priority?
    /// Means that were tried and did nothing.
    private var failed: Set<PriorityTier> = []
    /// The means of the last change that was read back.
    package private(set) var tier: PriorityTier?

    /// Prepares for the processes of a job that was started.
    ///
    /// - Parameters:
    ///   - process: The first process of the job.
    ///   - unit: The unit it was started as by ``launch(_:unit:priority:system:)``, nil when it was not.
    ///   - system: Where priorities are read and written.
    package init(process: pid_t, unit: String?, system: PrioritySystem = PrioritySystem()) {
        self.process = process
        self.unit = unit.map { $0.hasSuffix(".scope") ? $0 : $0 + ".scope" }
        self.system = system
    }

    /// The command that starts a job's process so that its priority can be changed, and nil for the unit where it needs
    /// none. The process that is started becomes the job's.
    ///
    /// - Parameters:
    ///   - command: The job's program, by its path, and its arguments.
    ///   - environment: The job's variables. The manager is found by one of them, which is added where it is missing: a
    ///     job may have been asked for from where there is no manager.
    ///   - unit: A name no other unit has, e.g. `bgrun-job-12`.
    ///   - priority: What it starts with.
    ///   - system: Where to start it.
    /// - Returns: What to start instead.
    package static func launch(
        _ command: [String], environment: inout [String: String], unit: String, priority: RunTerms.Priority,
        system: PrioritySystem = PrioritySystem()
    ) -> (command: [String], unit: String?) {
        guard let manager = UserManager(system), manager.isReached(with: &environment) else { return (command, nil) }
        return (manager.launch(command, unit: unit, weight: priority.unitWeight), unit)
    }

    /// What jobs that are started now would be given, for a person who asks before there is one.
    package static func expectedTier(system: PrioritySystem = PrioritySystem()) -> PriorityTier {
        if UserManager(system) != nil { return .userManager }
        let isEnabled = system.text("\(system.proc)/sys/kernel/sched_autogroup_enabled") == "1"
        return isEnabled && ControlGroups(of: getpid(), system)?.isAtRoot == true ? .autogroup : .pacing
    }

    /// Applies a priority by the first means that works, and reads it back.
    package mutating func apply(_ priority: RunTerms.Priority) -> Outcome {
        if wanted != priority {
            wanted = priority
            readings = 0
            hasAsked = false
            // What the manager did not do once it may do now; a unit that it has made keeps its weight without it.
            failed.remove(.userManager)
            let isBackground: Int32 = priority == .background ? 1 : 0
            for thread in system.threads(of: process) {
                _ = wp_set_io_idle(thread, isBackground)
                _ = wp_set_patient(thread, isBackground)
            }
            _ = system.write(Self.oomScore, to: "\(system.proc)/\(process)/oom_score_adj")
        }
        if let outcome = applyByManager(priority) ?? applyByAutogroup(priority) {
            if case .applied(let tier) = outcome { self.tier = tier }
            return outcome
        }
        tier = .pacing
        return .applied(.pacing)
    }

    /// The processors of the job's unit, where that is what gives it its priority.
    package var processors: UnitProcessors? {
        guard tier == .userManager, let folder = ControlGroups(of: process, system)?.folder else { return nil }
        return UnitProcessors(folder: folder, system: system)
    }

    private mutating func applyByManager(_ priority: RunTerms.Priority) -> Outcome? {
        guard let unit, !failed.contains(.userManager), let manager = UserManager(system) else { return nil }
        if ControlGroups(of: process, system)?.isIn(unit: unit) == true {
            if isMet(priority) { return .applied(.userManager) }
            if !hasAsked {
                hasAsked = true
                readings = 0
                _ = manager.setWeight(priority.unitWeight, of: unit)
                if isMet(priority) { return .applied(.userManager) }
            }
        }
        readings += 1
        if readings < Self.maxReadings { return .retry(after: Self.readingInterval) }
        // On a machine that is busy or has just started, it takes a while; until then it is no other program.
        if UserManager.isMaking(system.text("\(system.proc)/\(process)/comm")) {
            return .retry(after: Self.slowInterval)
        }
        failed.insert(.userManager)
        return nil
    }

    private func isMet(_ priority: RunTerms.Priority) -> Bool {
        ControlGroups(of: process, system)?.weight.map(priority.isMet) == true
    }

    private mutating func applyByAutogroup(_ priority: RunTerms.Priority) -> Outcome? {
        guard !failed.contains(.autogroup), let group = Autogroup(of: process, system) else { return nil }
        if group.nice == priority.autogroupNice { return .applied(.autogroup) }
        switch group.setNice(priority.autogroupNice) {
        case .done: return .applied(.autogroup)
        case .tooSoon: return .retry(after: Self.autogroupInterval)
        case .refused:
            failed.insert(.autogroup)
            return nil
        }
    }
}

extension RunTerms.Priority {
    fileprivate var unitWeight: String { self == .background ? "idle" : "100" }

    fileprivate func isMet(by weight: Int) -> Bool { self == .background ? weight == 0 : weight == 100 }

    fileprivate var autogroupNice: Int { self == .background ? 19 : 0 }
}
