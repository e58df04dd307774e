import Glibc

/// The person's systemd manager: jobs are transient units of it, whose weight is changed while they run.
struct UserManager {
    private static let starter = "systemd-run"
    /// Variable that says where its sockets are.
    private static let folder = "XDG_RUNTIME_DIR"

    let system: PrioritySystem

    /// - Returns: nil where there is none that may share out processors.
    init?(_ system: PrioritySystem) {
        self.system = system
        guard let runtime = system.environment[Self.folder],
            system.exists(runtime + "/bus") || system.exists(runtime + "/systemd/private"),
            system.program(Self.starter) != nil, system.program("systemctl") != nil
        else { return nil }
        let folder = "\(system.cgroups)/user.slice/user-\(system.user).slice/user@\(system.user).service"
        let controllers = system.text(folder + "/cgroup.controllers")?.split(separator: " ") ?? []
        guard controllers.contains("cpu") else { return nil }
    }

    /// Whether a process with that name is still about to become a unit.
    static func isMaking(_ name: String?) -> Bool { name == starter }

    /// Whether a program with those variables asks this manager; one that has none is given what it needs.
    func isReached(with environment: inout [String: String]) -> Bool {
        let own = system.environment[Self.folder]
        environment[Self.folder] = environment[Self.folder] ?? own
        return environment[Self.folder] == own
    }

    /// The command that runs another one as a unit, in the process that is started for it.
    ///
    /// The unit stands at the top, beside the slices of the desktop and of its programs: deeper it would be weighed only
    /// against those of its own slice.
    func launch(_ command: [String], unit: String, weight: String) -> [String] {
        let name = unit.hasSuffix(".scope") ? String(unit.dropLast(6)) : unit
        return [
            system.program(Self.starter) ?? Self.starter, "--user", "--scope", "--quiet", "--collect",
            "--no-ask-password", "--slice=-.slice", "--unit", name, "-p", "CPUWeight=\(weight)", "--",
        ] + command
    }

    /// - Returns: Whether the manager took it; what became of it is read from the kernel.
    func setWeight(_ weight: String, of unit: String) -> Bool {
        guard let program = system.program("systemctl") else { return false }
        return BriefCommand(
            [program, "--user", "--no-ask-password", "set-property", "--runtime", unit, "CPUWeight=\(weight)"],
            environment: system.environment
        ).run(within: system.patience)
    }
}
