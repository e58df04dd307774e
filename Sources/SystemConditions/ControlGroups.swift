/// The memory limits on this process's path through the control groups, of either version.
struct ControlGroups {
    let root: SystemRoot

    struct Limit {
        var path: String
        /// Bytes that may be used at most.
        var limit: Int
        /// Bytes that may still be used; what only caches files counts as free, for the kernel takes it back first.
        var available: Int
    }

    /// One for each group that has a limit, up to the root of each hierarchy.
    func memory() -> [Limit] {
        guard let groups = try? root.text("/proc/self/cgroup"), let mounts = try? root.text("/proc/self/mountinfo")
        else {
            return []
        }
        var limits: [Limit] = []
        for line in groups.split(separator: "\n") {
            // `0::/user.slice` in version 2, `4:memory:/user.slice` in version 1.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let isVersion2 = fields[0] == "0" && fields[1].isEmpty
            guard isVersion2 || fields[1].split(separator: ",").contains("memory"),
                let mount = Self.mount(in: mounts, isVersion2: isVersion2)
            else { continue }
            for folder in Self.folders(of: String(fields[2]), in: mount) {
                limits += isVersion2 ? version2(folder) : version1(folder)
            }
        }
        return limits
    }

    struct Mount: Equatable {
        /// The group that is mounted: not `/` in a container.
        var group: String
        var point: String
    }

    /// Where the hierarchy with the memory controller is mounted.
    static func mount(in mounts: String, isVersion2: Bool) -> Mount? {
        for line in mounts.split(separator: "\n") {
            // Fields 4 and 5 are the mounted folder and the mount point; after " - " come type, source and options.
            let halves = line.split(separator: " ", omittingEmptySubsequences: false)
            guard let dash = halves.firstIndex(of: "-"), dash >= 6, halves.count > dash + 3 else { continue }
            let isWanted =
                isVersion2
                ? halves[dash + 1] == "cgroup2"
                : halves[dash + 1] == "cgroup" && halves[dash + 3].split(separator: ",").contains("memory")
            if isWanted { return Mount(group: unescaped(halves[3]), point: unescaped(halves[4])) }
        }
        return nil
    }

    /// A group's folder and those above it, as far as they are mounted.
    static func folders(of group: String, in mount: Mount) -> [String] {
        let top = mount.group == "/" ? "" : mount.group
        // Seen from inside a container, the path may be one of outside that is not there.
        let below = group == top || group.hasPrefix(top + "/") ? String(group.dropFirst(top.count)) : ""
        let parts = below.split(separator: "/").prefix(128)
        guard !parts.contains("..") else { return [mount.point] }
        return (0...parts.count).map { ([mount.point[...]] + parts.prefix($0)).joined(separator: "/") }
    }

    /// Mount tables write a space as `\040`.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest.removeFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func version2(_ folder: String) -> [Limit] {
        // `max` is no number, so it is no limit.
        let limits = ["memory.max", "memory.high"].compactMap { root.integer("\(folder)/\($0)") }
        guard let limit = limits.min(), let used = root.integer("\(folder)/memory.current") else { return [] }
        return available(folder, limit: limit, used: used, cache: "inactive_file ")
    }

    private func version1(_ folder: String) -> [Limit] {
        // No limit is written as the largest number of pages.
        guard let limit = root.integer("\(folder)/memory.limit_in_bytes"), limit < 1 << 60,
            let used = root.integer("\(folder)/memory.usage_in_bytes")
        else { return [] }
        return available(folder, limit: limit, used: used, cache: "total_inactive_file ")
    }

    private func available(_ folder: String, limit: Int, used: Int, cache name: String) -> [Limit] {
        guard limit >= 0, used >= 0 else { return [] }
        let statistics = (try? root.text("\(folder)/memory.stat")) ?? ""
        let cache = min(max(0, MemoryReader.field(name, in: statistics) ?? 0), used)
        return [Limit(path: folder, limit: limit, available: max(0, limit - (used - cache)))]
    }
}
