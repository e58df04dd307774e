import CProcess
import Glibc

/// Processes of jobs whose service is gone.
enum OrphanProcesses {
    /// Time to notice that by themselves and to end with everything committed.
    private static let patience: Int32 = 2_000

    /// Returns when they are gone.
    static func end(_ processes: [ProcessIdentity]) {
        for process in processes {
            kill(process.processID, SIGTERM)
        }
        for process in processes {
            let descriptor = bg_pidfd_open(process.processID)
            guard descriptor >= 0, process.isAlive else { continue }
            defer { close(descriptor) }
            var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&end, 1, patience) > 0 { continue }
            kill(-process.processID, SIGKILL)
            kill(process.processID, SIGKILL)
            _ = poll(&end, 1, patience)
        }
    }
}
