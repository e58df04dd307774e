import ArgumentParser
import Confinement
import Foundation
import Glibc
import Inference
import OpenCLKit
import ServiceAPI
import ServiceClient
import SystemText
import TaskStore
import WorkerPriority

/// `bgrun doctor`.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check what bgrun stands on here, and say what would make it better.",
        discussion: """
            EXAMPLES
              bgrun doctor
              bgrun doctor --json
              bgrun doctor --clear-quarantine
            """)

    @Flag(help: "Print JSON: an array of checks.")
    var json = false

    @Flag(help: "First say that GPUs which failed again and again are well, so that jobs use them at once.")
    var clearQuarantine = false

    func run() throws {
        if clearQuarantine {
            try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.clearDevices() }
        }
        let checks = HealthCheck.all(ServiceAccess.place)
        if json {
            try StandardOutput.print(JSONText.encode(checks) + "\n")
        } else {
            try StandardOutput.print(checks.map(\.text).joined())
        }
        if checks.contains(where: { $0.verdict == .broken }) { throw ExitStatus.configuration.code }
    }
}

/// One thing that was looked at.
struct HealthCheck: Encodable {
    enum Verdict: String, Encodable {
        case good
        /// It works, with less than there could be.
        case limited
        /// Jobs cannot run like this.
        case broken
    }

    let name: String
    let verdict: Verdict
    /// What was found, one sentence.
    let finding: String
    /// What would help; nil where nothing has to.
    let fix: String?

    init(_ name: String, _ verdict: Verdict, _ finding: String, fix: String? = nil) {
        self.name = name
        self.verdict = verdict
        self.finding = finding
        self.fix = fix
    }

    var text: String {
        let mark =
            switch verdict {
            case .good: "ok      ";
            case .limited: "limited ";
            case .broken: "broken  "
            }
        return "\(mark)\(name): \(finding)\n" + (fix.map { "        what helps: \($0)\n" } ?? "")
    }

    static func all(_ place: ServicePlace) -> [HealthCheck] {
        [folder(place), state(place), service(place), afterLogout(), priority(), confinement()] + weights()
            + devices(place)
    }

    /// Those that failed in jobs of the service.
    private static func devices(_ place: ServicePlace) -> [HealthCheck] {
        guard ExistingFile(TaskStore.path(in: place.stateFolder)) != nil,
            let devices = try? TaskStore(folder: place.stateFolder, program: Program.version).failedDevices()
        else { return [] }
        let now = Date().timeIntervalSince1970
        return devices.map { device in
            let last =
                "It failed in job \(device.job) (\(LocalTime.minutes(.seconds(device.failed)))): \(device.reason)."
            guard let until = device.quarantinedUntil, until > now else {
                return .init("GPU \(device.name)", .limited, "\(last) Jobs use it.")
            }
            return .init(
                "GPU \(device.name)", .limited,
                "\(last) After several failures jobs leave it alone until \(LocalTime.minutes(.seconds(until))).",
                fix: "When the cause is gone, bgrun doctor --clear-quarantine has it used at once.")
        }
    }

    private static func folder(_ place: ServicePlace) -> HealthCheck {
        do throws(Refusal) {
            try place.makeFolder()
            return .init("socket folder", .good, "\(place.folder) is there, for you alone.")
        } catch {
            return .init("socket folder", .broken, error.sentence, fix: error.fix)
        }
    }

    private static func state(_ place: ServicePlace) -> HealthCheck {
        place.makeStateFolder()
        guard access(place.stateFolder.systemBytes, W_OK) == 0 else {
            return .init(
                "state folder", .broken, "\(place.stateFolder) cannot be written: \(String(cString: strerror(errno))).",
                fix: "Make it writable, or set XDG_STATE_HOME to another folder.")
        }
        var volume = statvfs()
        let isKnown = statvfs(place.stateFolder.systemBytes, &volume) == 0
        let free = isKnown ? UInt64(volume.f_bavail) * UInt64(volume.f_frsize) : 0
        guard free > 16 << 20 else {
            return .init(
                "state folder", .limited, "The volume of \(place.stateFolder) has only \(free >> 20) MB left.",
                fix: "Make room: the state of jobs is kept there.")
        }
        return .init("state folder", .good, "\(place.stateFolder) can be written.")
    }

    private static func service(_ place: ServicePlace) -> HealthCheck {
        do throws(ServiceClient.Failure) {
            let status = try ServiceClient(place).status()
            return .init("service", .good, "It runs as process \(status.process) with \(status.active) jobs.")
        } catch {
            switch error {
            case .absent:
                return .init("service", .good, "It does not run; the first command that needs it starts it.")
            case .unreachable(let reason):
                return .init("service", .broken, "\(reason).", fix: "End the process that holds \(place.lock).")
            case .refused(let refusal): return .init("service", .broken, refusal.sentence, fix: refusal.fix)
            }
        }
    }

    private static func priority() -> HealthCheck {
        let tier = WorkerPriority.expectedTier()
        guard tier == .pacing else { return .init("priority", .good, tier.sentence) }
        return .init(
            "priority", .limited, tier.sentence,
            fix: "Run it in a session of systemd, or have an administrator set kernel.sched_autogroup_enabled to 1.")
    }

    private static func confinement() -> HealthCheck {
        let status = Confinement.status
        guard status.landlockVersion == nil else { return .init("confinement", .good, status.sentence) }
        return .init(
            "confinement", .limited, status.sentence, fix: "Use a kernel with Landlock for files of strangers.")
    }

    /// Nothing is said where there are none.
    private static func weights() -> [HealthCheck] {
        guard let cache = WeightCache(folder: CacheFolder.standard()) else { return [] }
        let (entries, bytes) = cache.size
        guard entries > 0 else { return [] }
        let models = "\(entries) model\(entries == 1 ? "" : "s")"
        return [.init("weights", .good, "Laid out for \(models), \(bytes >> 20) MB in \(cache.folder).")]
    }

    /// Whether processes of this user outlive the session (loginctl(1), enable-linger).
    private static func afterLogout() -> HealthCheck {
        guard access("/run/systemd/system", F_OK) == 0 else {
            return .init("after logout", .good, "There is no systemd that ends processes at logout.")
        }
        let user = ProcessInfo.processInfo.userName
        if access("/var/lib/systemd/linger/\(user)".systemBytes, F_OK) == 0 {
            return .init("after logout", .good, "Jobs go on after logout (linger is on).")
        }
        return .init(
            "after logout", .limited, "Jobs may end when you log out, and go on at the next login.",
            fix: "loginctl enable-linger lets them go on.")
    }
}
