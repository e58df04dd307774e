import ArgumentParser
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import Inference
import InferenceData
import SchedulingCore
import TaskModel
import TaskStore

/// `bgrun infer` as a kind of work.
struct InferenceWork: Work {
    static let words = WorkWords(job: "inference", input: "input", done: "processed")
    /// Stops are between operators, and within 50 ms altogether.
    static let longestFinish: Duration? = .milliseconds(5)

    let folder: String
    let inputs: [String]
    let decodeLimits: DecodeLimits
    private let job: JobFlags
    private let identity: String
    private var terms: InferenceTerms
    private let isBatchGiven: Bool
    /// Names of the model's inputs and outputs, once it was looked at.
    private var ports: (inputs: [String], outputs: [String])?
    /// As ``InferencePlanner/textsNeedLength``, likewise.
    private var textsNeedLength = false
    private(set) var sideFiles = SideFiles()

    /// - Throws: A `ValidationError` for options that contradict each other or cannot be used.
    init(_ command: InferCommand) throws {
        folder = CanonicalPath.folder(command.out)
        inputs = command.inputs.map(CanonicalPath.input)
        decodeLimits = command.limits.limits
        job = command.job
        isBatchGiven = command.batch != nil
        terms = try command.terms(model: CanonicalPath.input(command.model))
        identity = Fingerprint.hexadecimal([folder, JSONText.encode(terms)] + inputs)
    }

    var request: TaskRequest {
        job.request(
            "infer.\(identity)", title: "Inference with \(terms.model.name) to \(folder)",
            subtitle: inputs.joined(separator: ", "))
    }

    func lanePreference(_ flags: JobFlags) -> LanePolicy.Preference { .deterministic(flags) }

    var workerTerms: WorkerTerms.Work { .infer(terms) }

    var weightSupply: WeightSupply? { WeightSupply(terms.model, terms.precision) }

    var doubts: [String] { terms.preset.doubts }

    mutating func prepare() -> WorkEnding? {
        if ports != nil { return nil }
        do throws(ModelError) {
            let model = try terms.model.look(noting: &sideFiles)
            if terms.precision == .bf16, try !CompiledModel.hasBFloat16() {
                throw .unsupported(["bfloat16 on this processor"])
            }
            let names = model.openExtents
            if let unknown = terms.extents.keys.filter({ !names.contains($0) }).min() {
                let known =
                    names.isEmpty ? "it leaves none open" : "it leaves open: \(names.sorted().joined(separator: ", "))"
                return .refused(
                    "extent", .usage, "bgrun: nothing was started: no input has an extent \"\(unknown)\"; \(known).\n")
            }
            let sized = model.withExtents(terms.extents)
            _ = try sized.fixedRows()
            if let misfit = misfit(sized) {
                return .refused(
                    "mismatch", .usage,
                    "bgrun: nothing was started: the first output of \(terms.model.path): \(misfit)\n")
            }
            if terms.form == .arrays, let text = terms.text, text.length == nil {
                textsNeedLength = sized.rowsFollowLength(SampleReader.lengthStep, 2 * SampleReader.lengthStep)
            }
            if !isBatchGiven {
                // Shapes that do not fit together are told of with the inputs.
                terms.rowBatches = try? model.rowBatches(
                    extents: terms.extents, usual: terms.batch, most: InferenceTerms.mostRows)
            }
            ports = (model.graph.inputs.map(\.name), model.graph.outputs.map(\.name))
        } catch {
            return .refused(error, terms.model.path)
        }
        terms.checksums = terms.filesBesideModel.map { sideFiles.note($0) ?? "" }
        do throws(DataError) {
            if let text = terms.text {
                let tokenizer = try withOpenFile(text.tokenizer) { file throws(DataError) in try Tokenizer(file) }
                // Where it cuts texts at a length that they are filled up to anyway, there is one length.
                let longest = tokenizer.largestLength ?? .max
                textsNeedLength = textsNeedLength && longest > SampleReader.lengthStep
            }
            _ = try RowForm(terms.form)
        } catch {
            return .refused(error)
        }
        return nil
    }

    /// Why what was asked for cannot be made of the model's first output; nil where it can, as far as that is known now.
    private func misfit(_ model: Model) -> String? {
        guard terms.form != .arrays, let type = model.firstOutput else { return nil }
        switch terms.form {
        case .arrays: return nil
        case .classes: return TopK.misfit(type)
        case .boxes: return Boxes.misfit(type)
        case .embeddings(let pooling, let normalise):
            let fitted = terms.text == nil ? try? terms.preset.fitted(to: model.graph.inputs.first?.type) : nil
            return Embeddings(pooling: pooling, normalise: normalise).misfit(
                type, picture: fitted?.crop ?? fitted?.size)
        }
    }

