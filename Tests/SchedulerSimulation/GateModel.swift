import TaskModel

/// Conditions of the machine as a plain reading of the rules: bands, dwell and guard, in the numbers of the rules.
///
/// Independent of the scheduler's own gates on purpose.
struct GateModel: Sendable {
    typealias Mask = UInt16

    private enum Reading {
        case met, unmet, between
    }

    private struct Gate: Sendable {
        var isOpen = true
        var metSince: Duration?
        var lastOpened: Duration
        var dwell: Duration
        var spacing: Duration

        /// Whether it opened.
        mutating func read(_ reading: Reading, at now: Duration) -> Bool {
            switch reading {
            case .unmet:
                isOpen = false
                metSince = nil
            case .between:
                metSince = nil
            case .met where !isOpen:
                metSince = metSince ?? now
                return open(at: now)
            case .met:
                break
            }
            return false
        }

        mutating func open(at now: Duration) -> Bool {
            guard !isOpen, let since = metSince, max(since + dwell, lastOpened + spacing) <= now else { return false }
            isOpen = true
            metSince = nil
            return true
        }
    }

    static let kinds = ConditionKind.allCases

    static func mask(_ kind: ConditionKind) -> Mask {
        for (index, other) in kinds.enumerated() where other == kind { return 1 << Mask(index) }
        return 0
    }

    static func kinds(in mask: Mask) -> [ConditionKind] {
        kinds.enumerated().filter { mask & (1 << Mask($0.offset)) != 0 }.map(\.element)
    }

    private var usual: [Gate]
    private var strict: [Gate]
    private(set) var closed: Mask = 0
    private(set) var strictlyClosed: Mask = 0
    private var conditions = Conditions()
    private var blockedHours: [Range<Duration>] = []

    /// Guarded ones keep a minute between openings.
    init(isGuarded: Bool, at now: Duration) {
        usual = Self.kinds.map { kind in
            let dwell = kind == .batteryLevel ? 60 : kind == .thermal ? 30 : 0
            return Gate(lastOpened: now, dwell: .seconds(dwell), spacing: isGuarded ? .seconds(60) : .zero)
        }
        strict = usual
    }

    mutating func observe(_ conditions: Conditions, at now: Duration, wall: Duration) {
        self.conditions = conditions
        for index in Self.kinds.indices { read(index, at: now, wall: wall) }
        sum()
    }

    mutating func timePassed(at now: Duration, wall: Duration) {
        for index in Self.kinds.indices {
            let opened = [usual[index].open(at: now), strict[index].open(at: now)]
            if opened.contains(true) { noteOpening(index, at: now) }
            if Self.kinds[index] == .allowedHours { read(index, at: now, wall: wall) }
        }
        sum()
    }

    mutating func blockHours(_ hours: [Range<Duration>], at now: Duration, wall: Duration) {
        blockedHours = hours
        for index in Self.kinds.indices where Self.kinds[index] == .allowedHours { read(index, at: now, wall: wall) }
        sum()
    }

    private mutating func read(_ index: Int, at now: Duration, wall: Duration) {
        let reading = reading(of: Self.kinds[index], wall: wall)
        let opened = [usual[index].read(reading ?? .met, at: now), strict[index].read(reading ?? .unmet, at: now)]
        if opened.contains(true) { noteOpening(index, at: now) }
    }

    /// One condition starts work once a minute, whether that needs the value known or not.
    private mutating func noteOpening(_ index: Int, at now: Duration) {
        usual[index].lastOpened = now
        strict[index].lastOpened = now
    }

    private mutating func sum() {
        closed = 0
        strictlyClosed = 0
        for index in Self.kinds.indices {
            if !usual[index].isOpen { closed |= 1 << Mask(index) }
            if !strict[index].isOpen { strictlyClosed |= 1 << Mask(index) }
        }
    }

    private func reading(of kind: ConditionKind, wall: Duration) -> Reading? {
        let mebibyte = 1_048_576
        switch kind {
        case .externalPower: return conditions.power.map { $0 == .battery ? .unmet : .met }
        case .batteryLevel: return conditions.batteryPercent.map { $0 < 20 ? .unmet : $0 < 30 ? .between : .met }
        case .lowPowerMode: return conditions.lowPowerMode.map { $0 ? .unmet : .met }
        case .thermal: return conditions.thermal.map { $0 == .critical ? .unmet : .met }
        case .memory:
            return conditions.availableMemoryBytes.map {
                $0 < 512 * mebibyte ? .unmet : $0 < 768 * mebibyte ? .between : .met
            }
        case .outputVolume:
            return conditions.freeDiskBytes.map {
                $0 < 256 * mebibyte ? .unmet : $0 < 512 * mebibyte ? .between : .met
            }
        case .network: return conditions.network.map { $0 == .none ? .unmet : .met }
        case .idle: return conditions.userIdle.map { $0 ? .met : .unmet }
        case .gpuContention: return conditions.foreignGPULoad.map { $0 > 50 ? .unmet : $0 > 30 ? .between : .met }
        case .allowedHours:
            for hours in blockedHours where hours.lowerBound <= wall && wall < hours.upperBound { return .unmet }
            return .met
        case .pressure:
            var worst: Reading?
            for (value, stop, resume) in [
                (conditions.cpuPressure, 60.0, 40.0), (conditions.ioPressure, 60.0, 40.0),
                (conditions.memoryPressure, 20.0, 10.0),
            ] {
                guard let value else { continue }
                if value > stop { return .unmet }
                worst = value > resume || worst == .between ? .between : .met
            }
            return worst
        }
    }
}

/// What a request needs of the machine, straight from the rules 43 to 56.
struct NeedsModel: Sendable {
    /// Without these it may not go on.
    var run: GateModel.Mask = 0
    /// Without these it may not start.
    var start: GateModel.Mask = 0
    /// Of these the value must be known.
    var known: GateModel.Mask = 0

    private static let volume = GateModel.mask(.outputVolume)
    private static let network = GateModel.mask(.network)
    private static let power = GateModel.mask(.externalPower)
    private static let battery = GateModel.mask(.batteryLevel)
    private static let saving = GateModel.mask(.lowPowerMode)
    private static let thermal = GateModel.mask(.thermal)
    private static let hours = GateModel.mask(.allowedHours)
    private static let idle = GateModel.mask(.idle)
    private static let contention = GateModel.mask(.gpuContention)
    static let memory = GateModel.mask(.memory)
    private static let pressure = GateModel.mask(.pressure)

    init(_ request: TaskRequest, isForeground: Bool) {
        run = Self.volume
        if request.requiresNetwork { run |= Self.network }
        if request.requiresExternalPower { run |= Self.power }
        if request.kind != .continued || !isForeground {
            run |= Self.saving | Self.thermal
            if !request.requiresExternalPower { run |= Self.battery }
            if request.kind == .processing {
                run |= Self.hours
                if request.requiresIdle { run |= Self.idle }
            }
            if request.requiredResources == .gpu || request.preferredResources == .gpu { run |= Self.contention }
        }
        start = run | Self.memory
        if request.kind != .continued { start |= Self.pressure }
        known = request.mustBeKnown.rawValue
    }
}
