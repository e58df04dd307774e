import Foundation
import Glibc
import ImageExport

/// What the supervisor tells a worker.
enum HostMessage: Codable, Sendable {
    /// - environment: What the device's driver wants set before its first call.
    case run(ExportItem, environment: [String: String])
    /// Nothing comes any more: keep what later processes can use, and end.
    case leave
}

/// What a worker tells its supervisor.
enum WorkerMessage: Codable, Sendable {
    /// Sign of life of the item in flight, at most ten a second.
    case progress(done: Int, total: Int)
    /// An encoder that gives no sign of life begins; it may take so many seconds.
    case encoding(seconds: Double)
    /// Ends the item in flight.
    case result(ExportResult)
}

/// One end of the socket between the supervisor and a worker. A message is one packet of JSON.
struct WorkerChannel {
    /// Descriptor of the worker's end in the worker.
    static let workerDescriptor: Int32 = 3
    /// Longest message in bytes; what is longer does not fit into the socket either.
    private static let maxBytes = 256 << 10

    enum Received<Message> {
        case message(Message)
        case nothingYet
        /// The other side is gone, or speaks another language.
        case closed
    }

    let descriptor: Int32

    /// - Returns: Both ends, closed on exec; nil when the system has none to give.
    static func pair() -> (host: WorkerChannel, worker: WorkerChannel)? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        return (WorkerChannel(descriptor: ends[0]), WorkerChannel(descriptor: ends[1]))
    }

    enum Sent {
        case done
        /// The other side is gone; reading tells how.
        case closed
        /// The system did not take it, for this errno.
        case refused(Int32)
    }

    func send(_ message: some Encodable) -> Sent {
        guard let data = try? JSONEncoder().encode(message) else {
            preconditionFailure("a message has a value that JSON cannot hold")
        }
        return data.withUnsafeBytes { bytes in
            while true {
                let sent = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                if sent < 0 && errno == EINTR { continue }
                if sent == bytes.count { return .done }
                return [EPIPE, ECONNRESET, ENOTCONN].contains(errno) ? .closed : .refused(errno)
            }
        }
    }

    func receive<Message: Decodable>(_ type: Message.Type, waiting: Bool) -> Received<Message> {
        withUnsafeTemporaryAllocation(byteCount: Self.maxBytes, alignment: 16) { buffer in
            while true {
                let flags = waiting ? 0 : Int32(MSG_DONTWAIT)
                let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
                if count < 0 && errno == EINTR { continue }
                if count < 0 && errno == EAGAIN { return .nothingYet }
                guard count > 0 else { return .closed }
                let data = Data(buffer[..<count])
                guard let message = try? JSONDecoder().decode(Message.self, from: data) else { return .closed }
                return .message(message)
            }
        }
    }

    func closeDescriptor() {
        close(descriptor)
    }
}
