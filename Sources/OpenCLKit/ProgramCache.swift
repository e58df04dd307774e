import Glibc

/// Compiled programs kept on disk: loading one takes milliseconds where compiling takes up to a second.
///
/// A file that is damaged, foreign or refused by the driver is deleted and the program compiled from its source. A file
/// on which the driver brought a process down is not tried a second time.
package struct ProgramCache: Sendable {
    /// Absent when there is no writable place: every program is compiled then.
    package let folder: String?

    package init(folder: String?) {
        self.folder = folder.map { "\($0)/programs" }
    }

    /// A program from the cache, else compiled.
    package func program(
        source: String, options: String, in context: Context
    ) throws(OpenCLError) -> Program {
        let key = ProgramCache.key(source: source, options: options, device: context.device.info)
        if let program = cached(key: key, options: options, in: context) { return program }
        let program = try Program.build(source: source, options: options, in: context)
        program.cacheKey = key
        return program
    }

    /// Keeps a program that was compiled, for later processes. Slow on some drivers; call it when the work is done.
    ///
    /// - Returns: Whether the file stands. A full disk or a driver without binaries only costs the next run its time.
    @discardableResult
    package func store(_ program: Program) -> Bool {
        guard let folder, let key = program.cacheKey, CacheFolder.makeWritable(folder),
            let binary = try? program.binary()
        else { return false }
        guard BinaryFile.write(BinaryFile.encode(binary, key: key), to: path(of: key, in: folder)) else { return false }
        program.cacheKey = nil
        removeOldest(in: folder)
        return true
    }

    /// Files kept; new drivers and kernels leave the binaries of the old ones behind. A binary is up to about a megabyte.
    package static let capacity = 32

    private func removeOldest(in folder: String) {
        let paths = CacheFolder.names(in: folder).map { "\(folder)/\($0)" }
        guard paths.count > ProgramCache.capacity else { return }
        let byAge = paths.sorted { CacheFolder.changeTime(of: $0) < CacheFolder.changeTime(of: $1) }
        for path in byAge.prefix(paths.count - ProgramCache.capacity) { unlink(path) }
    }

    private func cached(key: [UInt8], options: String, in context: Context) -> Program? {
        guard let folder else { return nil }
        let path = path(of: key, in: folder)
        guard let file = BinaryFile.read(path) else { return nil }
        let claim = LoadClaim(path: path)
        guard !claim.hasKilledBefore(), let binary = BinaryFile.decode(file, key: key) else {
            unlink(path)
            return nil
        }
        claim.take()
        defer { claim.giveBack() }
        guard let program = try? Program.load(binary: binary, options: options, in: context) else {
            unlink(path)
            return nil
        }
        return program
    }

    private func path(of key: [UInt8], in folder: String) -> String { "\(folder)/\(ProgramCache.name(of: key))" }

    /// What a file with this key is called.
    static func name(of key: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: key.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Everything that decides the binary. Each part goes in with its length, so that no two lists look the same.
    static func key(source: String, options: String, device: DeviceInfo) -> [UInt8] {
        var bytes: [UInt8] = []
        let parts = [
            source, options, device.platformName, device.platformVersion, device.driverVersion, device.identity,
        ]
        for part in parts {
            bytes += Array("\(part.utf8.count):".utf8) + Array(part.utf8)
        }
        return BinaryFile.digest(bytes)
    }
}

/// A file beside a binary, named after the process that hands it to its driver: left over when that process died of it.
private struct LoadClaim {
    let path: String

    func take() {
        let descriptor = open("\(path).loading-\(getpid())", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    func giveBack() {
        unlink("\(path).loading-\(getpid())")
    }

    /// A claim whose process is gone. Claims found are removed, for the binary is deleted with them.
    func hasKilledBefore() -> Bool {
        guard let slash = path.lastIndex(of: "/") else { return false }
        let prefix = "\(path[path.index(after: slash)...]).loading-"
        var isFound = false
        for name in CacheFolder.names(in: String(path[..<slash])) {
            guard name.hasPrefix(prefix), let process = pid_t(name.dropFirst(prefix.count)) else { continue }
            // The same number as ours can only be an earlier process's: this one has given its claims back.
            if process == getpid() || (kill(process, 0) != 0 && errno == ESRCH) {
                unlink("\(path[...slash])\(name)")
                isFound = true
            }
        }
        return isFound
    }
}
