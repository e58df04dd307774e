import ArgumentParser
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import TaskModel
import TaskStore

/// `bgrun export` as a kind of work.
struct ExportWork: Work {
    static let words = WorkWords(job: "export", input: "picture", done: "exported")

    let folder: String
    let inputs: [String]
    let decodeLimits: DecodeLimits
    private var specs: [OutputSpec]
    /// Of the command as it was given: what is found in its files makes no other job.
    private let identity: [String]
    private let templates: [NameTemplate]
    private let job: JobFlags
    private(set) var sideFiles = SideFiles()

    /// - Throws: A `ValidationError` for options that contradict each other or cannot be used.
    init(_ command: ExportCommand) throws {
        folder = CanonicalPath.folder(command.out)
        inputs = command.inputs.map(CanonicalPath.input)
        decodeLimits = command.limits.limits
        specs = try command.outputs.specs()
        // Outputs of a file may come and go, and those that stay keep their names.
        let hasSeveral = specs.count > 1 || command.outputs.outputs != nil
        let fallback = hasSeveral ? "{stem}-{size}.{ext}" : "{stem}.{ext}"
        templates = try specs.map { spec in try NameTemplate(spec.name ?? fallback) }
        job = command.job
        identity = [folder] + inputs + specs.map { JSONText.encode($0.settings) + ($0.name ?? "") }
    }

    mutating func prepare() -> WorkEnding? {
        .missingLibrary(of: specs.compactMap(\.settings.format)) ?? MarkFiles.look(at: &specs, noting: &sideFiles)
    }

    var request: TaskRequest {
        job.request(
            "export.\(Fingerprint.hexadecimal(identity))", title: "Export to \(folder)",
            subtitle: inputs.joined(separator: ", "))
    }

    var workerTerms: WorkerTerms.Work {
        .export(PictureTerms(settings: specs.map(\.settings), limits: decodeLimits))
    }

    func plan(
        _ scan: InputScan, journal: JournalReader, job: JobRecord?
    ) throws(StoreError) -> ExportPlan {
        let planner = ExportPlanner(
            folder: folder, specs: specs, templates: templates, existing: self.job.existing, program: Program.version)
        return try planner.plan(scan, journal: journal, job: job)
    }

    func show(_ plan: ExportPlan, rates: ClosedRange<Double>?) -> ExitStatus {
        var plan = plan
        plan.checkContents()
        return DryRun(plan: plan, flags: job, rates: rates).show()
    }
}
