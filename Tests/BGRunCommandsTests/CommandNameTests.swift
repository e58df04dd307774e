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

    /// A command line is made sense of in a quick way first, which leaves these to the whole one.
    @Test(arguments: ["jobs", "export", "run", "service"])
    func whatIsToldOfACommandNamesTheWholeCommand(name: String) throws {
        let place = try TestPlace()
        let help = try place.bgrun(name, "--help")
        #expect(help.status == 0)
        #expect(help.output.contains("USAGE: bgrun \(name) "), "\(help.output)")
        #expect(try place.bgrun("help", name).output == help.output)
        let wrong = try place.bgrun(name, "--no-such-option")
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("Usage: bgrun \(name) "), "\(wrong.errors)")
        let script = try place.bgrun(name, "--generate-completion-script", "bash")
        #expect(script.status == 0)
        #expect(script.output.contains("complete "))
    }
}
