import Foundation

/// The rights that new files of this process do not give (umask(2)).
package enum FileMask {
    package static let usual: UInt32 = 0o022

    /// As the kernel tells it (proc_pid_status(5)): umask(2) cannot be asked without changing it for every thread.
    package static var own: UInt32 {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let field = lines.first { $0.hasPrefix("Umask:") }?.split(whereSeparator: \.isWhitespace).last
        return field.flatMap { UInt32($0, radix: 8) } ?? usual
    }
}
