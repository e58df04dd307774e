import Foundation

/// A folder that goes away with its owner.
final class TemporaryFolder: Sendable {
    let path = NSTemporaryDirectory() + "bgrun-test-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // What is left in the folder for temporary files is cleaned by the system.
        _ = try? FileManager.default.removeItem(atPath: path)
    }
}
