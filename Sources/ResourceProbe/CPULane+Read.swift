import Glibc

extension CPULane {
    /// Reads `/proc/cpuinfo` under `root` and `/proc/self/status` under `root`.
    package static func read(root: String = "") -> CPULane {
        // By bytes: every job starts with this, and characters take milliseconds.
        let lines = (SmallFile.text("\(root)/proc/cpuinfo") ?? "").utf8.split(separator: UInt8(ascii: "\n"))
        func field(_ names: String...) -> String? {
            for line in lines {
                guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
                let name = line[..<colon].trimmed
                if names.contains(where: { name.elementsEqual($0.utf8) }) {
                    return String(line[colon...].dropFirst().trimmed)
                }
            }
            return nil
        }
        let flags = Set((field("flags") ?? "").utf8.split(separator: UInt8(ascii: " ")).compactMap(String.init))
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

    /// Counts `Cpus_allowed_list` of `/proc/self/status` under `root`, e.g. `0-3,8`.
    package static func usableCores(root: String) -> Int {
        let lines = (SmallFile.text("\(root)/proc/self/status") ?? "").utf8.split(separator: UInt8(ascii: "\n"))
        let name = "Cpus_allowed_list:".utf8
        let list = lines.first { $0.starts(with: name) }.flatMap { String($0.dropFirst(name.count).trimmed) } ?? ""
        let counts = list.split(separator: ",").map { range in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, last >= first else { return 0 }
            return last - first + 1
        }
        let count = counts.reduce(0, +)
        return count > 0 ? count : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}

extension Substring.UTF8View {
    /// Without blanks at both ends.
    fileprivate var trimmed: Self {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return self[endIndex...] }
        return self[...last].drop(while: isBlank)
    }
}
