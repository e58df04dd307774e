import Foundation

/// Where a manifest is looked for when none was given in code.
package enum ManifestSearch {
    /// Environment variable with the path of a manifest.
    static let variable = "BGRUN_MANIFEST"
    static let names = ["bgrun-tasks.yml", "bgrun-tasks.yaml", "bgrun-tasks.json"]

    /// The manifest's path: as the environment says, else beside the executable, else in the current folder; nil when
    /// there is none.
    package static func path(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        executableFolder: String? = ownFolder(),
        currentFolder: String = FileManager.default.currentDirectoryPath,
        exists: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
    ) -> String? {
        // A path that was asked for is taken even if nothing is there: the reader says so.
        if let path = environment[variable], !path.isEmpty { return path }
        for folder in [executableFolder, currentFolder].compactMap(\.self) {
            for name in names {
                let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
                if exists(path) { return path }
            }
        }
        return nil
    }

    package static func ownFolder() -> String? {
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        return (path as NSString).deletingLastPathComponent
    }
}
