import ChunkedCompute
import ImageCodecs
import ImageExport
import TaskStore

/// Computes an ``ExportPlan``. Looks at names and file attributes only.
struct ExportPlanner {
    /// Absolute path of the output folder, which need not exist.
    var folder: String
    var specs: [OutputSpec]
    var templates: [NameTemplate]
    var existing: ExistingPolicy
    var program: String
    /// What decides the bytes of outputs beside their settings.
    var cause = ""

    /// The journal is asked about so many paths at once.
    static let pathsAtOnce = 500

    func plan(_ scan: InputScan, journal: JournalReader, job: JobRecord?) throws(StoreError) -> ExportPlan {
        let naming = OutputNaming(folder: folder, specs: specs, templates: templates)
        var odd = scan.problems.map { InputRecord(problem: $0) }
        var passedOver = scan.linkedFolders.map { InputRecord(passedOver: $0.path, $0.code, $0.reason) }
        var files = try withoutOwnOutputs(scan, journal, &passedOver)
        if templates.contains(where: \.hasIndex) {
            files = files.keeping { place in
                // What is no picture, and has no name of one, gets no number.
                let file = files[place]
                guard !file.isNamed, !PictureNames.promisePicture(file.name), !ContentCheck.looksLikePicture(file.path)
                else { return true }
                odd.append(InputRecord(notAPicture: file))
                return false
            }
        }
        var survey = self.survey(files, naming)
        let strangers = strangersInCollisions(survey)
        if !strangers.isEmpty {
            odd += strangers.sorted().map { InputRecord(notAPicture: files[$0]) }
            files = files.keeping { !strangers.contains($0) }
            survey = self.survey(files, naming)
        }
        var plan = ExportPlan(
            files, naming, specs.map(\.settings), cause: cause, odd: odd, missing: survey.unfit)
        plan.passedOver = passedOver
        plan.refusals = survey.refusals + collisions(survey) + filesInTheWayOfFolders(&survey)
        plan.refusals += OutputFolderGuard(folder: folder).violations(ofFolders: survey.folders.map(\.path))
        guard plan.refusals.isEmpty else { return plan }
        try settle(survey, journal: journal, job: job, &plan)
        return plan
    }

    /// Compares what stands at the paths with the journal, and makes items of what is left to do.
    private func settle(
        _ survey: OutputSurvey, journal: JournalReader, job: JobRecord?, _ plan: inout ExportPlan
    ) throws(StoreError) {
        let files = survey.files
        let step = max(1, Self.pathsAtOnce / specs.count)
        var inputs: PlaceTable?
        for start in stride(from: 0, to: files.count, by: step) {
            let part = start..<min(start + step, files.count)
            let numbers = part.lowerBound * specs.count..<part.upperBound * specs.count
            let paths = numbers.map { survey.left.contains($0) ? nil : survey.path(of: $0) }
            let known = try journal.known(paths.compactMap(\.self))
            for place in part {
                let file = files[place]
                for number in place * specs.count..<(place + 1) * specs.count {
                    guard let path = paths[number - numbers.lowerBound] else { continue }
                    let found = ExistingFile(path)
                    if let found {
                        if Self.isInput(found.key, files, &inputs) {
                            plan.refusals.append(
                                .init(code: "overwritesInput", sentence: "\(path) is an input itself"))
                            continue
                        }
                        guard found.isRegular else {
                            plan.refusals.append(
                                .init(code: "notAFile", sentence: "\(path) is not a regular file"))
                            continue
                        }
                    }
                    let standing = existing.standingOfPicture(
                        file: found?.identity, known: known[PathKey(path)],
                        wanted: plan.wanted(number, file, path: path), program: program, job: job)
                    plan.note(number, standing, path: path)
                }
                if let failures = survey.unfit[place], failures.count == specs.count {
                    plan.leaveOut(unfit(file, failures))
                } else {
                    plan.close(place)
                }
            }
        }
    }

    /// Whether a file is one of the inputs, which are looked up from the first question on.
    private static func isInput(_ key: FileKey, _ files: InputFiles, _ inputs: inout PlaceTable?) -> Bool {
        if inputs == nil {
            var table = PlaceTable()
            for place in files.indices {
                let key = files.key(of: place)
                _ = table.insert(place, hash: key.hashValue) { files.key(of: $0) == key }
            }
            inputs = table
        }
        return inputs?.place(hash: key.hashValue) { files.key(of: $0) == key } != nil
    }
}
