import ArgumentParser

struct SubmitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Tell whether a request would be admitted on this machine now, and what it would wait for.",
        discussion: """
            With --dry-run the scheduler decides as it would for a real submission, with this machine's conditions \
            and devices, and changes nothing. Submitting itself is for the program that does the work.

            A request file has the keys identifier, kind, needs (network, power, gpu), idle, prefers, mustBeKnown, \
            floor, strategy, priority, initiator, memory, gpuMemory, work, and manifest: a file, or its keys.

            EXAMPLES
              bgrun submit --dry-run request.yml
              bgrun submit --dry-run --manifest photos.yml --identifier org.example.photos.faces --kind processing
              bgrun submit --dry-run --manifest photos.yml --identifier org.example.photos.export.a \\
                --kind continued --gpu --work 20m --json

            EXIT STATUS
              0    it would be admitted
              64   the command line cannot be carried out as given, or the identifier is malformed
              65   the request file has mistakes (they are listed with their lines)
              66   a file that was named cannot be read
              69   the machine lacks what the request requires
              75   it could not start at once, or too many requests are pending
              77   the manifest or its person does not permit it
              78   the manifest has mistakes
            """
    )

    @Argument(help: .init("A file that describes the request.", valueName: "request.yml"), completion: .file())
    var file: String?

    @Flag(help: "Decide, and change nothing.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: .init("What is asked for.", valueName: "name"))
    var identifier: String?

    @OptionGroup(title: "REQUEST") var options: RequestOptions

    func run() throws {
        guard dryRun else {
            throw Trouble.told(
                "a request is submitted by the program that does its work.",
                fix: "With --dry-run it is told what would come of it; bgrun run makes a command a job.", .usage)
        }
        let preview = SubmissionPreview(
            try DescribedRequest(file: file, identifier: identifier, options: options))
        try StandardOutput.print(json ? JSONText.encode(preview.document) + "\n" : preview.text)
        guard preview.status == .done else { throw preview.status.code }
    }
}
