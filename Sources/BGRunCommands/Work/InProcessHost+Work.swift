import BackgroundTasks
import Glibc
import Locking
import SchedulingCore
import SystemConditions
import SystemText
import TaskModel

extension InProcessHost {
    /// Until the process ends: to join its threads would only hold that up.
    private static let kept = Lock<[InProcessHost]>([])

    /// The host of the one job of this process, on this machine.
    static func ofOneJob(
        _ flags: JobFlags, _ request: TaskRequest, into folder: String, _ offer: ComputeOffer,
        wanted: LanePolicy.Preference
    ) -> InProcessHost {
        var settings = SchedulerSettings()
        // Its person says how many.
        settings.cores = flags.workerCount
        // Each of its items is watched by itself, and may be silent for as long as its person says.
        settings.progress.foreground = settings.progress.longest + flags.stallLimit.duration
        settings.progress.longest = settings.progress.foreground
        let scheduler = BGTaskScheduler(
            manifest: Manifest(program: Program.manifest), clock: SystemClock(),
            conditions: ConditionsMonitor.ofThisMachine(outputFolders: hasRoom(folder) ? [folder] : [], isBrief: true),
            capabilities: OfferedCapabilities(offer, wanted: wanted),
            inhibitor: SleepInhibitor(ConditionsMonitor.busOfThisMachine), settings: settings)
        let host = InProcessHost(scheduler, identifier: request.identifier.rawValue) { StopSignals.wakeUp() }
        kept.withLock { $0.append(host) }
        return host
    }

    /// A volume that could not have as much room as others are to keep free is used until it is full.
    private static func hasRoom(_ folder: String) -> Bool {
        var status = statvfs()
        var path = folder
        while statvfs(path.systemBytes, &status) != 0, path != "/" { path = OutputFolderGuard.parent(path) }
        let bytes = Double(status.f_blocks) * Double(status.f_frsize)
        return bytes >= 2 * ConditionThresholds.standard.outputVolume.resume
    }
}

extension BGContinuedProcessingTaskRequest {
    /// The same request, by whoever started this process and waits for it.
    convenience init(_ request: TaskRequest) {
        self.init(identifier: request.identifier.rawValue, title: request.title, subtitle: request.subtitle)
        requiredResources = .init(rawValue: request.requiredResources.rawValue)
        preferredResources = .init(rawValue: request.preferredResources.rawValue)
        initiator = .terminal
    }
}
