import Glibc

/// The autogroup of a job's session (sched(7)): its nice value weighs the whole session against others, and an ordinary
/// user may lower and raise it.
struct Autogroup {
    enum Change {
        case done
        /// The kernel takes one change each tenth of a second from all ordinary users together.
        case tooSoon
        case refused
    }

    private let system: PrioritySystem
    private let path: String

    /// - Returns: nil where the kernel does not look at it, or where it is this process's own.
    init?(of process: pid_t, _ system: PrioritySystem) {
        self.system = system
        path = "\(system.proc)/\(process)/autogroup"
        guard system.text("\(system.proc)/sys/kernel/sched_autogroup_enabled") == "1",
            let groups = ControlGroups(of: process, system), groups.isAtRoot,
            let name = Self.parts(system.text(path))?.name,
            // Whoever schedules is never lowered.
            name != Self.parts(system.text("\(system.proc)/self/autogroup"))?.name
        else { return nil }
    }

    var nice: Int? { Self.parts(system.text(path))?.nice }

    func setNice(_ nice: Int) -> Change {
        switch system.write("\(nice)", to: path) {
        case 0: self.nice == nice ? .done : .refused
        case EAGAIN: .tooSoon
        default: .refused
        }
    }

    /// Reads `/autogroup-25 nice 19`.
    private static func parts(_ text: String?) -> (name: Substring, nice: Int)? {
        guard let words = text?.split(separator: " "), words.count == 3, words[1] == "nice", let nice = Int(words[2])
        else { return nil }
        return (words[0], nice)
    }
}
