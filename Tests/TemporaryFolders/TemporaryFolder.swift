package import Foundation

/// A new, empty folder of one test's own, gone with its last reference.
package final class TemporaryFolder: Sendable {
    package let path: String
    package var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    package init() throws {
        path = NSTemporaryDirectory() + "bgrun-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // What cannot be removed is left to the system, which clears such folders.
        _ = try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in this folder.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file, in folders that are made where there are none.
    package func write(_ text: String, to name: String) throws {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}
