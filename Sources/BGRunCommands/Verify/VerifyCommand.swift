import ArgumentParser

/// `bgrun verify`: are the outputs still what was written?
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that exported pictures are there, unchanged and sound.",
        discussion: """
            Every picture that bgrun export and bgrun enhance made below the folder is read, compared with what was \
            recorded when it was written (size, checksum, width and height), and decoded. Missing, changed and damaged \
            ones are listed with the command that makes them anew, as long as the input is there; a file of --outputs \
            or a preset that was changed since makes what it asks for now. Files that bgrun did not make are named, and \
            are no fault.

            Nothing is written, nor computed on a GPU: --existing, --dry-run, --gpu and --prefer-gpu are refused.

            EXAMPLES
              bgrun verify web
              bgrun verify web --json

            EXIT STATUS
              0    every picture is as it was written
              64   the command cannot be carried out, e.g. on a file in place of a folder
              65   some are missing, changed or damaged
              66   the folder does not exist, or no export into it is known
              73   the report cannot be made; 74: writing it failed
              75   stopped early
              78   the state folder is not usable
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
        let work = VerifyWork(self)
        // To a host the session tells that.
        if job.jobChannel == nil, let refusal = work.refusal {
            refusal.show(json: job.json)
            throw refusal.status.code
        }
        try WorkSession.carryOut(work, job)
    }
}
