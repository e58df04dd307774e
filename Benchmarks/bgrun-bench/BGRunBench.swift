import ArgumentParser

/// The root of the benchmark command.
@main
struct BGRunBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgrun-bench",
        abstract: "Make sample photographs and compare bgrun with other programs.",
        subcommands: [PhotosCommand.self, CompareCommand.self, PipelineCommand.self]
    )
}
