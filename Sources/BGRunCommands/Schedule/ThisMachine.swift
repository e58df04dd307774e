import FoundationEssentials
import Glibc
import ScheduleSimulation
import SchedulingCore
import SystemConditions
import TaskModel

/// The machine as a scheduler on it would see it now.
struct ThisMachine {
    var conditions: Conditions
    /// Why there is no GPU, and which there are; empty where nobody asks for one.
    var offer: ComputeOffer
    var now: WallTime
    var hours: AllowedHours

    /// Looks at the machine. Drivers are tried only for a request that wants a GPU, each in a process of its own.
    static func look(for request: TaskRequest) -> ThisMachine {
        let wantsGPU = !request.requiredResources.union(request.preferredResources).isEmpty
        return ThisMachine(
            conditions: currentConditions(), offer: ComputeOffer.look(for: wantsGPU ? .requireDevice : .cpu),
            now: currentTime(), hours: currentHours())
    }

    /// The person's; those that cannot be read are told on standard error, and left out.
    static func currentHours() -> AllowedHours {
        guard let files = PersonFiles(environment: ProcessInfo.processInfo.environment) else { return AllowedHours() }
        do {
            return try files.allowedHours()
        } catch {
            StandardError.write("bgrun: \(error.diagnostic.sentence) \(error.diagnostic.fix)\n")
            return AllowedHours()
        }
    }

    /// As they are read now; what cannot be read blocks nothing.
    static func currentConditions() -> Conditions {
        let environment = ProcessInfo.processInfo.environment
        let root = SystemRoot(environment["BGRUN_SYSTEM_ROOT"] ?? "/")
        let reader = ConditionsReader(root: root, bus: .standard(root: root, environment: environment))
        let settings = ConditionSettings(
            outputFolders: ["."], lowPowerSwitch: PersonFiles(environment: environment)?.lowPowerSwitch,
            ownProcesses: [Int(getpid())])
        var meter = GPULoadMeter()
        return reader.read(settings, meter: &meter).conditions
    }

    static func currentTime() -> WallTime {
        var clock = timespec()
        clock_gettime(CLOCK_REALTIME, &clock)
        let now = Duration.seconds(clock.tv_sec)
        return WallTime(sinceEpoch: now, offsetSeconds: offset(at: now))
    }

    /// Time from a moment to the one that a person names by the machine's clock; nil for what is no time.
    static func wait(until text: String, from now: WallTime) -> Duration? {
        DayTraceReader.time(text, start: now, offset: offset)
    }

    /// Seconds that the machine's clock is ahead of UTC at a moment since 1970.
    private static func offset(at moment: Duration) -> Int {
        var seconds = time_t(moment.components.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts.tm_gmtoff
    }

    /// A scheduler with one program and nothing to do, at time zero.
    func scheduler(_ manifest: ProgramManifest) -> Scheduler {
        var settings = SchedulerSettings()
        settings.cores = max(1, ProcessInfo.processInfo.activeProcessorCount)
        var scheduler = Scheduler(settings: settings, at: .zero, wall: now.sinceEpoch)
        _ = scheduler.addProgram(manifest, usesHandlers: false, at: .zero)
        let devices = [offer.device].compactMap(\.self).map {
            ComputeDevice(id: $0.identity, name: $0.shownName, memoryBytes: $0.memoryBytes)
        }
        _ = scheduler.capabilitiesChanged(devices: devices, absences: offer.absences, at: .zero)
        _ = scheduler.conditionsChanged(conditions, at: .zero)
        _ = scheduler.blockHours(hours.blocked(from: now.sinceEpoch, days: 8), at: .zero)
        return scheduler
    }
}
