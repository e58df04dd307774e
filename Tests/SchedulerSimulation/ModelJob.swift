import SchedulingCore
import TaskModel

/// What the simulated host knows of one request: its durable record, and what was asked of its live task.
struct ModelJob: Sendable {
    enum State: Sendable {
        case waiting, live, ended
    }

    enum Phase: Sendable {
        case active, pausing, paused, expiring
    }

    /// How its task answers.
    struct Behaviour: Sendable {
        var work: Duration
        var between: Duration
        /// Never says anything, and never ends by itself.
        var isSilent = false
        var ignoresPause = false
        var pauseDelay: Duration = .zero
        var ignoresExpiry = false
        var expiryDelay: Duration = .zero
        var succeeds = true
        var knowsTotal = true
    }

    let id: JobID
    let program: Int
    /// As it was admitted.
    var original: TaskRequest
    /// As it is now: a preference that failed is spent.
    var request: TaskRequest
    var submitted: Duration
    var state = State.waiting
    var attempts = 0
    /// Attempts that were lost with their device or their process.
    var losses = 0
    /// When its present wait began.
    var waitsSince: Duration
    var isForeground: Bool
    var wantsForeground: Bool
    var wantedSince: Duration = .zero
    var needs: NeedsModel

    /// Its earliest begin date has come at some time of this wait.
    var wasDue = false
    var notBefore: Duration?
    /// When background work started before it, though it could have.
    var passedAt: Duration?
    /// Closed gates that held it at the end of the last step: usual, and strict ones.
    var heldBy: GateModel.Mask = 0
    var heldStrictlyBy: GateModel.Mask = 0

    var phase = Phase.active
    /// Tells messages of this launch from those of earlier ones.
    var launch = 0
    var device: String?
    var terms: RunTerms?
    var isSimulated = false
    var started: Duration = .zero
    /// Step of its last launch, or of its last going on from a pause.
    var startStep = -1
    var lastSign: Duration = .zero
    var askedToPause: Duration = .zero
    var deadline: Duration = .zero
    var stopReason: StopReason?
    var isPausedByPerson = false
    var wasPreempted = false
    /// It is not preempted before.
    var protectedUntil: Duration = .zero
    /// It may not be preempted before: whether it has waited long for room, only the scheduler knows.
    var mayBeProtectedUntil: Duration = .zero
    /// The machine's leaving stopped it, and it is to have another run.
    var goesOnAfterwards = false
    /// It was told to give back its memory when it pauses.
    var releases = false
    /// Its claim is not in the latest reading of available memory.
    var isUnread = false
    var fraction = 0.0
    var finishIsDue = false
    var behaviour: Behaviour
    /// Steps at which a condition stopped and started it.
    var stops: [ConditionKind: StepMark] = [:]
    var starts: [ConditionKind: StepMark] = [:]

    init(id: JobID, program: Int, request: TaskRequest, submitted: Duration, behaviour: Behaviour) {
        self.id = id
        self.program = program
        original = request
        self.request = request
        self.submitted = submitted
        waitsSince = submitted
        self.behaviour = behaviour
        isForeground = request.kind == .continued && !request.initiator.isAutomatic
        wantsForeground = isForeground
        needs = NeedsModel(request, isForeground: isForeground)
    }

    mutating func setForeground(_ foreground: Bool) {
        if isForeground != foreground { passedAt = nil }
        isForeground = foreground
        needs = NeedsModel(request, isForeground: foreground)
    }

    /// Back to what the durable record says.
    mutating func interrupt() {
        state = .waiting
        request = original
        isForeground = request.kind == .continued && !request.initiator.isAutomatic
        wantsForeground = isForeground
        needs = NeedsModel(request, isForeground: isForeground)
        wasDue = false
        notBefore = nil
        passedAt = nil
        heldBy = 0
        heldStrictlyBy = 0
        launch += 1
        stops = [:]
        starts = [:]
        forgetRun()
    }

    mutating func forgetRun() {
        phase = .active
        device = nil
        terms = nil
        isPausedByPerson = false
        wasPreempted = false
        protectedUntil = .zero
        mayBeProtectedUntil = .zero
        goesOnAfterwards = false
        releases = false
        isUnread = false
        stopReason = nil
        finishIsDue = false
        fraction = 0
    }

    /// Takes part of the CPU lane.
    var takesSlot: Bool { state == .live && device == nil && phase != .paused }

    var wantsGPU: Bool { request.requiredResources == .gpu }
}

/// When something was done, and in which order where that was at one time.
struct StepMark: Sendable {
    var time: Duration
    var step: Int
}

/// A program as the simulated host keeps it.
struct ModelProgram: Sendable {
    var manifest: ProgramManifest
    var isPresent = true
    /// The scheduler has its manifest.
    var isAnnounced = true
    var status: BackgroundStatus = .available
    var usesHandlers: Bool
    var lastRefresh: Duration?
    /// Names that requests use, below the program's own.
    var names: [String]

    var name: String { manifest.program }
}

/// A device as the simulated host keeps it.
struct ModelDevice: Sendable {
    var device: ComputeDevice
    var isPresent = false
    var isPaused = false
    var failures = 0
    var quarantines = 0
    var quarantinedUntil: Duration = .zero

    func isUsable(_ request: TaskRequest, at now: Duration) -> Bool {
        isPresent && !isPaused && quarantinedUntil <= now && isWanted(request)
    }

    func isWanted(_ request: TaskRequest) -> Bool {
        isPresent && !request.devices.excluded.contains(device.id)
            && !(request.devices.avoidsDisplay && device.drawsDisplay)
    }

    mutating func failed(at now: Duration) {
        failures += 1
        guard failures == 3 else { return }
        failures = 0
        quarantinedUntil = now + min(.seconds(60) * (1 << min(quarantines, 20)), .seconds(86_400))
        quarantines += 1
    }
}

/// What the virtual tasks will do, in time.
struct HostAgenda: Sendable {
    enum Kind: Sendable {
        case progress, finish, pauseReached, expiryAnswered, deviceGone
    }

    struct Entry: Sendable {
        var time: Duration
        var order: Int
        var kind: Kind
        var id: JobID
        var launch: Int
    }

    private var entries: [Entry] = []
    private var order = 0

    mutating func add(_ kind: Kind, _ id: JobID, launch: Int, at time: Duration) {
        entries.append(Entry(time: time, order: order, kind: kind, id: id, launch: launch))
        order += 1
    }

    var next: Entry? {
        var first: Entry?
        for entry in entries {
            guard let found = first else {
                first = entry
                continue
            }
            if (entry.time, entry.order) < (found.time, found.order) { first = entry }
        }
        return first
    }

    mutating func remove(_ entry: Entry) {
        entries.removeAll { $0.order == entry.order }
    }

    mutating func forget(_ id: JobID, kind: Kind? = nil) {
        entries.removeAll { $0.id == id && (kind == nil || $0.kind == kind) }
    }
}
