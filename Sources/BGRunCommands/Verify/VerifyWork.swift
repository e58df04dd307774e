import Foundation
import Glibc
import ImageCodecs
import SchedulingCore
import SystemText
import TaskModel
import TaskStore

/// `bgrun verify` as a kind of work: one that reads, and makes no outputs.
struct VerifyWork: Work {
    static let words = WorkWords(
        job: "verification", input: "picture", done: "verified", place: "in",
        afterStop: "The same command begins again.")

    let folder: String
    private let job: JobFlags

    init(_ command: VerifyCommand) {
        folder = CanonicalPath.folder(command.folder)
        job = command.job
    }

    var inputs: [String] { [folder] }

    /// Set where something else than a folder was named: for other kinds of work, that is an output that cannot be made.
    var refusal: WorkEnding? {
        var status = stat()
        guard stat(folder.systemBytes, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return nil }
        let kind = status.st_mode & S_IFMT == S_IFREG ? "file" : InputScan.kind(status)
        return .refused(
            "notAFolder", .usage,
            "bgrun: nothing was started.\n  notAFolder: \(folder.onOneLine) is a \(kind), not a folder. "
                + "Name a folder that pictures were exported to.\n")
    }

    /// What bgrun wrote is no bomb, however little it takes.
    var decodeLimits: DecodeLimits {
        var limits = DecodeLimits()
        limits.maxPixelsPerByte = .max
        return limits
    }

    var request: TaskRequest {
        job.request("verify.\(Fingerprint.hexadecimal([folder]))", title: "Verify \(folder)", subtitle: "")
    }

    func lanePreference(_ flags: JobFlags) -> LanePolicy.Preference { .cpu }

    var workerTerms: WorkerTerms.Work { .verify }

    func plan(
        _ scan: InputScan, journal: JournalReader, job: JobRecord?
    ) throws(StoreError) -> VerifyPlan {
        let state = StateFolder.path(ProcessInfo.processInfo.environment)
        return try VerifyPlan(folder, scan, TaskStore(folder: state, program: Program.version))
    }

    /// Never asked: there is nothing to be tried dry.
    func show(_ plan: VerifyPlan, rates: ClosedRange<Double>?) -> ExitStatus { .usage }
}
