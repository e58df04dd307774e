import Glibc

/// Lets the processes of a user take turns at a GPU.
///
/// Drivers share a GPU out between processes by slices of time, and what waits for a copy wastes its own: on an H100 sixteen workers
/// at once took five times as long as their processors alone, where one at a time leaves it hardly busy.
package final class DeviceTurn {
    /// Of the lock file; -1 where nobody waits: at CPU devices, which share processors as all programs do, and without a folder.
    private let descriptor: Int32
    /// How long a process waits for others: one that was halted within its turn keeps it.
    private static let patience = Duration.seconds(1)

    /// - Parameters:
    ///   - device: What is shared.
    ///   - folder: Of caches.
    package init(at device: DeviceInfo, folder: String?) {
        guard device.type != .cpu, let folder = folder.map({ "\($0)/turns" }), CacheFolder.makeWritable(folder) else {
            descriptor = -1
            return
        }
        let name = ProgramCache.name(of: ProgramCache.key(source: "", options: "", device: device))
        descriptor = open("\(folder)/\(name)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Calls the body when no other process is in one, or all the same when that took too long.
    package func taken<Answer, Failure: Error>(_ body: () throws(Failure) -> Answer) throws(Failure) -> Answer {
        let isMine = descriptor >= 0 && waited()
        defer { if isMine { _ = flock(descriptor, LOCK_UN) } }
        return try body()
    }

    private func waited() -> Bool {
        let end = ContinuousClock.now + Self.patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else { return false }
            usleep(200)
        }
        return true
    }
}
