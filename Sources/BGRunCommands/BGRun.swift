public import ArgumentParser

/// The root of the `bgrun` command.
public struct BGRun: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "bgrun",
        abstract: "Run heavy compute in the background and stop it cleanly.",
        version: Program.version,
        subcommands: [ExportCommand.self, DevicesCommand.self, WorkerCommand.self, ProbeCommand.self]
    )

    public init() {}
}

/// What this build calls itself.
enum Program {
    /// Also part of what decides whether an output is still current: to be raised with every change of output bytes.
    static let version = "0.1.0"
    /// Every identifier of this program's requests starts with it.
    static let identifier = "bgrun"
}
