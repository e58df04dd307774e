import ArgumentParser
import SystemText

/// Makes sense of a command line as `BGRun` does, but does not look first for the options that print completion scripts:
/// that takes a tenth of the start of a command.
struct QuickParse: ParsableCommand {
    private static let named = ProcessTexts.arguments.dropFirst().first.flatMap { name in
        BGRun.configuration.subcommands.first { $0._commandName == name }
    }

    /// The parser leaves that out for commands that have another above them.
    static let configuration = CommandConfiguration(
        commandName: BGRun._commandName, _superCommandName: "", subcommands: [named].compactMap { $0 })

    /// The command that the line names, ready to run; nil when the line is no such command, or one with something else to
    /// say, e.g. its help or what is wrong with it.
    static func command() -> (any ParsableCommand)? {
        let words = Array(ProcessTexts.arguments.dropFirst())
        guard let named, named.configuration.subcommands.isEmpty, let command = try? parseAsRoot(words),
            type(of: command) == named
        else { return nil }
        return command
    }
}
