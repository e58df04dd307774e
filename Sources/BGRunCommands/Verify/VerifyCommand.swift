import ArgumentParser

/// `bgrun verify`: are the outputs still what was written?
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that exported pictures are there, unchanged and sound.",
        discussion: """
            Every picture that bgrun export and bgrun enhance made below the folder is read, compared with what was \
            recorded when it was written (size, checksum, width and height), and decoded. Missing, changed and damaged \
            ones are listed with the command that makes them anew; files that bgrun did not make are named, and are no \
            fault. Nothing is written.

            EXAMPLES
              bgrun verify web
              bgrun verify web --json

            EXIT STATUS
              0    every picture is as it was written
              65   some are missing, changed or damaged
              66   the folder does not exist, or no export into it is known
              75   stopped early
            """)

    @Argument(help: "A folder that pictures were exported to.", completion: .directory)
    var folder: String

    @OptionGroup(title: "JOB") var job: JobFlags

    func validate() throws {
        guard !folder.isEmpty else { throw ValidationError("an empty path is no folder") }
        guard !job.gpu, !job.preferGpu else { throw ValidationError("nothing is computed on a GPU to verify files") }
        guard job.existing == .skip, !job.dryRun else {
            throw ValidationError("verifying writes nothing; leave out --existing and --dry-run")
        }
    }

    func run() throws {
        try WorkSession.carryOut(VerifyWork(self), job)
    }
}
