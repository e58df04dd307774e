import ChunkedCompute
import ImageCodecs
import ImageExport
import TaskStore

/// What an export is going to do, known before any picture is opened.
struct ExportPlan: WorkPlan {
    /// An input with the outputs it still needs.
    struct Item: Sendable {
        var input: InputFile
        var outputs: [PictureOrder.Output]
        /// The same outputs as the journal notes them.
        var journal: [PlannedOutput]
        /// Outputs that are there already and stay.
        var current: [MadeRecord]
        /// Why there are no other ones.
        var missing: [ItemResult.Failure] = []
    }

    /// Inputs to work on.
    var items: [Item] = []
    /// Inputs that need no work or can have none, with their records.
    var settled: [InputRecord] = []
    /// What lies among the inputs and is none: outputs of bgrun's own, links to folders.
    var passedOver: [InputRecord] = []
    var refusals: [PlanRefusal] = []
    /// Of all outputs of each input, made or not.
    var settings: [OutputSettings] = []
    /// Workers send pictures through a model, instead of exporting them as they are.
    var isEnhancement = false

    var inputCount: Int { items.count + settled.count }
    var itemCount: Int { items.count }

    func inputs(of item: Int) -> [InputFile] { [items[item].input] }

    func intents(of item: Int) -> [PlannedOutput] { items[item].journal }

    func order(of item: Int, lane: LaneChoice, limits: DecodeLimits) -> WorkOrder {
        let item = items[item]
        let order = PictureOrder(
            input: item.input.path, outputs: item.outputs, lane: lane, claimBytes: limits.maxWorkingBytes)
        return isEnhancement ? .enhance(order) : .export(order)
    }

    func longestSilence(of item: Int) -> Double { encodingSeconds(of: items[item]).max() ?? 0 }

    /// About how long the encode of each output takes.
    func encodingSeconds(of item: Item) -> [Double] {
        item.outputs.map {
            $0.settings(among: settings).encodingSeconds(inputBytes: item.input.identity.size)
        }
    }

