import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import Inference
import InferenceData
import SystemText
import TaskStore

/// Computes an ``InferencePlan``. Of arrays and texts it reads how many there are.
struct InferencePlanner {
    var folder: String
    var terms: InferenceTerms
    /// Names of the model's inputs and outputs.
    var inputs: [String]
    var outputs: [String]
    /// Texts of several lengths would have rows that do not go into one array.
    var textsNeedLength: Bool
    /// Of what runs there, a batch goes through the model at once.
    var asksForDevice: Bool
    var existing: ExistingPolicy
    var program: String

    /// Hidden, so that no walk meets it.
    private static let partsPrefix = ".bgrun-parts-"
    /// Batches have at most such a part of what is left, where nobody said how large they are: enough for as many workers.
    private static let shareOfRest = 8
    /// Each takes about a kilobyte here, a file and a record in the journal.
    private static let mostBatches = 1 << 20

    func plan(
        _ scan: InputScan, known: ([String]) throws(StoreError) -> [PathKey: KnownOutput], job: JobRecord?
    ) throws(StoreError) -> InferencePlan {
        var plan = InferencePlan()
        plan.settled = scan.problems.map { InputRecord(problem: $0) }
        plan.passedOver = scan.linkedFolders.map { InputRecord(passedOver: $0.path, $0.code, $0.reason) }
        plan.batches = batches(scan.files, &plan)
        guard plan.refusals.isEmpty, let first = plan.batches.first?.files.first else { return plan }
        settleResults(&plan, first, try known(resultPaths), job)
        guard plan.refusals.isEmpty, !plan.resultsAreCurrent else { return plan }
        let rows = StandingRows(of: plan)
        var batches = rows.checked(
            standing(of: plan.batches, try known(plan.batches.map(\.intent.path)), job), of: plan)
        if rows.arePlaced.contains(true), !batches.allSatisfy(\.standing.isSound) {
            // No rows can be added where they are.
            batches = batches.map { _ in .anew(isTorn: false) }
        }
        for (place, batch) in batches.enumerated() {
            // What had no result is tried again, as far as that is still possible.
            if batch.standing.isSound {
                plan.settled += plan.batches[place].item.names.map { InputRecord(current: $0) }
            } else {
                plan.batches[place].item.mayReplace = batch.standing != .make(mayReplace: false, foreign: nil)
                plan.todo.append(place)
            }
        }
        return plan
    }

    /// Where the files that were asked for go.
    var resultPaths: [String] {
        guard case .arrays = terms.form else { return ["\(folder)/results.jsonl"] }
        var names: Set<String> = []
        let arrays = outputs.enumerated().map { place, output -> String in
            let allowed = CharacterSet(charactersIn: "._-").union(.alphanumerics)
            var name = String(output.unicodeScalars.map { allowed.contains($0) ? Character($0) : "_" }.prefix(100))
            if name.isEmpty || name.hasPrefix(".") || !names.insert(name).inserted { name = "output-\(place)" }
            return "\(folder)/\(name).npy"
        }
        return arrays + ["\(folder)/inputs.jsonl"]
    }

    /// How the file at a path stands to what is wanted there.
    func standing(
        of wanted: PlannedOutput, _ known: [PathKey: KnownOutput], _ policy: ExistingPolicy, _ job: JobRecord?
    ) -> Standing {
        policy.standing(
            file: ExistingFile(wanted.path)?.identity, known: known[PathKey(wanted.path)], wanted: wanted,
            program: program, job: job)
    }

    /// How batches stand by their parts. One is made anew where that is not what was written: parts are not flushed one by
    /// one, and a crash of the machine can leave name, length and time alone.
    func standing(
        of batches: [InferencePlan.Batch], _ known: [PathKey: KnownOutput], _ job: JobRecord?
    ) -> [StandingBatch] {
        batches.map { batch in
            let standing = standing(of: batch.intent, known, .skip, job)
            guard case .current(let made) = standing else { return StandingBatch(standing: standing) }
            guard let part = SystemFile.contents(made.output.path),
                part.withUnsafeBytes({ Checksum.xxh3($0) }) == made.output.checksum
            else { return .anew(isTorn: true) }
            guard case .arrays = terms.form else { return StandingBatch(standing: standing) }
            guard let note = try? JSONDecoder().decode(BatchNote.self, from: Data(part)) else {
                return .anew(isTorn: true)
            }
            return StandingBatch(standing: standing, note: note)
        }
    }

