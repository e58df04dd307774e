import Foundation

/// Finds programs and asks them who they are.
struct Tools {
    let scratch: String

    static func locate(_ name: String) -> String? {
        // Debian's folder first: a stand-in elsewhere on the path may not be the program itself.
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = ["/usr/bin"] + path.split(separator: ":").map(String.init)
        return folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    func moduleVersion(_ python: String, _ module: String) -> String? {
        guard FileManager.default.isExecutableFile(atPath: python) else { return nil }
        let expression =
            module == "pyvips"
            ? "'.'.join(str(pyvips.version(part)) for part in range(3))" : "\(module).__version__"
        return output(of: python, ["-c", "import \(module); print(\(expression))"])
    }

    func versions() -> [String: String] {
        let asked = [
            ("libvips-tools", "vips", "--version"), ("ImageMagick", "convert-im6.q16", "-version"),
            ("GraphicsMagick", "gm", "version"), ("darktable", "darktable-cli", "--version"),
        ]
        var versions: [String: String] = [:]
        for (name, program, option) in asked {
            if let path = Self.locate(program), let line = output(of: path, [option]) { versions[name] = line }
        }
        return versions
    }

    func machine(processors: Int) -> Report.Machine {
        let lines = readSmallFile("/proc/cpuinfo")?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }
        let name = model?.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) }
        let kernel = readSmallFile("/proc/sys/kernel/osrelease")?.trimmingCharacters(in: .newlines)
        return Report.Machine(
            processor: name ?? "an unnamed processor", processors: processors, kernel: kernel ?? "unknown")
    }

    /// The first line a program prints; nil when it fails.
    private func output(of program: String, _ arguments: [String]) -> String? {
        let log = scratch + "/version-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: log) }
        guard
            let measurement = try? ProcessTree(log: log).run([[Invocation(program: program, arguments: arguments)]]),
            measurement.failures.isEmpty
        else { return nil }
        return readSmallFile(log)?.split(separator: "\n").first.map(String.init)
    }
}
