import Foundation
import Glibc
import ResourceProbe

/// What this machine gives to a job, as the kernel tells it.
enum Machine {
    /// Cores this process may run on, by affinity and by the quota of its control group.
    static var allowedCores: Int {
        let allowed = ResourceProbe.cpuLane().cores
        return max(1, min(allowed, quotaCores ?? allowed))
    }

    /// A quarter of the memory that is free, within 256 MiB to 1 GiB a worker.
    static func defaultClaimBytes(workers: Int) -> Int {
        let available = value("MemAvailable:", in: "/proc/meminfo").flatMap { Int($0) }.map { $0 << 10 } ?? 2 << 30
        return min(max(available / 4, workers * 256 << 20), workers << 30)
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

/// Paths as they are from the root, with links left as they are.
enum AbsolutePath {
    static func of(_ path: String) -> String {
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var parts: [Substring.UTF8View] = []
        for part in full.utf8.split(separator: UInt8(ascii: "/"))
        where part.count != 1 || part.first != UInt8(ascii: ".") {
            parts.append(part)
        }
        return "/" + parts.map { String(Substring($0)) }.joined(separator: "/")
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
