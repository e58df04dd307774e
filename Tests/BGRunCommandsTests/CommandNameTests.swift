import ArgumentParser
import BGRunCommands
import Testing

/// What the root of the command says of its parts.
@Suite struct CommandNameTests {
    private static func below(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        command.configuration.subcommands.flatMap { [$0] + below($0) }
    }

    @Test func everyCommandNamesItself() {
        let commands = Self.below(BGRun.self)
        #expect(commands.contains { $0.configuration.commandName == "uninstall" })
        let unnamed = commands.filter { $0.configuration.commandName == nil }
        #expect(unnamed.isEmpty, "\(unnamed)")
    }
}
