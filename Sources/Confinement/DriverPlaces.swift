/// What of the system a worker needs besides its inputs and outputs.
package enum DriverPlaces {
    /// Libraries, and what the system's own code reads when it is first used. Open to every worker: nothing in it is a
    /// person's.
    package static let libraries = [
        "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/sys/devices/system/cpu", "/proc/self", "/proc/cpuinfo",
        "/proc/meminfo", "/dev/urandom", "/dev/null",
    ].map { Grant($0, .read) }

    /// What the drivers of OpenCL devices read, run and talk to, beside ``libraries``. PoCL was watched at its work; of
    /// the others it is what their documentation and packages name.
    package static let drivers: [Grant] =
        // Drivers link what they compile with the system's linker; some are installed under /opt, or the way NixOS does.
        ["/usr", "/lib", "/lib64", "/opt", "/nix/store", "/run/opengl-driver"].map { Grant($0, .run) }
        + [
            "/etc/OpenCL", "/etc/nvidia", "/etc/drirc", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
            // Which system it is; compilers ask before they link.
            "/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/SuSE-release",
            "/etc/locale.alias",
            // What there is of devices, cores and memory.
            "/sys", "/proc/driver", "/proc/devices", "/proc/modules", "/proc/stat", "/proc/version",
            "/proc/sys/vm", "/proc/sys/kernel/osrelease",
        ].map { Grant($0, .read) }
        + ["/proc/self/task", "/dev/shm"].map { Grant($0, .keep) }
        + [
            "/dev/dri", "/dev/kfd", "/dev/dxg", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
            "/dev/nvidia-modeset", "/dev/nvidia-caps", "/dev/zero", "/dev/null",
        ].map { Grant($0, .device) }
        + (0..<maxNVIDIADevices).map { Grant("/dev/nvidia\($0)", .device) }

    /// The most NVIDIA boards in one machine that are looked for.
    private static let maxNVIDIADevices = 16

    /// What the environment of the drivers adds, folders of drivers and their caches, and the libraries of registered
    /// drivers where they have paths. A cache that is not there yet is not made.
    package static func named(by environment: [String: String], libraries: [String]) -> [Grant] {
        let value = { (name: String) in environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let list = { (name: String) in
            (environment[name] ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        }
        let code =
            list("LD_LIBRARY_PATH") + list("OPENCL_LAYERS") + list("OCL_ICD_FILENAMES")
            + ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "BGRUN_OPENCL_LOADER", "ROCM_PATH"].compactMap(value)
            + libraries.filter { $0.hasPrefix("/") }
        let home = value("HOME")
        let caches = value("XDG_CACHE_HOME") ?? home.map { $0 + "/.cache" }
        let kept =
            ["POCL_CACHE_DIR", "CUDA_CACHE_PATH", "MESA_SHADER_CACHE_DIR", "NEO_CACHE_DIR"].compactMap(value)
            + (home.map { ["\($0)/.nv/ComputeCache"] } ?? [])
            + (caches.map { cache in
                ["pocl", "mesa_shader_cache", "mesa_shader_cache_db", "neo_compiler_cache", "nvidia"].map {
                    "\(cache)/\($0)"
                }
            } ?? [])
        return code.map { Grant($0, .run) } + kept.map { Grant($0, .keep) }
    }
}
