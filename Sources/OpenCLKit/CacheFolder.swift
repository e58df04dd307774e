import Glibc

/// Where compiled programs, and other things that can be made again, are kept between runs.
package enum CacheFolder {
    /// `$XDG_CACHE_HOME/bgrun`, else `~/.cache/bgrun`, else a private folder under `/tmp`; made when missing and proved
    /// writable.
    ///
    /// - Parameter variable: Reads the environment.
    /// - Returns: nil when none can be written to.
    package static func standard(_ variable: (String) -> String? = variable) -> String? {
        var candidates: [String] = []
        if let root = variable("XDG_CACHE_HOME"), root.hasPrefix("/") { candidates.append("\(root)/bgrun") }
        if let home = variable("HOME"), home.hasPrefix("/") { candidates.append("\(home)/.cache/bgrun") }
        candidates.append("/tmp/bgrun-\(getuid())")
        return candidates.first(where: makeWritable)
    }

    /// Tells the drivers of this process, and of processes started from it, to keep their own caches in a writable place:
    /// PoCL reports no device at all when it cannot write its cache. Call before the first OpenCL call and before other
    /// threads start; a folder that the person chose stays.
    package static func prepareDrivers(folder: String?) {
        guard let folder, variable("POCL_CACHE_DIR") == nil, makeWritable("\(folder)/pocl") else { return }
        setenv("POCL_CACHE_DIR", "\(folder)/pocl", 0)
    }

    /// Makes the folder and its parents for this user alone, and tries to write into it.
    package static func makeWritable(_ path: String) -> Bool {
        var partial = ""
        for component in path.split(separator: "/") {
            partial += "/\(component)"
            _ = mkdir(partial, 0o700)
        }
        var status = stat()
        // A folder under /tmp may have been put there by somebody else, who could then choose what a driver runs.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o022 == 0
        else { return false }
        let trial = "\(path)/.trial-\(getpid())"
        let descriptor = open(trial, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        unlink(trial)
        return true
    }

    /// Names of what lies in a folder; none when it cannot be listed.
    package static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// When a file's content last changed, in nanoseconds since 1970; 0 when it is gone.
    package static func changeTime(of path: String) -> Int {
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }

    /// A variable of this process's environment; nil also when it is empty.
    package static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
