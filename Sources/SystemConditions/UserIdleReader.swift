import TaskModel

/// Whether somebody uses the machine (rule 49): logind's idle hint where a graphical session exists, else the age of
/// what was last typed.
struct UserIdleReader {
    let root: SystemRoot
    let hint: Reading<IdleHint>
    /// Seconds since 1970.
    let now: Duration

    /// How long nobody must have typed for the machine to count as idle, where only the age of input tells.
    private static let idleAfter: Duration = .seconds(300)

    func read() -> Reading<Bool> {
        if case .known(let hint, let source, _) = hint {
            guard hint.hasGraphicalSession else { return .known(true, source: source, note: "no graphical session") }
            return .known(hint.isIdle, source: source)
        }
        guard hasDisplay() else {
            return .known(true, source: "/tmp/.X11-unix, /run/user", note: "no graphical session")
        }
        // The newest input of any terminal or device.
        let newest = inputFiles().compactMap { path in root.lastAccess(path).map { (path: path, time: $0) } }
            .max { $0.time < $1.time }
        guard let newest else {
            return .unknown("\(hint.unknownBecause ?? "no logind"), and no terminal or input device tells")
        }
        // A clock that was set back makes ages negative: that is no idleness.
        let age = now - newest.time
        return .known(
            age >= Self.idleAfter, source: newest.path,
            note: "last input \(max(0, age.components.seconds)) s ago")
    }

    /// A display server has a socket of known name, also where logind is not there to tell.
    private func hasDisplay() -> Bool {
        if let names = try? root.names(in: "/tmp/.X11-unix"), names.contains(where: { $0.hasPrefix("X") }) {
            return true
        }
        for user in (try? root.names(in: "/run/user")) ?? [] {
            let names = (try? root.names(in: "/run/user/\(user)")) ?? []
            if names.contains(where: { $0.hasPrefix("wayland-") }) { return true }
        }
        return false
    }

    private func inputFiles() -> [String] {
        func files(_ folder: String, _ isWanted: (String) -> Bool) -> [String] {
            ((try? root.names(in: folder)) ?? []).filter(isWanted).map { "\(folder)/\($0)" }
        }
        return files("/dev/pts") { Int($0) != nil }
            + files("/dev") { $0.hasPrefix("tty") && Int($0.dropFirst(3)) != nil }
            + files("/dev/input") { $0.hasPrefix("event") }
    }
}

/// What logind tells of the sessions.
package struct IdleHint: Hashable, Sendable {
    package var isIdle: Bool
    /// A session of a person on X11 or Wayland exists; a login screen is none.
    package var hasGraphicalSession: Bool

    package init(isIdle: Bool, hasGraphicalSession: Bool) {
        self.isIdle = isIdle
        self.hasGraphicalSession = hasGraphicalSession
    }
}
