import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TaskModel

/// Shows a job until it ends or the person leaves it.
///
/// Ctrl-C stops the job, `d` and Ctrl-Z leave it to the background; so does a terminal that closes.
final class JobFollower {
    /// A service that is lost more often than that has a fault.
    private static let maxLosses = 10

    private let id: UInt64
    private let client: ServiceClient
    private let wantsJSON: Bool
    private var display: ProgressDisplay
    private var last: UInt64 = 0
    /// What was told since an item was done last: several attempts that fail in the same way tell it once.
    private var notesShown: Set<String> = []
    private var reasonShown = ""
    private var mostDone = 0
    private var lastProgress: ProgressSnapshot?
    private var device = "cpu"
    private var final: JobDocument?
    private var signals: Int32 = -1
    private var hasAskedToStop = false
    private var losses = 0

    init(_ id: UInt64, progress: ProgressDisplay.Mode, json: Bool) {
        self.id = id
        client = ServiceAccess.client
        wantsJSON = json
        display = ProgressDisplay(progress)
    }

    /// - Returns: The exit status that the job leaves, 0 when the person left it.
    func follow() throws -> Int32 {
        signals = StopSignals.install()
        StopSignals.endWithTerminal()
        let keys = KeyReader()
        defer { keys?.restore() }
        while true {
            switch try followOnce(keys) {
            case .toTheEnd: return try conclude()
            case .enough: return leave()
            case .broken: break
            }
            // The service was lost; the one that takes its place takes its jobs up.
            display.note("bgrun: the service was lost and is started again.")
            last = 0
            _ = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.status() }
        }
    }

    private func followOnce(_ keys: KeyReader?) throws -> ServiceClient.Followed {
        let watched = [signals] + (keys.map { [$0.descriptor] } ?? [])
        do throws(ServiceClient.Failure) {
            return try client.follow(
                id, after: last, isWaiting: true, isQuiet: display.isQuiet, watching: watched
            ) { descriptor in
                self.woken(descriptor, keys)
            } _: { event in
                self.show(event)
            }
        } catch {
            switch error {
            case .absent: return .broken
            case .unreachable where losses < Self.maxLosses:
                // It may have been killed at the same moment.
                losses += 1
                return .broken
            case .unreachable, .refused: throw ServiceAccess.told(error)
            }
        }
    }

    private func woken(_ descriptor: Int32?, _ keys: KeyReader?) -> Bool {
        guard let descriptor else {
            showProgress(force: false)
            return true
        }
        guard descriptor == signals else {
            return keys?.leaves() != true
        }
        StopSignals.drain(signals)
        guard StopSignals.received != nil, !hasAskedToStop else { return true }
        hasAskedToStop = true
        _ = try? client.ask(id, .stop)
        return true
    }

    /// Tells the person something once.
    func note(_ text: String) {
        if notesShown.insert(text).inserted { display.note(text) }
    }

    private func leave() -> Int32 {
        display.note(
            "Job \(id) goes on in the background. bgrun attach \(id) brings it back, bgrun stop \(id) stops it.")
        return 0
    }

    private func show(_ event: JobEvent) {
        last = event.id
        switch event.kind {
        case .progress:
            lastProgress = event.progress
            if let done = event.progress?.itemsDone, done > mostDone {
                (mostDone, notesShown, reasonShown) = (done, [], "")
            }
            device = event.device ?? device
            showProgress(force: false)
        case .note: event.text.map(note)
        case .record: event.text.map { _ = StandardOutput.write($0 + "\n") }
        case .stopping:
            display.stopping(event.reason ?? "", event.text ?? "Stopping.")
        case .job: if let job = event.job, job.state.isActive { showReasons(job) }
        case .ended: final = event.job
        }
    }

    /// Events may come faster than lines are shown, so the last one is shown again later.
    private func showProgress(force: Bool) {
        guard let lastProgress, lastProgress.itemsTotal > 0 else { return }
        display.show(lastProgress, device: device, force: force)
    }

    private func showReasons(_ job: JobDocument) {
        let text = job.reasons.map(\.sentence).joined(separator: " ")
        guard !text.isEmpty, text != reasonShown else { return }
        reasonShown = text
        display.note("Job \(id) waits: \(text)")
    }

    private func conclude() throws -> Int32 {
        let job: JobDocument
        if let final {
            job = final
        } else {
            job = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.job(id) }
        }
        display.ended(
            outcome: job.outcome ?? "", summary: job.summary, text: wantsJSON ? nil : job.text)
        if wantsJSON { try StandardOutput.print((job.summary ?? JSONText.encode(job)) + "\n") }
        if job.outcome?.hasPrefix("stopped") == true {
            display.note("bgrun resume \(id) takes it up again.")
        } else if job.outcome == "cancelled" {
            display.note("Job \(id) was cancelled.")
        } else if job.text == nil, job.outcome?.hasPrefix("failed") == true {
            display.note("Job \(id) has failed: \(job.outcome ?? ""). bgrun logs \(id) shows what it wrote.")
        }
        return job.exitStatus
    }
}

extension JobDocument {
    /// What a command that waited for it leaves.
    var exitStatus: Int32 {
        if outcome?.hasPrefix("completed") == true { return status ?? ExitStatus.done.rawValue }
        // A command that was stopped leaves what its signal left; who waited for it is told that it was stopped.
        if outcome?.hasPrefix("stopped") == true { return ExitStatus.stoppedEarly.rawValue }
        if let status, status != 0 { return status }
        return outcome?.hasPrefix("failed") == true ? ExitStatus.bug.rawValue : ExitStatus.stoppedEarly.rawValue
    }
}

/// Reads single keys from the terminal of this process, without showing them.
final class KeyReader {
    let descriptor = STDIN_FILENO
    private var usual = termios()

    /// - Returns: nil where standard input is no terminal, or belongs to another job of the shell.
    init?() {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(),
            tcgetattr(STDIN_FILENO, &usual) == 0
        else { return nil }
        var keys = usual
        keys.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Ctrl-Z comes as a key: the terminal would stop this process and nothing would leave.
        withUnsafeMutableBytes(of: &keys.c_cc) { $0[Int(VSUSP)] = 0 }
        tcsetattr(STDIN_FILENO, TCSANOW, &keys)
    }

    func restore() {
        tcsetattr(STDIN_FILENO, TCSANOW, &usual)
    }

    /// Whether a key was pressed that leaves the job to itself.
    func leaves() -> Bool {
        var key: UInt8 = 0
        let count = read(descriptor, &key, 1)
        let controlZ: UInt8 = 0x1A
        // The end of standard input is the end of the terminal.
        return count <= 0 || key == UInt8(ascii: "d") || key == controlZ
    }
}
