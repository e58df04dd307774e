import Foundation
import Glibc

/// Where the service of a user is found: its socket, its lock, its log.
package struct ServicePlace: Hashable, Sendable {
    /// Its folder; nobody else may enter it.
    package let folder: String
    /// Where what outlives the service is kept.
    package let stateFolder: String

    /// Longest path of a socket, sockaddr_un(7).
    private static let maxSocketPath = 107

    package init(folder: String, stateFolder: String) {
        self.folder = folder
        self.stateFolder = stateFolder
    }

    /// Below `$XDG_RUNTIME_DIR`; without one, or where its name is too long, below the state folder, and where that is
    /// too long as well, in a folder for temporary files whose name comes from the state folder's.
    package init(stateFolder: String, environment: [String: String]) {
        let name = Self.hash(stateFolder)
        var candidates: [String] = []
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            // Another state folder is another queue, and has another service.
            let standard = (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/bgrun"
            candidates.append(runtime + "/bgrun" + (stateFolder == standard ? "" : "-\(name)"))
        }
        candidates += [stateFolder + "/run", "/tmp/bgrun-\(geteuid())-\(name)"]
        let folder = candidates.first { ($0 + "/socket").utf8.count <= Self.maxSocketPath }
        self.init(folder: folder ?? "/tmp/bgrun-\(geteuid())-\(name)", stateFolder: stateFolder)
    }

    package var socket: String { folder + "/socket" }
    package var lock: String { folder + "/service.lock" }
    package var serviceLog: String { stateFolder + "/service.log" }

    /// What a job and its programs wrote.
    package func log(of job: UInt64) -> String { "\(stateFolder)/logs/\(job).log" }

    /// Makes the folder, for its owner alone.
    ///
    /// - Throws: ``Refusal`` where it cannot be made, or belongs to somebody else.
    package func makeFolder() throws(Refusal) {
        do {
            try FileManager.default.createDirectory(
                atPath: (folder as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        } catch {
            throw problem("cannot be made")
        }
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw problem(String(cString: strerror(errno))) }
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw problem("it belongs to somebody else, or is no folder")
        }
        guard status.st_mode & 0o077 == 0 || chmod(folder, 0o700) == 0 else {
            throw problem("others may enter it")
        }
    }

    /// Makes the folder for what outlives the service, for its owner alone. Where it cannot be, what needs it says so.
    package func makeStateFolder() {
        try? FileManager.default.createDirectory(
            atPath: stateFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func problem(_ reason: String) -> Refusal {
        Refusal(
            code: "runtimeFolder", sentence: "The service's folder \(folder) cannot be used: \(reason).",
            fix: "Set XDG_RUNTIME_DIR to a folder of your own.")
    }

    /// FNV-1a, 32 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
    private static func hash(_ text: String) -> String {
        String(text.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }, radix: 16)
    }
}
