public import ArgumentParser
import Foundation
import Glibc
import SystemText
import TaskModel

/// The root of the `bgrun` command.
///
/// Every command has a `commandName`: to make one of the type's name, the program searches all of its conformances, at each start.
public struct BGRun: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "bgrun",
        abstract: "Run heavy compute in the background and stop it cleanly.",
        version: Program.version,
        subcommands: [
            ExportCommand.self, PreviewCommand.self, ContactSheetCommand.self, VerifyCommand.self, InferCommand.self,
            EnhanceCommand.self,
            RunCommand.self,
            JobsCommand.self,
            ShowCommand.self,
            AttachCommand.self,
            ForegroundCommand.self, BackgroundCommand.self, PauseCommand.self, ResumeCommand.self, StopCommand.self,
            CancelCommand.self, WaitCommand.self, LogsCommand.self, UsageCommand.self, DoctorCommand.self,
            ServiceCommand.self, PokeCommand.self,
            DevicesCommand.self, FormatsCommand.self, PresetsCommand.self, ConditionsCommand.self, SimulateCommand.self,
            SubmitCommand.self,
            WhyCommand.self, ModelCommand.self, TuneCommand.self, WorkerCommand.self, ProbeCommand.self,
        ]
    )

    public init() {}

    /// Parses the command line and runs the command on the main thread, where blocking is no harm; Swift's cooperative
    /// threads are left to asynchronous commands.
    @MainActor public static func runFromCommandLine() async {
        // Workers are started by a path that says nothing to who looks at the processes of the machine.
        let name = open("/proc/self/comm", O_WRONLY | O_CLOEXEC)
        if name >= 0 {
            _ = write(name, "bgrun", 5)
            close(name)
        }
        EarlyWorker.begin(ProcessTexts.arguments)
        do {
            let words = ProcessTexts.arguments.dropFirst()
            if words != [WorkerCommand.name] { try OwnFolders.check(ProcessTexts.environment) }
            var command: any ParsableCommand
            if words == [JobsCommand.name] {
                // Shell prompts and status bars ask this again and again; a fifth of its time would go into the parser.
                return try JobsCommand.list()
            } else if words == [WorkerCommand.name] {
                // Nobody types it, and making sense of all commands takes longer than the start of a process.
                command = WorkerCommand()
            } else if let quick = QuickParse.command() {
                command = quick
            } else {
                command = try parseAsRoot(Array(words))
            }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            // The parser writes what it says itself, and shows no byte that is not UTF-8.
            let message = fullMessage(for: error)
            guard message.holdsForeignBytes else { exit(withError: error) }
            StandardError.write(message + "\n")
            Glibc.exit(exitCode(for: error).rawValue)
        }
    }
}

/// What this build calls itself.
enum Program {
    /// Also part of what decides whether an output is still current: to be raised with every change of output bytes.
    static let version = "0.2.0"
    /// Of the file that this process runs.
    static var path: String {
        SystemFile.target(ofLink: "/proc/self/exe") ?? "bgrun"
    }
    /// Every identifier of this program's requests starts with it.
    static let identifier = "bgrun"
    /// What the commands may ask of the scheduler.
    static let manifest = ProgramManifest(
        program: identifier, modes: Set(TaskKind.allCases),
        permitted: [
            IdentifierPattern("\(identifier).export.*"), IdentifierPattern("\(identifier).infer.*"),
            IdentifierPattern("\(identifier).enhance.*"), IdentifierPattern("\(identifier).verify.*"),
        ],
        grants: .gpu)
}
