import Foundation
import JobLink
import TaskModel

/// One run of `bgrun export` as the work of a job, with this test as its host.
final class JobRun {
    private let run: CommandRun
    private let channel: PacketChannel
    private var isOpen = true
    private(set) var reports: [JobReport] = []

    /// Starts it; `first` is said before anything else.
    init(
        _ arguments: [String], in place: TestPlace, environment: [String: String] = [:], first: [JobCommand] = []
    ) throws {
        guard let (host, worker) = PacketChannel.pair(.compact) else { throw CocoaError(.fileReadUnknown) }
        channel = host
        for command in first { _ = host.send(command) }
        // The end of the process closes its only copy.
        defer { worker.closeDescriptor() }
        run = try CommandRun(
            ["export"] + arguments + ["--job-channel", "0"], in: place, environment: environment,
            standardInput: FileHandle(fileDescriptor: worker.descriptor, closeOnDealloc: false))
    }

    deinit { leave() }

    var processID: pid_t { run.processID }

    func tell(_ command: JobCommand) { _ = channel.send(command) }

    func send(_ signal: Int32) { run.send(signal) }

    /// Closes the channel, as a host that was killed does.
    func leave() {
        if isOpen { channel.closeDescriptor() }
        isOpen = false
    }

    /// Takes reports until one fits, or no more come.
    ///
    /// - Returns: Whether one did.
    func waits(for isMeant: (JobReport) -> Bool) -> Bool {
        while case .message(let report) = channel.receive(JobReport.self, waiting: true) {
            reports.append(report)
            if isMeant(report) { return true }
        }
        return false
    }

    func waits(forItems count: Int) -> Bool {
        waits {
            if case .progress(let progress, device: _) = $0 { progress.itemsDone >= count } else { false }
        }
    }

    func waitsForPause() -> Bool {
        waits { if case .paused = $0 { true } else { false } }
    }

    /// What has come and was not taken.
    func takeWaiting() -> [JobReport] {
        var taken: [JobReport] = []
        while case .message(let report) = channel.receive(JobReport.self, waiting: false) { taken.append(report) }
        reports += taken
        return taken
    }

    /// Waits for the end of the process.
    func end() -> (last: JobEnd?, process: CommandRun.Ended) {
        if isOpen { _ = waits { _ in false } }
        let ended = run.end()
        let ends = reports.compactMap { report in
            if case .ended(let end) = report { end } else { nil }
        }
        return (ends.count == 1 ? ends[0] : nil, ended)
    }
}
