import CProcess
import Glibc
import JobLink

/// A socket of packets in a folder that is open; its name may be long, since it is reached through the folder's
/// descriptor.
enum ProgramSocket {
    /// Longest wait for the other side, which has only to read or write one packet.
    private static let patience = timeval(tv_sec: 5, tv_usec: 0)

    /// - Returns: A listening socket that does not block; nil with an errno.
    static func listen(_ name: String, in folder: Int32) -> Int32? {
        make(name, in: folder, flags: Int32(SOCK_NONBLOCK.rawValue)) { descriptor, address, length in
            // The folder keeps others out already.
            bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, 16) == 0
        }
    }

    /// - Returns: A connection; nil with an errno.
    static func connect(_ name: String, in folder: Int32) -> Int32? {
        make(name, in: folder, flags: 0) { descriptor, address, length in
            beQuick(descriptor)
            return Glibc.connect(descriptor, address, length) == 0
        }
    }

    /// - Returns: The next connection of a process of this user; nil when there is none.
    static func accept(_ listening: Int32) -> Int32? {
        let descriptor = Glibc.accept(listening, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var peer = bg_peer()
        guard bg_peer_of(descriptor, &peer) == 0, peer.user == geteuid() else {
            close(descriptor)
            return nil
        }
        beQuick(descriptor)
        return descriptor
    }

    private static func beQuick(_ descriptor: Int32) {
        var patience = patience
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    private static func make(
        _ name: String, in folder: Int32, flags: Int32,
        _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Int32? {
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue) | flags
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("/proc/self/fd/\(folder)/\(name)".utf8)
        precondition(path.count < MemoryLayout.size(ofValue: address.sun_path), "names of sockets are short")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let isMade = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if isMade { return descriptor }
        let reason = errno
        close(descriptor)
        errno = reason
        return nil
    }
}
