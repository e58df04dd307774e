public import ArgumentParser

/// The root of the `bgrun` command.
public struct BGRun: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "bgrun",
        abstract: "Run heavy compute in the background and stop it cleanly.",
        subcommands: [
            DevicesCommand.self,
            ProbeCommand.self,
        ]
    )

    public init() {}
}