    private func settleResults(
        _ plan: inout InferencePlan, _ first: InputFile, _ known: [PathKey: KnownOutput], _ job: JobRecord?
    ) {
        let all = plan.batches.map(\.intent.settings)
        let settings = "inference \(Self.checksum(all))"
        var standings: [Standing] = []
        for path in resultPaths {
            var wanted = PlannedOutput(
                path: path, input: first.path, inputIdentity: first.identity, settings: settings, foreign: nil)
            let standing = standing(of: wanted, known, existing, job)
            switch standing {
            case .make(let mayReplace, let foreign):
                wanted.foreign = foreign
                plan.mayReplace = plan.mayReplace || mayReplace
            case .current: plan.mayReplace = true
            case .occupied:
                plan.refusals.append(
                    .init(code: "outputExists", sentence: Standing.occupation(of: path, madeFrom: nil)))
            case .refused:
                plan.refusals.append(.init(code: "outputExists", sentence: "\(path) exists already"))
            }
            standings.append(standing)
            plan.results.append(wanted)
        }
        plan.refusals += OutputFolderGuard(folder: folder).violations(
            plan.batches.prefix(1).map(\.intent.path))
        plan.resultsAreCurrent = standings.allSatisfy(\.isCurrent)
        guard plan.resultsAreCurrent else { return }
        var records = plan.batches.flatMap(\.item.names).map { InputRecord(current: $0) }
        if let lines = plan.results.last, !standings.allSatisfy(\.isSound) {
            // It is not known here which of them it was.
            records[0] = InputRecord(
                input: lines.path, status: .skipped, code: "keptDamaged",
                reason: "it names inputs without a sound result; --existing overwrite tries them again")
        }
        plan.settled += records
    }

    // MARK: Batches

    private func batches(_ files: InputFiles, _ plan: inout InferencePlan) -> [InferencePlan.Batch] {
        var batches: [InferencePlan.Batch] = []
        var pictures: [InputFile] = []
        var count = 0
        func add(_ sources: [InferenceItem.Source], _ files: [InputFile], bytes: Int64) {
            batches.append(batch(sources, files, bytes: bytes, number: batches.count, first: count))
            count += sources.reduce(0) { $0 + $1.rows.count }
        }
        func addPictures() {
            for range in ranges(ofPictures: pictures.count) {
                let files = Array(pictures[range])
                add(
                    files.map { .init(path: $0.path, kind: .picture, rows: 0..<1) }, files,
                    bytes: files.reduce(0) { $0 + $1.identity.size })
            }
            pictures = []
        }
        for file in files {
            guard let kind = kind(of: file) else {
                plan.passedOver.append(InputRecord(notAPicture: file))
                continue
            }
            if terms.text == nil, [.lines, .jsonLines].contains(kind) {
                plan.refusals.append(
                    .init(code: "needsTokenizer", sentence: "\(file.path): --tokenizer says how texts become numbers"))
                continue
            }
            if kind == .picture {
                pictures.append(file)
                continue
            }
            addPictures()
            do throws(DataError) {
                let rows = try rowCount(file, kind)
                guard let ranges = ranges(kind, of: rows, limit: Self.mostBatches - batches.count) else {
                    plan.refusals.append(
                        .init(
                            code: "tooManyInputs",
                            sentence: "\(file.path): \(rows) inputs in batches of \(terms.batch) are too many for a job"
                        ))
                    continue
                }
                for range in ranges {
                    let bytes = file.identity.size * Int64(range.count) / Int64(max(rows, 1))
                    add([.init(path: file.path, kind: kind, rows: range)], [file], bytes: bytes)
                }
            } catch {
                let code = String(error.code.rawValue.dropFirst("data.".count))
                plan.settled.append(
                    InputRecord(input: file.path, status: .failed, code: code, reason: error.sentence))
            }
        }
        addPictures()
        // Within a batch they are filled up to the longest.
        if textsNeedLength, batches.count(where: { [.lines, .jsonLines].contains($0.item.sources[0].kind) }) > 1 {
            plan.refusals.append(
                .init(
                    code: "needsLength",
                    sentence: "texts go into one array where --length says how many tokens each has"))
        }
        return batches
    }

