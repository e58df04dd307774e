package import TaskModel

/// The gates of all conditions: what the machine is like, turned into what may start and what must stop.
///
/// Each condition has two gates. The usual one takes a value that cannot be read for a met condition; the strict one,
/// for requests that ask for it, for an unmet one (rule 41). Both have one guard, for work of either kind starts and
/// stops by one condition (rule 53); so the strict gate is open only while the usual one is.
package struct ConditionGates: Sendable {
    package struct Change: Hashable, Sendable {
        package var kind: ConditionKind
        package var isStrict: Bool
        package var change: ConditionGate.Change
    }

    private let thresholds: ConditionThresholds
    private var usual: [ConditionGate]
    private var strict: [ConditionGate]
    package private(set) var closed: ConditionSet = []
    package private(set) var strictlyClosed: ConditionSet = []
    package private(set) var conditions = Conditions()
    /// Seconds since 1970 in which background work may not run, in order and apart (rule 51).
    private var blockedHours: [Range<Duration>] = []

    package init(thresholds: ConditionThresholds = .standard, at now: Duration) {
        self.thresholds = thresholds
        usual = ConditionKind.allCases.map { kind in
            let dwell: Duration =
                switch kind {
                case .batteryLevel: thresholds.batteryDwell
                case .thermal: thresholds.thermalDwell
                default: .zero
                }
            return ConditionGate(dwell: dwell, minBetweenOpenings: thresholds.minBetweenStarts, at: now)
        }
        strict = usual
    }

    package mutating func observe(_ conditions: Conditions, at now: Duration, wall: Duration) -> [Change] {
        self.conditions = conditions
        return ConditionKind.allCases.flatMap { observe($0, at: now, wall: wall) }
    }

    package mutating func blockHours(_ hours: [Range<Duration>], at now: Duration, wall: Duration) -> [Change] {
        blockedHours = hours
        return observe(.allowedHours, at: now, wall: wall)
    }

    package mutating func timePassed(at now: Duration, wall: Duration) -> [Change] {
        var changes: [Change] = []
        for (index, kind) in ConditionKind.allCases.enumerated() {
            changes += note(kind, usual[index].timePassed(at: now), strict[index].timePassed(at: now), at: now)
        }
        return changes + observe(.allowedHours, at: now, wall: wall)
    }

    /// When ``timePassed(at:wall:)`` has something to do next.
    package func nextDeadline(at now: Duration, wall: Duration) -> Duration? {
        let openings = (usual + strict).compactMap(\.opensAt)
        let hours = gate(.allowedHours, isStrict: false)
        // Another event may have come in the moment of a change, which is still to be looked at then.
        if blockedHours.contains(where: { $0.contains(wall) }) ? hours.isOpen : !hours.isOpen && hours.opensAt == nil {
            return now
        }
        let hour = nextHourChange(after: wall).map { now + ($0 - wall) }
        return (openings + [hour].compactMap(\.self)).min()
    }

    /// Whether work that needs these conditions, and those strictly, may start.
    package func allow(_ needed: ConditionSet, strictly known: ConditionSet) -> Bool {
        closed.isDisjoint(with: needed) && strictlyClosed.isDisjoint(with: known)
    }

    package func gate(_ kind: ConditionKind, isStrict: Bool) -> ConditionGate {
        let index = ConditionKind.allCases.firstIndex(of: kind) ?? 0
        return isStrict ? strict[index] : usual[index]
    }

    /// The next wall-clock time at which quiet or dear hours begin or end.
    package func nextHourChange(after wall: Duration) -> Duration? {
        for hours in blockedHours {
            if hours.lowerBound > wall { return hours.lowerBound }
            if hours.upperBound > wall { return hours.upperBound }
        }
        return nil
    }

    private mutating func observe(_ kind: ConditionKind, at now: Duration, wall: Duration) -> [Change] {
        let reading = reading(of: kind, wall: wall)
        let index = ConditionKind.allCases.firstIndex(of: kind) ?? 0
        return note(
            kind, usual[index].observe(reading ?? .met, at: now), strict[index].observe(reading ?? .unmet, at: now),
            at: now)
    }

    /// What an event has changed of both gates of a condition.
    private mutating func note(
        _ kind: ConditionKind, _ usualChange: ConditionGate.Change?, _ strictChange: ConditionGate.Change?,
        at now: Duration
    ) -> [Change] {
        let index = ConditionKind.allCases.firstIndex(of: kind) ?? 0
        if usualChange == .opened { strict[index].otherOpened(at: now) }
        if strictChange == .opened { usual[index].otherOpened(at: now) }
        return [usualChange.map { note(kind, false, $0) }, strictChange.map { note(kind, true, $0) }]
            .compactMap(\.self)
    }

    private mutating func note(_ kind: ConditionKind, _ isStrict: Bool, _ change: ConditionGate.Change) -> Change {
        switch (isStrict, change) {
        case (false, .opened): closed.subtract(ConditionSet(kind))
        case (false, .closed): closed.formUnion(ConditionSet(kind))
        case (true, .opened): strictlyClosed.subtract(ConditionSet(kind))
        case (true, .closed): strictlyClosed.formUnion(ConditionSet(kind))
        }
        return Change(kind: kind, isStrict: isStrict, change: change)
    }

    /// What a condition reads now; nil when its value is not known.
    private func reading(of kind: ConditionKind, wall: Duration) -> ConditionGate.Reading? {
        switch kind {
        case .externalPower: conditions.power.map { $0 == .external ? .met : .unmet }
        case .batteryLevel: conditions.batteryPercent.map { level($0, thresholds.battery) }
        case .lowPowerMode: conditions.lowPowerMode.map { $0 ? .unmet : .met }
        case .thermal: conditions.thermal.map { $0 == .critical ? .unmet : .met }
        case .pressure: pressureReading
        case .memory: conditions.availableMemoryBytes.map { level(Double($0), thresholds.memory) }
        case .outputVolume: conditions.freeDiskBytes.map { level(Double($0), thresholds.outputVolume) }
        case .network: conditions.network.map { $0 == .none ? .unmet : .met }
        case .idle: conditions.userIdle.map { $0 ? .met : .unmet }
        case .allowedHours: blockedHours.contains { $0.contains(wall) } ? .unmet : .met
        case .gpuContention: conditions.foreignGPULoad.map { load($0, thresholds.gpuContention) }
        }
    }

    private var pressureReading: ConditionGate.Reading? {
        let readings = [
            conditions.cpuPressure.map { load($0, thresholds.cpuPressure) },
            conditions.ioPressure.map { load($0, thresholds.ioPressure) },
            conditions.memoryPressure.map { load($0, thresholds.memoryPressure) },
        ].compactMap(\.self)
        if readings.isEmpty { return nil }
        if readings.contains(.unmet) { return .unmet }
        return readings.contains(.between) ? .between : .met
    }

    /// Stops work when it is low.
    private func level(_ value: Double, _ band: ConditionThresholds.Band) -> ConditionGate.Reading {
        value < band.stop ? .unmet : value >= band.resume ? .met : .between
    }

    /// Stops work when it is high.
    private func load(_ value: Double, _ band: ConditionThresholds.Band) -> ConditionGate.Reading {
        value > band.stop ? .unmet : value <= band.resume ? .met : .between
    }
}
