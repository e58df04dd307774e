import Foundation
import JobLink

/// The command line of a job, as a person would give it again.
struct RecordedCommand: Codable, Hashable, Sendable {
    /// Without the program's name.
    var arguments: [String]
    /// Where it was given.
    var folder: String

    /// That of this process, without what only its host gave it.
    static var ofThisProcess: RecordedCommand {
        let arguments = JobChannelOption.removed(from: Array(CommandLine.arguments.dropFirst()))
        return RecordedCommand(arguments: arguments, folder: FileManager.default.currentDirectoryPath)
    }

    /// From the journal; nil where it has none, or that of a later version.
    init?(journaled text: String?) {
        guard let text, let command = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = command
    }

    init(arguments: [String], folder: String) {
        self.arguments = arguments
        self.folder = folder
    }

    /// One line for a POSIX shell.
    var shellText: String {
        let words = (["bgrun"] + arguments).map(Self.quoted).joined(separator: " ")
        return "cd \(Self.quoted(folder)) && \(words)"
    }

    private static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { byte in
            byte >= 0x80
                || "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%".utf8.contains(byte)
        }
        return plain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