    /// The rows of a file in batches; nil where there are more than `limit`.
    private func ranges(_ kind: InferenceItem.Source.Kind, of count: Int, limit: Int) -> [Range<Int>]? {
        let isArray = kind == .array || kind == .archive
        let even = RowBatches(most: terms.batch, fewest: terms.batch, atOnce: 1)
        let batches = isArray ? terms.rowBatches ?? even : even
        return batches.ranges(of: count, share: Self.shareOfRest, limit: limit)
    }

    /// Pictures in batches; where that is known to need no filling up, smaller ones towards the end.
    private func ranges(ofPictures count: Int) -> [Range<Int>] {
        let known = asksForDevice ? nil : terms.rowBatches
        let atOnce = min(known?.atOnce ?? terms.batch, terms.batch)
        let batches = RowBatches(most: terms.batch, fewest: 1, atOnce: atOnce)
        return batches.ranges(of: count, share: Self.shareOfRest, limit: .max) ?? []
    }

    /// nil for a file of a walk that is nothing a model can be given.
    private func kind(of file: InputFile) -> InferenceItem.Source.Kind? {
        switch PictureNames.fileExtension(file.name) {
        case "npy": return .array
        case "npz": return .archive
        case "jsonl", "ndjson": return terms.text == nil && !file.isNamed ? nil : .jsonLines
        case "txt": return terms.text == nil && !file.isNamed ? nil : .lines
        default:
            let isPicture =
                file.isNamed || PictureNames.promisePicture(file.name) || ContentCheck.looksLikePicture(file.path)
            return isPicture ? .picture : nil
        }
    }

    private func rowCount(_ file: InputFile, _ kind: InferenceItem.Source.Kind) throws(DataError) -> Int {
        try withOpenFile(file.path) { open throws(DataError) in
            switch kind {
            case .picture: return 1
            case .array: return try rowCount([try NPYFile(open).header])
            case .archive:
                let archive = try NPZFile(open)
                return try rowCount(try inputs.map { name throws(DataError) in try archive.header(of: name) })
            case .lines: return try TextSource(open, format: .lines).count
            case .jsonLines:
                return try TextSource(open, format: .jsonLines(field: terms.text?.field ?? TextTerms.usualField)).count
            }
        }
    }

    /// Of arrays whose rows go together.
    private func rowCount(_ headers: [NPYHeader]) throws(DataError) -> Int {
        let counts = headers.map(\.rowCount)
        guard Set(counts).count == 1, let count = counts.first else {
            throw DataError.mismatch("Its arrays have different numbers of rows: \(counts).")
        }
        // A file of any size may say that there are so many.
        guard count <= 1 || headers.contains(where: { $0.dataByteCount > 0 }) else {
            throw DataError.mismatch("Its \(count) rows have no bytes.")
        }
        return count
    }

    private func batch(
        _ sources: [InferenceItem.Source], _ files: [InputFile], bytes: Int64, number: Int, first: Int
    ) -> InferencePlan.Batch {
        let digits = "\(number)"
        let name = String(repeating: "0", count: max(0, 7 - digits.count)) + digits
        let item = InferenceItem(
            sources: sources, first: first,
            part:
                "\(folder)/\(Self.partsPrefix)\(Fingerprint.hexadecimal([terms.model.path] + resultPaths))/\(name).json",
            mayReplace: false, lane: .cpu, limits: DecodeLimits())
        let identities = zip(sources, files).map { source, file in
            "\(source.path) \(source.kind.rawValue) \(source.rows) \(file.identity.size) \(file.identity.modified)"
        }
        let settings = "batch \(Self.checksum([JSONText.encode(terms), "\(first)"] + identities))"
        let intent = PlannedOutput(
            path: item.part, input: files[0].path, inputIdentity: files[0].identity, settings: settings, foreign: nil)
        return InferencePlan.Batch(item: item, files: files, bytes: bytes, intent: intent)
    }

    private static func checksum(_ texts: [String]) -> String {
        Array(texts.joined(separator: "\n").utf8).withUnsafeBytes { Checksum.xxh3($0) }
    }
}

extension Standing {
    var isCurrent: Bool { if case .current = self { true } else { false } }
    /// Current, and every input had its result.
    var isSound: Bool {
        if case .current(let made) = self { made.status == InputRecord.Status.good.rawValue } else { false }
    }
}
