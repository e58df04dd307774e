import CProcess
import Glibc
import SystemText

/// Takes from this process what its work does not need, before it looks at anything that a stranger may have made.
///
/// Landlock (landlock(7)) refuses files, TCP, and signals and abstract sockets of other processes; a filter of system
/// calls refuses the sockets that Landlock does not know; limits end core dumps and runs on descriptors. Descriptors that
/// are open stay usable: a process is handed its input open, and needs no right over the folder it lies in.
package enum Confinement {
    /// What of it this kernel has.
    package struct Status: Hashable, Sendable {
        /// Version of Landlock's interface; nil where there is none.
        package var landlockVersion: Int?
        /// One sentence for a person.
        package var sentence: String
    }

    /// The environment variable that leaves workers unconfined, for a driver that needs more than is known here.
    package static let offSwitch = "BGRUN_UNCONFINED"

    /// Descriptors that a process may have open; drivers of devices take some hundred.
    private static let maxDescriptors: rlim_t = 1024

    package static var status: Status {
        if getenv(offSwitch) != nil {
            return Status(landlockVersion: nil, sentence: "Workers are not confined: \(offSwitch) is set.")
        }
        let version = bg_landlock_version()
        guard version >= 1 else { return Status(landlockVersion: nil, sentence: sentence(withoutLandlock: errno)) }
        var sentence = "Workers are confined to their inputs and outputs (Landlock \(version))"
        let missing = [(4, "TCP"), (6, "signals to other processes")].filter { version < $0.0 }.map(\.1)
        sentence += missing.isEmpty ? "." : "; this kernel cannot refuse them \(missing.joined(separator: " and "))."
        return Status(landlockVersion: Int(version), sentence: sentence)
    }

    private static func sentence(withoutLandlock reason: Int32) -> String {
        switch reason {
        case ENOSYS: "Workers are not confined: this kernel has no Landlock (Linux 5.13 and later can have it)."
        case EOPNOTSUPP: "Workers are not confined: Landlock is switched off (add landlock to the kernel's lsm= list)."
        default: "Workers are not confined: Landlock cannot be used here (\(String(cString: strerror(reason))))."
        }
    }

    /// Closes every descriptor from a number on: what a process inherited by somebody's mistake, it could use.
    package static func closeInherited(from first: Int32) {
        // A kernel without this call has no Landlock either.
        _ = bg_close_from(UInt32(first))
    }

    /// Confines the calling thread and everything that it starts; there is no way back.
    ///
    /// Call it while there is no other thread: one that exists keeps its rights, and shares its memory.
    ///
    /// - Parameters:
    ///   - grants: What can still be reached. A place that does not exist, or that this user may not reach, is left out.
    ///   - mayExecute: Whether programs may be started, those among the grants where there is Landlock.
    /// - Returns: What this kernel has of it; the rest is as before.
    /// - Throws: ``ConfinementFailure`` where the kernel has it and refused it. The process is then confined in part, and
    ///   should do nothing.
    @discardableResult
    package static func confine(to grants: [Grant], mayExecute: Bool) throws(ConfinementFailure) -> Status {
        let status = status
        guard getenv(offSwitch) == nil else { return status }
        limit(RLIMIT_CORE, to: 0)
        limit(RLIMIT_NOFILE, to: maxDescriptors)
        guard bg_no_new_privileges() == 0 else { throw ConfinementFailure("PR_SET_NO_NEW_PRIVS", errno) }
        if let version = status.landlockVersion { try enforce(grants, version: Int32(version)) }
        // A kernel without filters, or a machine whose system calls have other numbers, goes without.
        if bg_refuse_sockets(mayExecute) != 0, ![ENOSYS, EINVAL].contains(errno) {
            throw ConfinementFailure("PR_SET_SECCOMP", errno)
        }
        return status
    }

    private static func enforce(_ grants: [Grant], version: Int32) throws(ConfinementFailure) {
        let rules = bg_landlock_create(version)
        guard rules >= 0 else { throw ConfinementFailure("landlock_create_ruleset", errno) }
        defer { close(rules) }
        let known = bg_landlock_file_rights(version)
        for grant in grants {
            switch grant.place {
            case .descriptor(let target): try allow(grant.use, for: target, rules, known)
            case .path(let path):
                let target = open(path.systemBytes, bg_o_path | O_CLOEXEC)
                guard target >= 0 else { continue }
                defer { close(target) }
                try allow(grant.use, for: target, rules, known)
            }
        }
        guard bg_landlock_enforce(rules) == 0 else { throw ConfinementFailure("landlock_restrict_self", errno) }
    }

    private static func allow(
        _ use: Grant.Use, for target: Int32, _ rules: Int32, _ known: UInt64
    ) throws(ConfinementFailure) {
        var status = stat()
        guard fstat(target, &status) == 0 else { throw ConfinementFailure("fstat", errno) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let rights = use.rights & known & (isFolder ? .max : Grant.Use.overFiles)
        guard bg_landlock_allow(rules, target, rights) == 0 else {
            throw ConfinementFailure("landlock_add_rule", errno)
        }
    }

    /// Lowers a limit for good; one that is lower stays.
    private static func limit(_ resource: __rlimit_resource, to most: rlim_t) {
        let resource = __rlimit_resource_t(resource.rawValue)
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0 else { return }
        limits = rlimit(rlim_cur: min(limits.rlim_cur, most), rlim_max: min(limits.rlim_max, most))
        _ = setrlimit(resource, &limits)
    }
}

/// The kernel refused to confine a process.
package struct ConfinementFailure: Error, CustomStringConvertible {
    /// The call that failed.
    package var call: String
    /// The errno it gave.
    package var status: Int32

    init(_ call: String, _ status: Int32) {
        self.call = call
        self.status = status
    }

    package var description: String {
        "a worker could not be confined: \(call): \(String(cString: strerror(status)));"
            + " \(Confinement.offSwitch)=1 runs it unconfined"
    }
}
