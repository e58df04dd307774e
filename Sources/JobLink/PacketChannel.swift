import CProcess
import Foundation
import Glibc

/// One end of a socket between two processes. A message is one packet.
package struct PacketChannel: Sendable {
    /// What the messages are written in.
    package enum Language: Sendable {
        case json
        /// For two processes of bgrun itself, and many messages.
        case compact
    }

    /// Descriptor of the started process's end in that process.
    package static let childDescriptor: Int32 = 3
    /// Longest message in bytes; what is longer does not fit into the socket either.
    private static let maxBytes = 256 << 10

    package enum Received<Message> {
        case message(Message)
        case nothingYet
        /// The other side is gone, or speaks another language.
        case closed
    }

    package let descriptor: Int32
    private let language: Language

    package init(descriptor: Int32, _ language: Language = .json) {
        self.descriptor = descriptor
        self.language = language
    }

    /// - Returns: Both ends, closed on exec; nil when the system has none to give.
    package static func pair(_ language: Language = .json) -> (host: PacketChannel, worker: PacketChannel)? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        return (PacketChannel(descriptor: ends[0], language), PacketChannel(descriptor: ends[1], language))
    }

    package enum Sent {
        case done
        /// The other side is gone; reading tells how.
        case closed
        /// The system did not take it, for this errno.
        case refused(Int32)
    }

    /// Sends a message, and up to 64 descriptors, which the other side gets open; this side keeps its own.
    ///
    /// - Parameters:
    ///   - message: At most 256 KiB once it is written.
    ///   - descriptors: What goes with it.
    ///   - waiting: Where the other side has read nothing for long and there is no room, waits until it does; else that is
    ///     refused with `EAGAIN`.
    /// - Returns: What became of it.
    package func send(_ message: some Encodable, descriptors: [Int32] = [], waiting: Bool = true) -> Sent {
        guard let packet = try? packet(message) else {
            preconditionFailure("a message has a value that its language cannot hold")
        }
        let flags = Int32(MSG_NOSIGNAL) | (waiting ? 0 : Int32(MSG_DONTWAIT))
        return packet.withUnsafeBytes { bytes in
            while true {
                let sent = bg_send(
                    descriptor, bytes.baseAddress, bytes.count, flags, descriptors, descriptors.count)
                if sent < 0 && errno == EINTR { continue }
                if sent == bytes.count { return .done }
                return [EPIPE, ECONNRESET, ENOTCONN].contains(errno) ? .closed : .refused(errno)
            }
        }
    }

    package func receive<Message: Decodable>(_ type: Message.Type, waiting: Bool) -> Received<Message> {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        return receive(type, waiting: waiting, descriptors: &descriptors)
    }

    /// Receives a message, and the descriptors that came with it, which then belong to the caller.
    package func receive<Message: Decodable>(
        _ type: Message.Type, waiting: Bool, descriptors: inout [Int32]
    ) -> Received<Message> {
        descriptors = []
        return withUnsafeTemporaryAllocation(byteCount: Self.maxBytes, alignment: 16) { buffer in
            while true {
                let flags = waiting ? 0 : Int32(MSG_DONTWAIT)
                var received = [Int32](repeating: -1, count: Int(BG_MAX_DESCRIPTORS))
                var receivedCount = 0
                let count = bg_receive(
                    descriptor, buffer.baseAddress, buffer.count, flags, &received, &receivedCount)
                if count < 0 && errno == EINTR { continue }
                if count < 0 && errno == EAGAIN { return .nothingYet }
                descriptors = Array(received[..<receivedCount])
                guard count > 0 else { return .closed }
                let packet = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                guard let message: Message = try? self.message(packet) else { return .closed }
                return .message(message)
            }
        }
    }

    private func packet(_ message: some Encodable) throws -> [UInt8] {
        switch language {
        case .json: [UInt8](try JSONEncoder().encode(message))
        case .compact: try CompactCoding.encode(message)
        }
    }

    private func message<Message: Decodable>(_ packet: UnsafeRawBufferPointer) throws -> Message {
        switch language {
        case .json: try JSONDecoder().decode(Message.self, from: Data(packet))
        case .compact: try CompactCoding.decode(Message.self, from: packet)
        }
    }

    package func closeDescriptor() {
        close(descriptor)
    }
}
