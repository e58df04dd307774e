import Glibc

/// The person's systemd manager: jobs are transient units of it, whose weight is changed while they run.
struct UserManager {
    let system: PrioritySystem

    /// - Returns: nil where there is none that may share out processors.
    init?(_ system: PrioritySystem) {
        self.system = system
        guard let runtime = system.environment["XDG_RUNTIME_DIR"],
            system.exists(runtime + "/bus") || system.exists(runtime + "/systemd/private"),
            system.program("systemd-run") != nil, system.program("systemctl") != nil
        else { return nil }
        let folder = "\(system.cgroups)/user.slice/user-\(system.user).slice/user@\(system.user).service"
        let controllers = system.text(folder + "/cgroup.controllers")?.split(separator: " ") ?? []
        guard controllers.contains("cpu") else { return nil }
    }

    /// The command that runs another one as a unit, in the process that is started for it.
    func launch(_ command: [String], unit: String, weight: String) -> [String] {
        let name = unit.hasSuffix(".scope") ? String(unit.dropLast(6)) : unit
        return [
            system.program("systemd-run") ?? "systemd-run", "--user", "--scope", "--quiet", "--collect",
            "--no-ask-password", "--unit", name, "-p", "CPUWeight=\(weight)", "--",
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