    func records(of item: Int, _ result: ItemResult, device: String, seconds: Double) -> [InputRecord] {
        let item = items[item]
        var record = InputRecord(item.input, result, current: item.current, device: device, seconds: seconds)
        record.addMissing(result.refused + item.missing)
        return [record]
    }
}

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

    /// One path that an output may go to.
    struct Candidate {
        var input: Int
        var spec: Int
        var format: ImageFormat
        var path: String
    }

    func plan(_ scan: InputScan, journal: ([String]) throws(StoreError) -> [PathKey: KnownOutput], job: JobRecord?)
        throws(StoreError) -> ExportPlan
    {
        var plan = ExportPlan()
        plan.settings = specs.map(\.settings)
        plan.settled = scan.problems.map { InputRecord(problem: $0) }
        plan.passedOver = scan.linkedFolders.map { InputRecord(passedOver: $0.path, $0.code, $0.reason) }
        var files = try withoutOwnOutputs(scan, journal, &plan)
        if templates.contains(where: \.hasIndex) { leaveOutStrangers(of: &files, &plan) }
        var candidates = candidates(for: files, &plan.refusals)
        let strangers = strangersInCollisions(candidates, files)
        if !strangers.isEmpty {
            plan.settled += strangers.sorted().map { InputRecord(notAPicture: files[$0]) }
            files = files.indices.filter { !strangers.contains($0) }.map { files[$0] }
            plan.refusals = []
            candidates = self.candidates(for: files, &plan.refusals)
        }
        let unfit = withoutUnfit(&candidates)
        plan.refusals += misnamed(candidates)
        plan.refusals += collisions(candidates, files)
        plan.refusals += filesInTheWayOfFolders(candidates)
        plan.refusals += OutputFolderGuard(folder: folder).violations(candidates.map(\.path))
        guard plan.refusals.isEmpty else { return plan }
        try settle(candidates, files, unfit, journal: journal, job: job, &plan)
        return plan
    }

    private func candidates(for files: [InputFile], _ refusals: inout [PlanRefusal]) -> [Candidate] {
        var candidates: [Candidate] = []
        candidates.reserveCapacity(files.count * specs.count)
        for (index, file) in files.enumerated() {
            for (specIndex, spec) in specs.enumerated() {
                let format = spec.settings.format ?? .written(forInputNamed: file.name)
                let values = NameTemplate.Values(
                    folder: file.folder, inputName: file.name, format: format, size: spec.sizeLabel, index: index + 1,
                    inputCount: files.count)
                guard let path = templates[specIndex].path(values) else {
                    refusals.append(
                        .init(
                            code: "leavesFolder",
                            sentence: "the name for \(file.path) is not a path below the output folder"))
                    continue
                }
                candidates.append(
                    Candidate(input: index, spec: specIndex, format: format, path: folder + "/" + path))
            }
        }
        return candidates
    }

    /// What is no picture, and has no name of one, gets no number.
    private func leaveOutStrangers(of files: inout [InputFile], _ plan: inout ExportPlan) {
        files.removeAll { file in
            guard !file.isNamed, !PictureNames.promisePicture(file.name), !ContentCheck.looksLikePicture(file.path)
            else { return false }
            plan.settled.append(InputRecord(notAPicture: file))
            return true
        }
    }

    /// Files of a walk that share a path with another input and are no pictures: they take no part.
    private func strangersInCollisions(_ candidates: [Candidate], _ files: [InputFile]) -> Set<Int> {
        var strangers: Set<Int> = []
        for (_, group) in Dictionary(grouping: candidates, by: { PathKey($0.path) }) where group.count > 1 {
            for candidate in group where !files[candidate.input].isNamed {
                if !ContentCheck.looksLikePicture(files[candidate.input].path) { strangers.insert(candidate.input) }
            }
        }
        return strangers
    }

    private func collisions(_ candidates: [Candidate], _ files: [InputFile]) -> [PlanRefusal] {
        var first: [PathKey: Candidate] = [:]
        first.reserveCapacity(candidates.count)
        var refusals: [PlanRefusal] = []
        for candidate in candidates {
            guard let other = first.updateValue(candidate, forKey: PathKey(candidate.path)) else { continue }
            let inputs = [other, candidate].map { files[$0.input].path }
            refusals.append(
                .init(
                    code: "collision",
                    sentence: inputs[0] == inputs[1]
                        ? "two outputs of \(inputs[0]) go to \(candidate.path); tell them apart with {size} or {format}"
                        : "\(inputs[0]) and \(inputs[1]) both go to \(candidate.path); tell them apart with {type} or "
                            + "{index} in --name"))
        }
        return refusals
    }

    /// Compares what stands at the paths with the journal, and makes items of what is left to do.
    private func settle(
        _ candidates: [Candidate], _ files: [InputFile], _ unfit: [Int: [ItemResult.Failure]],
        journal: ([String]) throws(StoreError) -> [PathKey: KnownOutput],
        job: JobRecord?, _ plan: inout ExportPlan
    ) throws(StoreError) {
        let inputs = Set(files.map(\.key))
        let known = try journal(candidates.map(\.path))
        let settings = SettingsText(specs.map(\.settings))
        var items = files.enumerated().map { index, file in
            ExportPlan.Item(input: file, outputs: [], journal: [], current: [], missing: unfit[index] ?? [])
        }
        for candidate in candidates {
            let found = ExistingFile(candidate.path)
            if let found, inputs.contains(found.key) {
                plan.refusals.append(
                    .init(code: "overwritesInput", sentence: "\(candidate.path) is an input itself"))
                continue
            }
            if let found, !found.isRegular {
                plan.refusals.append(.init(code: "notAFile", sentence: "\(candidate.path) is not a regular file"))
                continue
            }
            let input = files[candidate.input]
            var wanted = PlannedOutput(
                path: candidate.path, input: input.path, inputIdentity: input.identity,
                settings: settings.text(candidate.spec, candidate.format) + cause, foreign: nil)
            let standing = existing.standingOfPicture(
                file: found?.identity, known: known[PathKey(candidate.path)], wanted: wanted, program: program, job: job
            )
            switch standing {
            case .make(let mayReplace, let foreign):
                wanted.foreign = foreign
                items[candidate.input].outputs.append(
                    .init(
                        settings: candidate.spec, format: candidate.format, path: candidate.path,
                        mayReplace: mayReplace))
                items[candidate.input].journal.append(wanted)
            case .current(let output): items[candidate.input].current.append(output)
            case .occupied(let other):
                items[candidate.input].missing.append(
                    .init(
                        code: InputRecord.outputExists, reason: Standing.occupation(of: candidate.path, madeFrom: other)
                    ))
            case .refused:
                plan.refusals.append(.init(code: "outputExists", sentence: "\(candidate.path) exists already"))
            }
        }
        for (index, item) in items.enumerated() {
            if let unfit = unfit[index], unfit.count == specs.count {
                plan.settled.append(self.unfit(item.input, unfit))
            } else if item.outputs.isEmpty {
                var record = InputRecord(item.input, current: item.current)
                record.addMissing(item.missing)
                plan.settled.append(record)
            } else {
                plan.items.append(item)
            }
        }
    }
}
