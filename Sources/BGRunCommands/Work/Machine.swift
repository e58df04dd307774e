import Foundation
import Glibc
import ResourceProbe

/// What this machine gives to a job, as the kernel tells it.
package enum Machine {
    /// Cores this process may run on, by affinity and by the quota of its control group, when it was first asked.
    static let allowedCores: Int = {
        let allowed = CPULane.usableCores(root: "")
        return max(1, min(allowed, quotaCores ?? allowed))
    }()

    /// A quarter of the memory that is free, at least 256 MiB a worker, at most 1 GiB a worker or 4 GiB, which one large
    /// picture may need, and never more than half of it.
    static func defaultClaimBytes(workers: Int) -> Int {
        var available = value("MemAvailable:", in: "/proc/meminfo").flatMap { Int($0) }.map { $0 << 10 } ?? 2 << 30
        let groups = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)
        if let limit = memoryLimit(groups: groups ?? "", root: "/sys/fs/cgroup") { available = min(available, limit) }
        return claimBytes(available: available, workers: workers)
    }

    package static func claimBytes(available: Int, workers: Int) -> Int {
        min(max(available / 4, workers * 256 << 20), max(workers, 4) << 30, available / 2)
    }

    /// Of the cores of a job, those for an item that so few follow, itself included: what no later one is going to want. Those
    /// before it may still be at work.
    package static func share(of cores: Int, itemsLeft: Int) -> Int { max(1, cores / max(1, min(cores, itemsLeft))) }

    /// The memory that control groups leave to a process.
    ///
    /// A limit of any group on the way to the root holds. In a container the paths may be those outside of it, and the
    /// root is the container's own group: names that are not there are passed over, the root is always looked at.
    ///
    /// - Parameters:
    ///   - groups: Lines `number:controllers:path` (`/proc/self/cgroup`, cgroups(7)); version 2 has no controllers.
    ///   - root: Where control groups are mounted.
    /// - Returns: The tightest limit in bytes; nil where there is none.
    package static func memoryLimit(groups: String, root: String) -> Int? {
        var limits: [Int] = []
        for line in groups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let isVersion2 = fields[1].isEmpty
            guard isVersion2 || fields[1].split(separator: ",").contains("memory") else { continue }
            let mount = isVersion2 ? root : root + "/memory"
            let name = isVersion2 ? "memory.max" : "memory.limit_in_bytes"
            var path = fields[2].split(separator: "/")
            while true {
                let file = ([mount] + path.map(String.init) + [name]).joined(separator: "/")
                // "max" is no number, and no limit.
                if let text = try? String(contentsOfFile: file, encoding: .utf8),
                    let limit = Int(text.split(whereSeparator: \.isWhitespace).first ?? "")
                {
                    limits.append(limit)
                }
                guard path.popLast() != nil else { break }
            }
        }
        return limits.min()
    }

    /// The word after a key in a file of the kernel's with a line for each key.
    private static func value(_ key: String, in file: String) -> Substring? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(key) {
            return line.dropFirst(key.count).split(whereSeparator: \.isWhitespace).first
        }
        return nil
    }

    private static var quotaCores: Int? {
        guard let text = try? String(contentsOfFile: "/sys/fs/cgroup/cpu.max", encoding: .utf8) else { return nil }
        let parts = text.split(whereSeparator: \.isWhitespace).map { Double($0) }
        guard parts.count == 2, let quota = parts[0], let period = parts[1], period > 0 else { return nil }
        return max(1, Int((quota / period).rounded(.up)))
    }
}

/// FNV-1a, 64 bits: a short name for a long text (Fowler, Noll, Vo; draft-eastlake-fnv).
enum Fingerprint {
    static func hexadecimal(_ texts: [String]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in texts {
            for byte in Array(text.utf8) + [0] {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
