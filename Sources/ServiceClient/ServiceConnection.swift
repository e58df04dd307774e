import Foundation
import Glibc
import ServiceAPI

/// One connection to the service's socket, for one request: small, so that a command starts and ends in no time.
struct ServiceConnection: ~Copyable {
    let descriptor: Int32

    /// - Returns: nil when no service listens there.
    /// - Throws: ``ServiceFailure`` when the socket cannot be reached for another reason.
    init?(to socketPath: String) throws(ServiceFailure) {
        let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw ServiceFailure("socket", errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        let bytes = Array(socketPath.utf8)
        guard bytes.count < capacity else {
            close(fd)
            throw ServiceFailure(socketPath, ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, length) }
        }
        guard status == 0 else {
            let reason = errno
            close(fd)
            if [ENOENT, ECONNREFUSED].contains(reason) { return nil }
            throw ServiceFailure(socketPath, reason)
        }
        descriptor = fd
    }

    deinit {
        close(descriptor)
    }

    /// - Throws: ``ServiceFailure`` when the service is gone.
    func send(_ method: String, _ path: String, headers: [String: String] = [:], body: Data? = nil)
        throws(ServiceFailure)
    {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: bgrun\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        let message = Data((head + "\r\n").utf8) + (body ?? Data())
        var sent = 0
        while sent < message.count {
            let count = message.withUnsafeBytes { bytes in
                Glibc.send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw ServiceFailure("send", errno) }
            sent += count
        }
    }

    /// - Returns: What has come; empty at the end.
    func receive() throws(ServiceFailure) -> Data {
        try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer throws(ServiceFailure) in
            while true {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count < 0 && errno == EINTR { continue }
                // The service was killed: what it had said counts, and nothing follows.
                if count < 0 && errno == ECONNRESET { return Data() }
                guard count >= 0 else { throw ServiceFailure("recv", errno) }
                return Data(buffer[..<count])
            }
        }
    }
}

/// The service cannot be talked to.
package struct ServiceFailure: Error, CustomStringConvertible {
    /// What was tried.
    package var step: String
    /// The system's reason.
    package var status: Int32

    init(_ step: String, _ status: Int32) {
        self.step = step
        self.status = status
    }

    package var description: String {
        "the service cannot be reached: \(step): \(String(cString: strerror(status)))"
    }
}
