package import TaskModel

/// What readings depend on beside the system itself.
package struct ConditionSettings: Hashable, Sendable {
    /// Folders that outputs are written to.
    package var outputFolders: [String]
    /// The person's wish; nil leaves it to the switch file and the system.
    package var lowPowerMode: Bool?
    /// A file with `on` or `off`, by which a person decides for all of their programs.
    package var lowPowerSwitch: String?
    /// Where the person's hours are; nil for a machine without any.
    package var personFiles: PersonFiles?
    /// Processes whose GPU load is not foreign.
    package var ownProcesses: Set<Int>

    package init(
        outputFolders: [String] = [], lowPowerMode: Bool? = nil, lowPowerSwitch: String? = nil,
        personFiles: PersonFiles? = nil, ownProcesses: Set<Int> = []
    ) {
        self.outputFolders = outputFolders
        self.lowPowerMode = lowPowerMode
        self.lowPowerSwitch = lowPowerSwitch
        self.personFiles = personFiles
        self.ownProcesses = ownProcesses
    }
}

/// Reads conditions once; one reader a field.
package struct ConditionsReader: Sendable {
    package var root: SystemRoot
    package var bus: BusAddress
    package var volumes: VolumeReader
    /// Seconds since 1970, against which the age of an input is told.
    package var wallClock: @Sendable () -> Duration

    package init(
        root: SystemRoot = SystemRoot(), bus: BusAddress,
        freeBytes: @escaping VolumeReader.FreeBytes = VolumeReader.fileSystem,
        wallClock: @escaping @Sendable () -> Duration = WallClock.now
    ) {
        self.root = root
        self.bus = bus
        volumes = VolumeReader(freeBytes: freeBytes)
        self.wallClock = wallClock
    }

    /// Reads everything, asking the bus too. Blocks for a few milliseconds, or until the deadlines of its questions when a
    /// service is stuck.
    package func read(_ settings: ConditionSettings, meter: inout GPULoadMeter) -> ConditionReadings {
        var readings = ConditionReadings(unknown: "not read yet")
        let facts: BusFacts
        do {
            facts = BusFacts.all(try SystemBus(bus))
        } catch {
            facts = .unknown(error.reason)
        }
        update(.all, of: &readings, settings: settings, facts: facts, meter: &meter)
        return readings
    }

    /// Reads some conditions anew, from files and from what the bus has told.
    func update(
        _ kinds: ConditionSet, of readings: inout ConditionReadings, settings: ConditionSettings, facts: BusFacts,
        meter: inout GPULoadMeter
    ) {
        if !kinds.isDisjoint(with: [ConditionSet(.externalPower), ConditionSet(.batteryLevel)]) {
            (readings.power, readings.batteryPercent) = PowerReader(root: root).read()
        }
        if kinds.contains(ConditionSet(.lowPowerMode)) {
            readings.lowPowerMode = LowPowerReader(root: root, profile: facts.profile)
                .read(setting: settings.lowPowerMode, switchFile: settings.lowPowerSwitch)
        }
        if kinds.contains(ConditionSet(.thermal)) { readings.thermal = ThermalReader(root: root).read() }
        if kinds.contains(ConditionSet(.pressure)) {
            let reader = PressureReader(root: root)
            readings.cpuPressure = reader.read(.cpu)
            readings.ioPressure = reader.read(.io)
            readings.memoryPressure = reader.read(.memory)
        }
        if kinds.contains(ConditionSet(.memory)) {
            readings.availableMemoryBytes = MemoryReader(root: root).read()
            readings.totalMemoryBytes = MemoryReader(root: root).total()
        }
        if kinds.contains(ConditionSet(.outputVolume)) {
            readings.freeDiskBytes = volumes.read(settings.outputFolders)
        }
        if kinds.contains(ConditionSet(.network)) {
            readings.network = NetworkReader(root: root, metered: facts.metered).read()
        }
        if kinds.contains(ConditionSet(.idle)) {
            readings.userIdle = UserIdleReader(root: root, hint: facts.idle, now: wallClock()).read()
        }
        if kinds.contains(ConditionSet(.gpuContention)) {
            readings.foreignGPULoad = meter.read(root, own: settings.ownProcesses, at: MonotonicClock.now())
        }
    }
}

extension ConditionSet {
    package static let all = ConditionSet(ConditionKind.allCases)
}
