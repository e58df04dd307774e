import Dispatch
import Glibc

/// Finds out what the machine can run kernels on, without ever loading a driver into this process.
package enum ResourceProbe {
    /// Probes every driver, each in a process of its own, all at the same time. Away from Swift's cooperative threads.
    package static func report(_ options: ProbeOptions) async -> ProbeReport {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: blockingReport(options))
            }
        }
    }

    /// The same on the calling thread, which it blocks until the last driver has answered or missed its deadline.
    package static func blockingReport(_ options: ProbeOptions) -> ProbeReport {
        let catalogue = ICDCatalogue.read(environment: options.environment, root: options.root)
        var reports: [DriverReport?] = catalogue.entries.map { entry in
            entry.problem.map { DriverReport(icdFile: entry.file, library: entry.library, problem: $0) }
        }
        var race = ProbeRace(options: options)
        for (index, entry) in catalogue.entries.enumerated() where entry.problem == nil {
            race.start(index, icdFile: entry.file, library: entry.library)
        }
        if race.isEmpty {
            // No driver to confine the loader to: it is asked for what it knows, and whether it is there at all.
            reports.append(nil)
            race.start(reports.count - 1, icdFile: nil, library: "")
        }
        for (index, report) in race.finish() { reports[index] = report }
        let drivers = reports.compactMap(\.self)
        let hardware = GraphicsHardware.read(root: options.root)
        return ProbeReport(
            cpu: CPULane.read(root: options.root),
            drivers: drivers,
            whyNoGPU: GPUVerdict.causes(drivers: drivers, hardware: hardware),
            cpuDevicesCountAsGPU: options.cpuDevicesCountAsGPU
        )
    }
}

/// The probing processes that are under way.
private struct ProbeRace {
    private final class Runner {
        let index: Int
        var process: HelperProcess
        var trial: DriverTrial
        let end: ContinuousClock.Instant
        var stepEnd: ContinuousClock.Instant

        init(index: Int, process: consuming HelperProcess, trial: DriverTrial, options: ProbeOptions) {
            self.index = index
            self.process = process
            self.trial = trial
            let now = ContinuousClock.now
            self.end = now + options.totalDeadline
            self.stepEnd = now + options.stepDeadline
        }

        var limit: ContinuousClock.Instant { min(end, stepEnd) }
    }

    private let options: ProbeOptions
    private var runners: [Runner] = []
    private var finished: [(Int, DriverReport)] = []

    init(options: ProbeOptions) {
        self.options = options
    }

    var isEmpty: Bool { runners.isEmpty && finished.isEmpty }

    mutating func start(_ index: Int, icdFile: String?, library: String) {
        // Two loaders, two names: ocl-icd takes a library in the first, Khronos' own in the second.
        let confinement = library.isEmpty ? [:] : ["OCL_ICD_VENDORS": library, "OCL_ICD_FILENAMES": library]
        let trial = DriverTrial(
            icdFile: icdFile, library: library, environment: confinement,
            cpuDevicesCountAsGPU: options.cpuDevicesCountAsGPU)
        let secondsToLive = Int(options.totalDeadline.components.seconds) + 2
        var arguments = options.helperArguments + ["--loader", options.loader, "--seconds-to-live", "\(secondsToLive)"]
        if !library.isEmpty { arguments += ["--library", library] }
        do {
            let process = try HelperProcess(
                program: options.helper, arguments: arguments,
                environment: options.environment.merging(confinement) { $1 })
            runners.append(Runner(index: index, process: process, trial: trial, options: options))
        } catch {
            finished.append((index, trial.finished(.notStarted(error.reason))))
        }
    }

    /// Waits for all of them.
    mutating func finish() -> [(Int, DriverReport)] {
        while !runners.isEmpty {
            var polled = runners.map { pollfd(fd: $0.process.pipe, events: Int16(POLLIN), revents: 0) }
            let next = runners.map(\.limit).reduce(ContinuousClock.now + .seconds(60), min)
            poll(&polled, nfds_t(polled.count), ProbeRace.milliseconds(until: next))
            var remaining: [Runner] = []
            for runner in runners {
                if let ending = advance(runner) {
                    finished.append((runner.index, runner.trial.finished(ending)))
                } else {
                    remaining.append(runner)
                }
            }
            runners = remaining
        }
        return finished
    }

    /// Takes in what a process said; returns its ending once it is over.
    private func advance(_ runner: Runner) -> DriverTrial.Ending? {
        let (messages, isOpen) = runner.process.receive()
        for message in messages {
            runner.trial.received(message)
            runner.stepEnd = ContinuousClock.now + options.stepDeadline
            if message == .done {
                _ = runner.process.end()
                return .done
            }
        }
        if !isOpen { return runner.process.end(patience: options.stepDeadline) ?? .deadline(options.stepDeadline) }
        let now = ContinuousClock.now
        guard now >= runner.limit else { return nil }
        // Looked at once more in case it died while something it had started kept the pipe open.
        return runner.process.end() ?? .deadline(now >= runner.end ? options.totalDeadline : options.stepDeadline)
    }

    private static func milliseconds(until instant: ContinuousClock.Instant) -> Int32 {
        let (seconds, attoseconds) = (instant - .now).components
        return Int32(clamping: max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1))
    }
}
