import Glibc

extension CPULane {
    /// Reads `/proc/cpuinfo` under `root` and `/proc/self/status` under `root`.
    static func read(root: String) -> CPULane {
        let lines = (SmallFile.text("\(root)/proc/cpuinfo") ?? "").split(separator: "\n")
        func field(_ names: String...) -> String? {
            for line in lines {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, let name = parts[0].split(separator: "\t").first else { continue }
                if names.contains(String(name).trimmed) { return String(parts[1]).trimmed }
            }
            return nil
        }
        let flags = Set((field("flags") ?? "").split(separator: " ").map(String.init))
        return CPULane(
            name: field("model name", "Model") ?? "unknown CPU",
            cores: usableCores(root: root),
            instructionSet: instructionSet(flags: flags)
        )
    }

    private static func instructionSet(flags: Set<String>) -> InstructionSet {
        #if arch(arm64)
            return .neon
        #else
            guard flags.isSuperset(of: ["avx2", "fma"]) else { return .baseline }
            return flags.isSuperset(of: ["avx512f", "avx512bw", "avx512dq", "avx512vl"]) ? .avx512 : .avx2
        #endif
    }

    /// Counts `Cpus_allowed_list` of `/proc/self/status`, e.g. `0-3,8`.
    private static func usableCores(root: String) -> Int {
        let lines = (SmallFile.text("\(root)/proc/self/status") ?? "").split(separator: "\n")
        let list = lines.first { $0.hasPrefix("Cpus_allowed_list:") }?.split(separator: ":").last ?? ""
        let counts = String(list).trimmed.split(separator: ",").map { range in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, last >= first else { return 0 }
            return last - first + 1
        }
        let count = counts.reduce(0, +)
        return count > 0 ? count : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}

extension String {
    /// Without blanks at both ends.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
