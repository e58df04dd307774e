import Foundation
import Glibc
import SystemText
package import TaskStore

/// Where state is kept between runs: `$XDG_STATE_HOME/bgrun`, by default `~/.local/state/bgrun`.
enum StateFolder {
    static func path(_ environment: [String: String]) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/bgrun" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/bgrun"
    }
}

/// Held while a job runs, so that no other one does the same work at once. Given back when the process ends, however it
/// ends.
package struct JobLock: ~Copyable {
    private let descriptor: Int32
    private let path: String

    /// - Returns: nil while another process holds the lock of this name.
    /// - Throws: ``StoreError`` where there can be no lock: `cannotOpen` or `writeFailed`.
    package init?(_ name: String, in folder: String) throws(StoreError) {
        try self.init(path: "\(folder)/\(name).lock")
    }

    /// As ``init(_:in:)``.
    package init?(path: String) throws(StoreError) {
        self.path = path
        while true {
            let fd = open(path.systemBytes, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard fd >= 0 else { throw Self.failure(path, errno) }
            guard flock(fd, LOCK_EX | LOCK_NB) == 0 else {
                let reason = errno
                close(fd)
                if reason == EINTR { continue }
                guard reason == EWOULDBLOCK else { throw Self.failure(path, reason) }
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
        unlink(path.systemBytes)
        close(descriptor)
    }

    private static func failure(_ path: String, _ reason: Int32) -> StoreError {
        let sentence = "The lock \(path) cannot be taken: \(String(cString: strerror(reason)))."
        return [ENOSPC, EDQUOT, EIO].contains(reason)
            ? StoreError(.writeFailed, sentence, fix: "Make room on its volume and run the command again.")
            : StoreError(
                .cannotOpen, sentence,
                fix: "Make its folder writable, or set XDG_STATE_HOME to another folder.")
    }

    private static func key(of descriptor: Int32) -> FileKey? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? FileKey(status) : nil
    }
}

/// Names of temporary outputs whose process is gone, where a kill left some.
///
/// A process that is not seen may still live, in another container or on another machine that shares the folder: only
/// this user's files that nothing has written to for a while are taken away.
enum Leftovers {
    private static let quietSeconds = 60

    static func remove(from folders: Set<String>) {
        remove(from: folders) { process, status in
            kill(process, 0) != 0 && errno == ESRCH && time(nil) - status.st_mtim.tv_sec > quietSeconds
        }
    }

    /// Takes away what processes of this one's own left, whose end it has seen.
    static func remove(of processes: Set<pid_t>, from folders: Set<String>) {
        guard !processes.isEmpty else { return }
        remove(from: folders) { process, _ in processes.contains(process) }
    }

    private static func remove(from folders: Set<String>, where isLeft: (pid_t, stat) -> Bool) {
        for folder in folders {
            guard let names = SystemFile.names(in: folder) else { continue }
            for name in names where name.hasPrefix(".bgrun-") {
                let parts = name.split(separator: "-")
                guard parts.count == 3, let process = pid_t(parts[1]) else { continue }
                var status = stat()
                guard lstat((folder + "/" + name).systemBytes, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                    status.st_uid == geteuid(), isLeft(process, status)
                else { continue }
                unlink((folder + "/" + name).systemBytes)
            }
        }
    }
}