    func plan(
        _ scan: InputScan, journal: JournalReader, job: JobRecord?
    ) throws(StoreError) -> InferencePlan {
        try planner.plan(scan, known: journal.known, job: job)
    }

    private var planner: InferencePlanner {
        InferencePlanner(
            folder: folder, terms: terms, inputs: ports?.inputs ?? [], outputs: ports?.outputs ?? [],
            textsNeedLength: textsNeedLength, asksForDevice: lanePreference(job).asksForDevice,
            existing: job.existing, program: Program.version)
    }

    func show(_ plan: InferencePlan, rates: ClosedRange<Double>?) -> ExitStatus {
        let shown = InferenceDryRun(plan: plan, terms: terms)
        let trouble = StandardOutput.write(job.json ? JSONText.encode(shown.document) + "\n" : shown.text)
        guard trouble == 0 else { return .writeFailed }
        return plan.settled.contains(where: \.isFailure) ? .doneWithFailures : .done
    }

    func finish(_ plan: InferencePlan, _ journal: JournalWriter, into outputs: OutputFolder) throws {
        guard let first = plan.batches.first?.files.first else { return }
        let planner = planner
        let parts = try journal.known(plan.batches.map(\.intent.path))
        let assembly = try ResultAssembly(plan, planner.standing(of: plan.batches, parts, nil), into: outputs)
        let made = try assembly.write(noting: journal)
        let status: InputRecord.Status = assembly.isSound ? .good : .damaged
        journal.add(
            ItemRecord(
                input: first.path, inputChecksum: "", status: status.rawValue, code: "", reason: "", outputs: made))
        journal.settle()
        if let error = journal.error { throw error }
        assembly.removeParts()
    }
}

/// The plan of an inference, shown instead of carried out.
struct InferenceDryRun {
    struct Document: Encodable {
        var model: String
        var inputs: Int
        var batches: Int
        var done: Int
        var results: [String]
        var settled: [InputRecord]
        var passedOver: [InputRecord]
    }

    var plan: InferencePlan
    var terms: InferenceTerms

    var document: Document {
        Document(
            model: terms.model.path, inputs: plan.inputCount, batches: plan.batches.count,
            done: plan.resultsAreCurrent ? plan.batches.count : plan.batches.count - plan.todo.count,
            results: plan.results.map(\.path), settled: plan.settled.filter(\.isFailure), passedOver: plan.passedOver)
    }

    var text: String {
        var lines: [String] = []
        for record in plan.settled.filter(\.isFailure) + plan.passedOver {
            lines.append("\(record.input): \(record.status.rawValue), \(record.reason ?? "")".onOneLine)
        }
        lines += plan.results.map { "-> \($0.path)" }
        let document = document
        lines.append(
            """
            \(document.inputs) inputs in \(document.batches) batches, of which \(document.done) are there already. \
            Nothing was changed.
            """)
        return lines.joined(separator: "\n") + "\n"
    }
}

extension WorkEnding {
    /// A model that cannot be used.
    static func refused(_ error: ModelError, _ path: String) -> WorkEnding {
        let code = String(error.code.rawValue.dropFirst("model.".count))
        switch error.code {
        case .unsupported:
            let lines = error.unsupported.map { "  \($0)\n" }.joined()
            return .refused(code, .unavailable, "bgrun: \(path) cannot be run here. Not supported:\n\(lines)")
        case .notReadable: return .refused(code, .missingInput, "bgrun: nothing was started: \(error.sentence).\n")
        case .wrongInput: return .refused(code, .usage, "bgrun: nothing was started: \(error.sentence).\n")
        case .stopped, .engine: return .refused(code, .unavailable, "bgrun: nothing was started: \(error.sentence).\n")
        case .damaged, .wrongValue, .tooLarge:
            return .refused(code, .doneWithFailures, "bgrun: \(path): \(error.sentence).\n")
        }
    }

    /// A file beside the inputs that cannot be used.
    static func refused(_ error: DataError) -> WorkEnding {
        let status: ExitStatus =
            switch error.code {
            case .notReadable: .missingInput
            case .unsupported: .unavailable
            case .mismatch: .usage
            default: .doneWithFailures
            }
        return .refused(
            String(error.code.rawValue.dropFirst("data.".count)), status,
            "bgrun: nothing was started: \(error.sentence)\n")
    }
}
