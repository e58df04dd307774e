import CProcess
import Foundation
import Glibc
import JobLink
import ServiceAPI
import Locking
import TaskModel

/// The service's end of what ties it to the process of a job: packets for bgrun's own commands, lines for others.
final class JobChannel: Sendable {
    let descriptor: Int32
    private let work: JobSubmission.Work
    private var packets: PacketChannel { PacketChannel(descriptor: descriptor, .compact) }
    private let said = Lock<(end: JobEnd?, lines: ProgressLines)>((nil, ProgressLines()))

    private init(descriptor: Int32, work: JobSubmission.Work) {
        self.descriptor = descriptor
        self.work = work
    }

    /// - Returns: The service's end, and the descriptor that the child gets.
    static func pair(for work: JobSubmission.Work) throws(SpawnFailure) -> (JobChannel, child: Int32) {
        switch work {
        case .bgrun:
            guard let (host, child) = PacketChannel.pair(.compact) else {
                throw SpawnFailure(step: "socketpair", status: errno)
            }
            return (JobChannel(descriptor: host.descriptor, work: work), child.descriptor)
        case .command:
            var ends: [Int32] = [-1, -1]
            guard bg_pipe(&ends) == 0 else { throw SpawnFailure(step: "pipe2", status: errno) }
            return (JobChannel(descriptor: ends[0], work: work), ends[1])
        }
    }

    /// What the process said of its end so far.
    var end: JobEnd? { said.withLock(\.end) }

    /// - Returns: Whether the process can hear it; one that is gone is noticed elsewhere.
    func send(_ command: JobCommand) -> Bool {
        if case .refused = packets.send(command, waiting: false) { false } else { true }
    }

    /// Takes what has come.
    ///
    /// - Returns: Whether more may come.
    func receive(_ onReport: (JobReport) -> Void) -> Bool {
        switch work {
        case .bgrun: receivePackets(onReport)
        case .command: receiveLines(onReport)
        }
    }

    /// Something has come that was not taken.
    var hasMore: Bool {
        var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&end, 1, 0) > 0 && end.revents & Int16(POLLIN) != 0
    }

    func close() {
        Glibc.close(descriptor)
    }

    private func receivePackets(_ onReport: (JobReport) -> Void) -> Bool {
        while true {
            switch packets.receive(JobReport.self, waiting: false) {
            case .nothingYet: return true
            case .closed: return false
            case .message(.ended(let end)): said.withLock { $0.end = end }
            case .message(let report): onReport(report)
            }
        }
    }

    private func receiveLines(_ onReport: (JobReport) -> Void) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { return true }
            guard count > 0 else { return false }
            let reports = said.withLock { $0.lines.take(buffer[..<count]) }
            reports.forEach(onReport)
        }
    }
}
