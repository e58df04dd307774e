import Foundation
import Glibc

/// Where state is kept between runs: `$XDG_STATE_HOME/bgrun`, by default `~/.local/state/bgrun`.
enum StateFolder {
    static func path(_ environment: [String: String]) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/bgrun" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/bgrun"
    }
}

/// Held while a job runs, so that the same job does not run twice at once. Given back when the process ends, however
/// it ends.
struct JobLock: ~Copyable {
    private let descriptor: Int32
    private let path: String

    /// - Returns: nil while another process holds the lock of this name.
    init?(_ name: String, in folder: String) {
        path = "\(folder)/\(name).lock"
        while true {
            let fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard fd >= 0 else { return nil }
            guard flock(fd, LOCK_EX | LOCK_NB) == 0 else {
                close(fd)
                return nil
            }
            // The last holder removes the file: make sure that this is the one a third process would open.
            if let held = Self.key(of: fd), let named = ExistingFile(path)?.key, held == named {
                descriptor = fd
                return
            }
            close(fd)
        }
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    private static func key(of descriptor: Int32) -> FileKey? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? FileKey(status) : nil
    }
}

/// Names of temporary outputs whose process is gone, where a kill left some.
enum Leftovers {
    static func remove(from folders: Set<String>) {
        for folder in folders {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { continue }
            for name in names where name.hasPrefix(".bgrun-") {
                let parts = name.split(separator: "-")
                guard parts.count == 3, let process = pid_t(parts[1]), kill(process, 0) != 0, errno == ESRCH else {
                    continue
                }
                unlink(folder + "/" + name)
            }
        }
    }
}
