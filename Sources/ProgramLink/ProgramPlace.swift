import Foundation
import Glibc
import TaskModel

/// Where the programs of a user that can be asked something have their sockets: a folder for each program, and in it a
/// socket for each of its schedulers that runs.
package struct ProgramPlace: Hashable, Sendable {
    package let folder: String

    package init(folder: String) {
        self.folder = folder
    }

    /// Below `$XDG_RUNTIME_DIR`, or in the folder for temporary files.
    package init(environment: [String: String]) {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            self.init(folder: runtime + "/bgrun-programs")
        } else {
            self.init(folder: "/tmp/bgrun-programs-\(geteuid())")
        }
    }

    /// Programs of which some scheduler may run.
    package var programs: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    func sockets(of program: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(of: program))) ?? []).sorted()
    }

    private func path(of program: String) -> String { "\(folder)/\(program)" }

    /// The folder of a program, made for its owner alone where there is none.
    ///
    /// - Returns: A descriptor that belongs to the caller.
    func makeFolder(of program: String) throws(Diagnostic) -> Int32 {
        for path in [folder, path(of: program)] {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw problem(path, errno) }
        }
        return try openFolder(of: program)
    }

    /// - Throws: Also where the folder could be another user's.
    func openFolder(of program: String) throws(Diagnostic) -> Int32 {
        let path = path(of: program)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw problem(path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            close(descriptor)
            throw problem(path, EACCES)
        }
        return descriptor
    }

    private func problem(_ path: String, _ error: Int32) -> Diagnostic {
        Diagnostic(
            code: "programFolder", sentence: "The folder \(path) cannot be used: \(String(cString: strerror(error))).",
            fix: "Set XDG_RUNTIME_DIR to a folder of your own.")
    }
}
