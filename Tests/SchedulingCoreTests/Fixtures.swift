import SchedulingCore
import TaskModel

/// A scheduler with one program, driven by hand.
struct Bench {
    static let program = "org.example"
    /// Midnight of some day, in seconds since 1970.
    static let wall: Duration = .seconds(1_800_000_000)

    var core: Scheduler
    /// Everything it has asked for.
    var actions: [SchedulerAction] = []
    var now: Duration = .zero

    init(
        settings: SchedulerSettings = SchedulerSettings(), devices: [ComputeDevice] = [],
        absences: [ResourceAbsence] = [], conditions: Conditions = Bench.calm, grants: ComputeResources = .gpu,
        modes: Set<TaskKind> = Set(TaskKind.allCases), usesHandlers: Bool = false
    ) {
        core = Scheduler(settings: settings, at: .zero, wall: Self.wall)
        let manifest = ProgramManifest(
            program: Self.program, modes: modes,
            permitted: ["a", "b", "c", "refresh", "cont.*"].map { IdentifierPattern("\(Self.program).\($0)") }
                + (0..<20).map { IdentifierPattern("\(Self.program).p\($0)") },
            grants: grants)
        actions += core.addProgram(manifest, usesHandlers: usesHandlers, at: .zero)
        actions += core.capabilitiesChanged(devices: devices, absences: absences, at: .zero)
        actions += core.conditionsChanged(conditions, at: .zero)
    }

    /// A plugged-in, cool, unused machine with room.
    static let calm = Conditions(
        power: .external, batteryPercent: 90, lowPowerMode: false, thermal: .nominal, cpuPressure: 0, ioPressure: 0,
        memoryPressure: 0, availableMemoryBytes: 8 << 30, freeDiskBytes: 100 << 30, network: .unmetered, userIdle: true,
        foreignGPULoad: 0)

    static let gpu = ComputeDevice(id: "gpu0", name: "GPU 0", memoryBytes: 8 << 30)

    static func request(_ name: String, _ kind: TaskKind, _ change: (inout TaskRequest) -> Void = { _ in })
        -> TaskRequest
    {
        var request = TaskRequest(identifier: TaskIdentifier("\(program).\(name)"), kind: kind, title: "Title \(name)")
        change(&request)
        return request
    }

    /// Passes the time, stopping at every deadline on the way.
    mutating func advance(to time: Duration) {
        while let deadline = core.nextDeadline(), deadline <= time {
            now = max(now, deadline)
            actions += core.timePassed(at: now)
        }
        now = time
        actions += core.timePassed(at: now)
    }

    mutating func advance(by length: Duration) { advance(to: now + length) }

    @discardableResult
    mutating func submit(_ request: TaskRequest) -> Result<Scheduler.Admission, Rejection> {
        let submission = core.submit(request, program: Self.program, at: now)
        actions += submission.actions
        return submission.answer
    }

    /// Submits what must be admitted.
    mutating func admit(
        _ name: String, _ kind: TaskKind, _ change: (inout TaskRequest) -> Void = { _ in }
    ) throws -> JobID {
        try submit(Self.request(name, kind, change)).get().id
    }

    mutating func rejection(_ request: TaskRequest) -> Rejection? {
        guard case .failure(let rejection) = submit(request) else { return nil }
        return rejection
    }

    mutating func conditions(_ change: (inout Conditions) -> Void) {
        var conditions = core.gates.conditions
        change(&conditions)
        actions += core.conditionsChanged(conditions, at: now)
    }

    mutating func tell(_ event: (inout Scheduler, Duration) -> [SchedulerAction]) {
        actions += event(&core, now)
    }

    func state(_ id: JobID) -> JobSummary.State? { core.summary(id)?.state }

    func launches(of id: JobID) -> [SchedulerAction.Launch] {
        actions.compactMap { if case .launch(id, let launch) = $0 { launch } else { nil } }
    }

    func expirations(of id: JobID) -> [StopReason] {
        actions.compactMap { if case .expire(id, let reason, _) = $0 { reason } else { nil } }
    }

    func outcomes(of id: JobID) -> [TaskOutcome] {
        actions.compactMap { if case .end(id, let outcome) = $0 { outcome } else { nil } }
    }

    func notes(of id: JobID) -> [SchedulerAction.Note] {
        actions.compactMap { if case .note(id, let note) = $0 { note } else { nil } }
    }

    func reasons(_ id: JobID) -> [String] { core.why(id).map(\.code.text) }
}
