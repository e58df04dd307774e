import Foundation
import Glibc

/// The processes of `bgrun` that work for one place, told from others by the state folder in their environment.
struct OwnProcesses {
    /// The service.
    private(set) var service: pid_t?
    /// The first process of each job.
    private(set) var jobs: [pid_t] = []
    /// What jobs started.
    private(set) var workers: [pid_t] = []

    var all: [pid_t] { [service].compactMap(\.self) + jobs + workers }

    init(of place: TestPlace) {
        let mark = Data("XDG_STATE_HOME=\(place.path)/.state\0".utf8)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let process = pid_t(name), process != getpid(),
                // Gone again, or somebody else's.
                let environment = FileManager.default.contents(atPath: "/proc/\(name)/environ"),
                environment.range(of: mark) != nil,
                let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { continue }
            let words = String(decoding: line, as: UTF8.self).split(separator: "\0")
            if words.starts(with: ["bgrun", "service", "run"]) {
                service = process
            } else if words.contains("--job-channel") {
                jobs.append(process)
            } else if words.count > 1, words[1] == "worker" {
                workers.append(process)
            }
        }
    }
}
