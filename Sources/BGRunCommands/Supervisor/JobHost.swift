import Foundation
import Glibc
import JobLink
import Locking
import TaskModel

/// The host of the job that this process works on, at the other end of its job channel.
///
/// A thread listens, so that a host that stops the job or dies is obeyed at any moment. Before the work has begun,
/// stopping is leaving; after that, what the host says waits for ``take()``.
final class JobHost: WorkHost {
    private struct State {
        var words: [HostWord] = []
        var workHasBegun = false
        var hasEnded = false
    }

    private let descriptor: Int32
    private let state = Lock(State())

    /// - Returns: nil where the descriptor is no open one.
    init?(descriptor: Int32) {
        // Workers must not hold the channel open.
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { return nil }
        self.descriptor = descriptor
    }

    private var channel: PacketChannel { PacketChannel(descriptor: descriptor, .compact) }

    /// Begins to listen. To be called once, after ``StopSignals/install()``, whose descriptor tells of new words.
    func listen() {
        let thread = Thread { self.hear() }
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// From now on words are left to ``take()``.
    func beginWork() { state.withLock { $0.workHasBegun = true } }

    /// What was said since the last call.
    func take() -> [HostWord] {
        state.withLock { state in
            defer { state.words = [] }
            return state.words
        }
    }

    func tell(_ report: JobReport) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            // A host that does not read must not hold up the work.
            if case .progress = report, !canTakeMore { return }
            _ = channel.send(report)
        }
    }

    /// Says the last word; later ones are not sent.
    ///
    /// - Parameters:
    ///   - end: How the job ended.
    ///   - shorter: The same in fewer words, for an end that does not fit into a packet.
    func end(_ end: JobEnd, shorter: @autoclosure () -> JobEnd) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            if case .refused = channel.send(JobReport.ended(end)) { _ = channel.send(JobReport.ended(shorter())) }
        }
    }

    private var canTakeMore: Bool {
        var ends = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&ends, 1, 0) > 0
    }

    private func hear() {
        var isGone = false
        while !isGone {
            let word: HostWord
            switch channel.receive(JobCommand.self, waiting: true) {
            case .message(let command): word = .command(command)
            case .nothingYet: continue
            case .closed:
                word = .gone
                isGone = true
            }
            let leaves = state.withLock { state in
                state.words.append(word)
                return !state.workHasBegun && !state.hasEnded
            }
            if leaves, let reason = word.stopReason { leave(reason) }
            StopSignals.wakeUp()
        }
    }

    /// Ends the process before its work began. What it was doing meanwhile may be broken off anywhere.
    private func leave(_ reason: StopReason) {
        let ending = WorkEnding.stoppedBeforeStart(reason)
        ending.tell(self)
        _exit(ending.status.rawValue)
    }
}

extension HostWord {
    fileprivate var stopReason: StopReason? {
        switch self {
        case .command(.stop(let reason, within: _)): reason
        case .gone: .hostRemoved
        case .command, .note: nil
        }
    }
}
