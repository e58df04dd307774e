package import TaskModel

/// A device that passed its probe.
package struct ComputeDevice: Hashable, Codable, Sendable {
    /// Identity that stays the same between runs.
    package var id: String
    package var name: String
    package var memoryBytes: Int
    /// It also draws the screen.
    package var drawsDisplay: Bool

    package init(id: String, name: String, memoryBytes: Int, drawsDisplay: Bool = false) {
        self.id = id
        self.name = name
        self.memoryBytes = memoryBytes
        self.drawsDisplay = drawsDisplay
    }
}

/// What a device's work has shown of it (rule 35).
package struct DeviceHealth: Hashable, Sendable {
    /// In a row, since the last success or quarantine.
    package var failures = 0
    /// Since a person said that it is well.
    package var quarantines = 0
    package var quarantinedUntil: Duration?

    package init(failures: Int = 0, quarantines: Int = 0, quarantinedUntil: Duration? = nil) {
        self.failures = failures
        self.quarantines = quarantines
        self.quarantinedUntil = quarantinedUntil
    }

    fileprivate func isQuarantined(at now: Duration) -> Bool { quarantinedUntil.map { $0 > now } ?? false }
}

/// Which tasks hold which devices, and which devices are left alone for now (rules 35 and 37 to 39).
package struct DeviceBoard: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Tasks that share one device at most; its memory may allow fewer.
        package var tasksPerDevice = 4
        /// Failures in a row after which a device is put in quarantine.
        package var failuresBeforeQuarantine = 3
        /// First quarantine; each further one is twice as long.
        package var quarantine: Duration = .seconds(60)
        package var longestQuarantine: Duration = .seconds(86_400)

        package init() {}
    }

    /// Why no device can be had now.
    package enum Obstacle: Hashable, Sendable {
        /// None is there, or the request wants none of them.
        case noneUsable
        case quarantined(until: Duration)
        case paused
        case noRoom(holders: [JobID])
    }

    private struct Slot: Sendable {
        var device: ComputeDevice
        var claims: [JobID: Int] = [:]
        var isPaused = false

        var freeBytes: Int { device.memoryBytes - claims.values.reduce(0, +) }
    }

    private let limits: Limits
    private var slots: [Slot] = []
    /// Of devices by identity, also of those that are gone for now; none is as good as a healthy one.
    package private(set) var health: [String: DeviceHealth] = [:]

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Takes up what an earlier scheduler knew.
    package mutating func adopt(_ health: [String: DeviceHealth]) {
        self.health.merge(health) { _, new in new }
    }

    package var devices: [ComputeDevice] { slots.map(\.device) }

    /// A probe found these devices. Claims of those that stay are kept.
    package mutating func replace(with devices: [ComputeDevice]) {
        let known = Dictionary(slots.map { ($0.device.id, $0) }, uniquingKeysWith: { first, _ in first })
        slots = devices.map { device in
            guard var slot = known[device.id] else { return Slot(device: device) }
            slot.device = device
            return slot
        }
    }

    /// Chooses a device: the requested order first, then the one with the most free memory.
    package func place(_ claimBytes: Int, _ choice: TaskRequest.DeviceChoice, at now: Duration) -> Result<
        String, ObstacleError
    > {
        let wanted = usable(choice)
        guard !wanted.isEmpty else { return .failure(ObstacleError(.noneUsable)) }
        let unpaused = wanted.filter { !$0.isPaused }
        guard !unpaused.isEmpty else { return .failure(ObstacleError(.paused)) }
        let healthy = unpaused.filter { !isQuarantined($0, at: now) }
        guard !healthy.isEmpty else {
            let until = unpaused.compactMap { health[$0.device.id]?.quarantinedUntil }.min() ?? now
            return .failure(ObstacleError(.quarantined(until: until)))
        }
        let free = healthy.filter { $0.freeBytes >= claimBytes && $0.claims.count < limits.tasksPerDevice }
        let ranked = free.min { rank($0, choice) < rank($1, choice) }
        guard let ranked else {
            return .failure(ObstacleError(.noRoom(holders: healthy.flatMap(\.claims.keys).sorted())))
        }
        return .success(ranked.device.id)
    }

    package mutating func claim(_ bytes: Int, on device: String, by job: JobID) {
        change(device) { $0.claims[job] = bytes }
    }

    package mutating func release(_ job: JobID) {
        for index in slots.indices { slots[index].claims[job] = nil }
    }

    package mutating func setPaused(_ paused: Bool, device: String) {
        change(device) { $0.isPaused = paused }
    }

    package mutating func succeeded(_ device: String) {
        health[device]?.failures = 0
    }

    /// One that is gone has not failed.
    package mutating func failed(_ device: String, at now: Duration) {
        guard slots.contains(where: { $0.device.id == device }) else { return }
        var known = health[device] ?? DeviceHealth()
        known.failures += 1
        if known.failures >= limits.failuresBeforeQuarantine {
            let length = limits.quarantine * (1 << min(known.quarantines, 20))
            known.quarantinedUntil = now + min(length, limits.longestQuarantine)
            known.quarantines += 1
            known.failures = 0
        }
        health[device] = known
    }

    /// A person says that the device is well again.
    package mutating func clearQuarantine(of device: String) {
        health[device] = nil
    }

    package func quarantinedUntil(_ device: String, at now: Duration) -> Duration? {
        guard let known = health[device], known.isQuarantined(at: now) else { return nil }
        return known.quarantinedUntil
    }

    /// The next end of a quarantine.
    package func nextDeadline(at now: Duration) -> Duration? {
        slots.compactMap { quarantinedUntil($0.device.id, at: now) }.min()
    }

    private func isQuarantined(_ slot: Slot, at now: Duration) -> Bool {
        quarantinedUntil(slot.device.id, at: now) != nil
    }

    /// The most memory of a device that the request wants; nil when it wants none of those that are there.
    package func largestMemory(_ choice: TaskRequest.DeviceChoice) -> Int? {
        usable(choice).map(\.device.memoryBytes).max()
    }

    /// Devices that a claim could have room on, now or later, and that are well.
    package func suited(to claimBytes: Int, _ choice: TaskRequest.DeviceChoice, at now: Duration) -> Set<String> {
        Set(suitedSlots(claimBytes, choice, at: now).map(\.device.id))
    }

    /// Those who hold a device that the claim would have room on if the given tasks left it; nil when there is none.
    package func holders(
        inTheWayOf claimBytes: Int, _ choice: TaskRequest.DeviceChoice, leaving: Set<JobID>, at now: Duration
    ) -> Set<JobID>? {
        let freed = suitedSlots(claimBytes, choice, at: now).filter { slot in
            let staying = slot.claims.filter { !leaving.contains($0.key) }
            return slot.device.memoryBytes - staying.values.reduce(0, +) >= claimBytes
                && staying.count < limits.tasksPerDevice
        }
        return freed.min { rank($0, choice) < rank($1, choice) }.map { Set($0.claims.keys) }
    }

    private func suitedSlots(_ claimBytes: Int, _ choice: TaskRequest.DeviceChoice, at now: Duration) -> [Slot] {
        usable(choice).filter { !$0.isPaused && !isQuarantined($0, at: now) && $0.device.memoryBytes >= claimBytes }
    }

    private func usable(_ choice: TaskRequest.DeviceChoice) -> [Slot] {
        slots.filter { slot in
            !choice.excluded.contains(slot.device.id) && !(choice.avoidsDisplay && slot.device.drawsDisplay)
        }
    }

    private func rank(_ slot: Slot, _ choice: TaskRequest.DeviceChoice) -> (Int, Int) {
        (choice.ordered.firstIndex(of: slot.device.id) ?? choice.ordered.count, -slot.freeBytes)
    }

    private mutating func change(_ device: String, _ body: (inout Slot) -> Void) {
        guard let index = slots.firstIndex(where: { $0.device.id == device }) else { return }
        body(&slots[index])
    }

    package struct ObstacleError: Error, Hashable {
        package let obstacle: Obstacle

        init(_ obstacle: Obstacle) {
            self.obstacle = obstacle
        }
    }
}
