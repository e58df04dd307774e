import ArgumentParser
import BackgroundTasks
import Foundation
import SchedulingCore
import SystemConditions
import TaskModel

/// `bgrun-bench idle`: what a host takes while everything in it waits.
struct IdleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idle", abstract: "Measure a host in which every request waits, on the machine's own clock.")

    @Option(help: "Requests that wait.")
    var requests = 1_000

    @Option(help: "Seconds to watch.")
    var seconds = 60

    func run() throws {
        // Low-power mode is switched on, for this process alone: background work waits.
        let folder = FileManager.default.temporaryDirectory.appending(path: "bgrun-idle-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let settingsFolder = folder.appending(path: "bgrun")
        try FileManager.default.createDirectory(at: settingsFolder, withIntermediateDirectories: true)
        try Data("on\n".utf8).write(to: settingsFolder.appending(path: "low-power-mode"))
        setenv("XDG_CONFIG_HOME", folder.path, 1)

        var settings = SchedulerSettings()
        settings.maxPending[.continued] = requests
        let scheduler = BGTaskScheduler(
            manifest: try Manifest(
                program: "org.bgrun.bench", modes: [.continued, .processing],
                permittedIdentifiers: ["org.bgrun.bench.*"]),
            clock: SystemClock(), conditions: ConditionsMonitor.ofThisMachine(), capabilities: ProbedCapabilities(),
            settings: settings)
        scheduler.register(forTaskWithIdentifier: "org.bgrun.bench.*", using: nil) {
            $0.setTaskCompleted(success: true)
        }
        scheduler.activate()
        for index in 0..<requests {
            let request = BGContinuedProcessingTaskRequest(
                identifier: "org.bgrun.bench.\(index)", title: "Waits", subtitle: "")
            request.initiator = .script
            try scheduler.submit(request)
        }
        let waiting = scheduler.jobs().filter { $0.state == .waiting }.count
        guard waiting == requests else {
            throw ProcessError(description: "only \(waiting) of \(requests) wait")
        }
        // Threads of the submissions go to rest first.
        sleep(10)
        let before = Usage()
        sleep(UInt32(seconds))
        let used = Usage() - before
        let share = used.cpuSeconds / Double(seconds) * 100
        print(
            "\(requests) requests wait; \(seconds) s: CPU \(String(format: "%.4f", share)) %, \(used.wakeUps) wake-ups")
    }

    private struct Usage {
        var cpuSeconds: Double
        /// Times that a thread of this process went to sleep, the sleep of the measurement itself left out.
        var wakeUps: Int

        init() {
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
            wakeUps = usage.ru_nvcsw
        }

        static func - (later: Usage, earlier: Usage) -> Usage {
            var difference = later
            difference.cpuSeconds -= earlier.cpuSeconds
            difference.wakeUps -= earlier.wakeUps + 1
            return difference
        }
    }
}
