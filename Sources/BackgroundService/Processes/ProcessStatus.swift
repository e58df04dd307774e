import Foundation

/// What the kernel tells of a process, proc(5).
enum ProcessStatus {
    /// The fields after the process's name, of which the state is the first; nil when there is no such process.
    static func fields(of process: some CustomStringConvertible) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: name)...].split(separator: " ")
    }
}
