import FoundationEssentials
import Glibc

/// Keeps the answer of a probe until something that it depends on may have changed: a driver, the loader, the graphics
/// nodes, the environment, `bgrun` itself, a restart, a sleep, or a failure of a device (rule 34).
package struct ProbeCache: Sendable {
    private struct Stored: Codable {
        var identity: String
        /// Seconds since the start of the machine, sleep included.
        var uptime: Double
        var report: ProbeReport
    }

    /// A probe in which a driver crashed or hung holds for so long; it may have been the moment.
    static let troubledSeconds = 600.0

    private let path: String

    /// - Parameter folder: Where the answer is kept; made already.
    package init(folder: String) {
        path = "\(folder)/probe.json"
    }

    /// The last answer where it still holds, else that of a new probe. Blocks while it probes.
    ///
    /// - Parameters:
    ///   - options: How to look.
    ///   - uptime: Seconds since the start of the machine, sleep included.
    ///   - probe: Looks.
    /// - Returns: What can be used, and why the rest cannot.
    package func report(
        _ options: ProbeOptions, uptime: Double = ProbeCache.uptime(),
        probe: (ProbeOptions) -> ProbeReport = ResourceProbe.blockingReport
    ) -> ProbeReport {
        let identity = Self.identity(options)
        if let stored = stored, stored.identity == identity, holds(stored, uptime) {
            var report = stored.report
            // The cores that this process may use are its own.
            report.cpu = CPULane.read(root: options.root)
            return report
        }
        let report = probe(options)
        store(Stored(identity: identity, uptime: uptime, report: report))
        return report
    }

    /// A device failed at its work: what was found holds no longer.
    package func forget() {
        unlink(path)
    }

    package static func uptime() -> Double {
        seconds(CLOCK_BOOTTIME)
    }

    private func holds(_ stored: Stored, _ uptime: Double) -> Bool {
        let isTroubled =
            stored.report.drivers.contains { $0.problem != nil }
            || stored.report.devices.contains { $0.problem != nil }
        return !isTroubled || uptime - stored.uptime < Self.troubledSeconds
    }

    private var stored: Stored? {
        SmallFile.read(path).flatMap { try? JSONDecoder().decode(Stored.self, from: Data($0)) }
    }

    private func store(_ stored: Stored) {
        guard let data = try? JSONEncoder().encode(stored) else { return }
        let temporary = "\(path).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let written = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        // A cache that cannot be written costs the next run a probe, and nothing else.
        guard written == data.count, rename(temporary, path) == 0 else {
            unlink(temporary)
            return
        }
    }

    // MARK: Identity

    /// Everything that the answer depends on, as text.
    private static func identity(_ options: ProbeOptions) -> String {
        let catalogue = ICDCatalogue.read(environment: options.environment, root: options.root)
        var parts = catalogue.entries.flatMap { entry in
            [entry.file.map { file($0) } ?? "", entry.library, file(entry.library)]
        }
        // Libraries named without a path are found through the linker's cache, which every installation rewrites.
        parts += [file("\(options.root)/etc/ld.so.cache"), options.loader, file(options.loader)]
        // The program that asks need not be the one that probes.
        parts += [file(resolved(options.helper)), options.cpuDevicesCountAsGPU ? "cpuAsGPU" : ""]
        let nodes = "\(options.root)/dev/dri"
        parts += (SmallFile.names(in: nodes) ?? []).map { node("\(nodes)/\($0)") }
        parts += ["dev/nvidiactl", "dev/kfd", "dev/dxg"].map { node("\(options.root)/\($0)") }
        parts += [SmallFile.text("\(options.root)/sys/module/nvidia/version") ?? ""]
        let prefixes = ["OCL_", "OPENCL_", "POCL_", "CUDA_", "NVIDIA_", "LD_LIBRARY_PATH", "LD_PRELOAD", "BGRUN_"]
        parts += options.environment.filter { variable in prefixes.contains { variable.key.hasPrefix($0) } }
            .map { "\($0.key)=\($0.value)" }.sorted()
        parts += [SmallFile.text("/proc/sys/kernel/random/boot_id") ?? "", "slept \(sleptSeconds())"]
        return parts.joined(separator: "\u{1f}")
    }

    /// Whole seconds that the machine has slept since its start.
    private static func sleptSeconds() -> Int {
        Int((seconds(CLOCK_BOOTTIME) - seconds(CLOCK_MONOTONIC)).rounded())
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Which file it is and when its content changed; empty when there is none.
    private static func file(_ path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "" }
        return
            "\(path) \(status.st_dev) \(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// The same for all names of a file.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Who may open a device node.
    private static func node(_ path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "" }
        return
            "\(path) \(status.st_rdev) \(status.st_mode) \(status.st_uid) \(status.st_gid) \(access(path, R_OK | W_OK))"
    }
}
