import ArgumentParser
import Foundation
import ImageCodecs
import ImageExport
import Inference
import InferenceData
import SchedulingCore
import TaskModel
import TaskStore

/// What the pictures of an enhancement have in common.
struct EnhanceTerms: Codable, Hashable, Sendable {
    var model: ModelTerms
    /// Side of a tile in pixels, margins included.
    var tile: Int
    /// How far the model looks to each side.
    var margin: Int
}

/// `bgrun enhance` as a kind of work: an export whose pictures go through a model.
struct EnhanceWork: Work {
    static let words = WorkWords(job: "enhancement", input: "picture", done: "enhanced")

    let folder: String
    let inputs: [String]
    let decodeLimits: DecodeLimits
    private let spec: OutputSpec
    private let name: String
    private let template: NameTemplate
    private let job: JobFlags
    /// Names the job by the command as it was given, so what is found in the model makes no other job. Jobs with one
    /// model share their speeds, by the part before the last dot.
    private let identity: String
    private var terms: EnhanceTerms
    private(set) var sideFiles = SideFiles()

    /// - Throws: A `ValidationError` for options that contradict each other or cannot be used.
    init(_ command: EnhanceCommand) throws {
        folder = CanonicalPath.folder(command.out)
        inputs = command.inputs.map(CanonicalPath.input)
        decodeLimits = command.limits.limits
        spec = try command.spec()
        name = command.name
        template = try NameTemplate(name)
        job = command.job
        terms = EnhanceTerms(
            model: ModelTerms(path: CanonicalPath.input(command.model)), tile: command.tile, margin: command.overlap)
        let parts =
            [folder, terms.model.path, "\(terms.tile) \(terms.margin)", JSONText.encode(spec.settings) + name] + inputs
        identity = "\(Fingerprint.hexadecimal([terms.model.path])).\(Fingerprint.hexadecimal(parts))"
    }

    var request: TaskRequest {
        job.request(
            "enhance.\(identity)", title: "Enhance with \(terms.model.name) to \(folder)",
            subtitle: inputs.joined(separator: ", "))
    }

    func lanePreference(_ flags: JobFlags) -> LanePolicy.Preference { .deterministic(flags) }

    var workerTerms: WorkerTerms.Work {
        .enhance(terms, PictureTerms(settings: [spec.settings], limits: decodeLimits))
    }

    var weightSupply: WeightSupply? { WeightSupply(terms.model, .fp32) }

    mutating func prepare() -> WorkEnding? {
        if let ending = WorkEnding.missingLibrary(of: [spec.settings.format].compactMap(\.self)) { return ending }
        guard terms.model.checksum.isEmpty else { return nil }
        do throws(ModelError) {
            let graph = try terms.model.look(noting: &sideFiles).graph
            guard graph.inputs.count == 1, graph.outputs.count == 1, let type = graph.inputs.first?.type else {
                let counts = "\(graph.inputs.count) inputs and \(graph.outputs.count) outputs"
                return .refused(
                    "mismatch", .usage,
                    "bgrun: nothing was started: \(terms.model.path) has \(counts); one picture goes in, and one comes out.\n"
                )
            }
            if let side = type.fixedSide {
                // What it takes is what a tile is.
                terms.tile = side
                terms.margin = min(terms.margin, (side - 1) / 2)
            }
            if case .failure(let error) = Result(catching: { () throws(DataError) in try type.pixels() }) {
                return .refused(error)
            }
            return nil
        } catch {
            return .refused(error, terms.model.path)
        }
    }

    func plan(
        _ scan: InputScan, journal: JournalReader, job: JobRecord?
    ) throws(StoreError) -> ExportPlan {
        var planner = ExportPlanner(
            folder: folder, specs: [spec], templates: [template], existing: self.job.existing,
            program: Program.version)
        planner.cause = " \(JSONText.encode(terms))"
        var plan = try planner.plan(scan, journal: journal, job: job)
        plan.isEnhancement = true
        return plan
    }

    func show(_ plan: ExportPlan, rates: ClosedRange<Double>?) -> ExitStatus {
        var plan = plan
        plan.checkContents()
        return DryRun(plan: plan, flags: job, rates: rates).show()
    }
}

extension TensorType {
    /// The side of the pictures that an input takes, where the model says it; the shorter one, where they differ.
    fileprivate var fixedSide: Int? { shape?.compactMap(\.extent).filter { $0 > 3 }.min() }

    /// What an input takes at least, 1 along a side that the model leaves open.
    var fixedSize: (width: Int, height: Int) {
        guard let shape, shape.count == 4 else { return (1, 1) }
        return (shape[3].extent ?? 1, shape[2].extent ?? 1)
    }

    /// How a picture of any size becomes an input of this type: channels and layout follow it, and nothing is resized.
    ///
    /// - Throws: `mismatch` where no picture can be that input.
    func pixels() throws(DataError) -> ImagePreset {
        var type = self
        type.shape = shape?.map { $0.extent.map { $0 > 3 } ?? false ? .unknown : $0 }
        return try ImagePreset.unit.fitted(to: type)
    }
}
