import Glibc

/// Where a process stands in the control groups that share out processors.
struct ControlGroups {
    private let system: PrioritySystem
    /// Its group in the unified hierarchy.
    private let unified: String?
    /// Its group in a hierarchy of version 1 that has the cpu controller.
    private let legacy: String?

    init?(of process: pid_t, _ system: PrioritySystem) {
        guard let text = system.text("\(system.proc)/\(process)/cgroup") else { return nil }
        self.system = system
        var unified: String?
        var legacy: String?
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            if fields[1].isEmpty { unified = String(fields[2]) }
            if fields[1].split(separator: ",").contains("cpu") { legacy = String(fields[2]) }
        }
        self.unified = unified
        self.legacy = legacy
    }

    /// The kernel looks at autogroups only for processes that no group with the cpu controller holds.
    var isAtRoot: Bool {
        if let legacy { return legacy == "/" }
        guard let unified else { return true }
        // Only a group below the real root has a weight; in a container even the topmost one that is seen.
        var path = unified.split(separator: "/")[...]
        while true {
            if system.exists(([system.cgroups] + path.map(String.init) + ["cpu.weight"]).joined(separator: "/")) {
                return false
            }
            guard path.popLast() != nil else { return true }
        }
    }

    func isIn(unit: String) -> Bool { unified?.split(separator: "/").last.map { $0 == unit } ?? false }

    /// Where its own group is shown.
    var folder: String? { unified.map { system.cgroups + $0 } }

    /// The weight of its own group as the kernel holds it: 0 for idle; nil where it has none.
    var weight: Int? {
        guard let folder else { return nil }
        if system.text(folder + "/cpu.idle") == "1" { return 0 }
        return system.text(folder + "/cpu.weight").flatMap { Int($0) }
    }
}
