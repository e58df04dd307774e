import Foundation
import JobLink
import SystemText

/// The command line of a job, as a person would give it again.
struct RecordedCommand: Codable, Hashable, Sendable {
    /// Without the program's name.
    var arguments: [String]
    /// Where it was given.
    var folder: String

    /// That of this process, without what only its host gave it.
    static var ofThisProcess: RecordedCommand {
        let arguments = JobChannelOption.removed(from: Array(ProcessTexts.arguments.dropFirst()))
        return RecordedCommand(arguments: arguments, folder: ProcessTexts.folder ?? "/")
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
        guard !word.holdsForeignBytes else { return quotedBytes(word) }
        let plain = word.utf8.allSatisfy { byte in
            byte >= 0x80
                || "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%".utf8.contains(byte)
        }
        return plain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }

    /// A word with bytes that are not UTF-8, as POSIX shells have read it since 2024, and bash and zsh before.
    private static func quotedBytes(_ word: String) -> String {
        let text = word.replacing("\\", with: "\\\\").replacing("'", with: "\\'").replacing("\n", with: "\\n")
        return "$'\(text.shown)'"
    }
}
