import ChunkedCompute
import ImageCodecs
import ImageExport
import SystemText
import TaskStore

extension ExportPlanner {
    /// Bytes that a name and a path may have on Linux file systems (`NAME_MAX`, and `PATH_MAX` without its zero).
    private static let maxNameBytes = 255
    private static let maxPathBytes = 4095

    /// Leaves out of a walk what bgrun made from other inputs of this very command: a picture and what was made from
    /// it are not both exported. What was made from elsewhere, or is named itself, is an input like any other.
    func withoutOwnOutputs(
        _ scan: InputScan, _ journal: JournalReader, _ passedOver: inout [InputRecord]
    ) throws(StoreError) -> InputFiles {
        let files = scan.files
        var mayBeOurs = false
        for root in scan.roots where !mayBeOurs { mayBeOurs = try journal.knowsOf(root) }
        guard mayBeOurs else { return files }
        var ours: Set<Int> = []
        for start in stride(from: 0, to: files.count, by: Self.pathsAtOnce) {
            let part = (start..<min(start + Self.pathsAtOnce, files.count)).filter { !files.isNamed($0) }
            let known = try journal.known(part.map { files.path(of: $0) })
            guard !known.isEmpty else { continue }
            for place in part {
                let path = files.path(of: place)
                guard let output = known[PathKey(path)], output.wrote(files.identity(of: place)),
                    let source = output.input, scan.roots.contains(where: { CanonicalPath.isBelow(source, $0) })
                else { continue }
                ours.insert(place)
                passedOver.append(
                    InputRecord(passedOver: path, "ownOutput", "bgrun made it from \(source), which is an input"))
            }
        }
        return ours.isEmpty ? files : files.keeping { !ours.contains($0) }
    }

    /// Looks at the paths of all outputs.
    func survey(_ files: InputFiles, _ naming: OutputNaming) -> OutputSurvey {
        var promised: Set<[String]> = []
        return OutputSurvey(
            files, naming,
            obstacle: { candidate in
                guard let (code, reason) = obstacle(candidate) else { return nil }
                return .init(
                    code: code,
                    reason: specs.count == 1 ? reason : "\(candidate.path) cannot be made: \(reason)")
            }, promise: { candidate in misnamed(candidate, naming, &promised) })
    }

    /// Files of a walk that share a path with another input and are no pictures: they take no part.
    func strangersInCollisions(_ survey: OutputSurvey) -> Set<Int> {
        var strangers: Set<Int> = []
        for (first, others) in survey.alike {
            for number in [first] + others {
                let file = survey.input(of: number)
                guard !file.isNamed, !ContentCheck.looksLikePicture(file.path) else { continue }
                strangers.insert(number / specs.count)
            }
        }
        return strangers
    }

    func collisions(_ survey: OutputSurvey) -> [PlanRefusal] {
        survey.collisions.flatMap { group in
            zip(group, group.dropFirst()).map { pair in
                let inputs = [survey.input(of: pair.0).path, survey.input(of: pair.1).path]
                let path = survey.path(of: pair.0) ?? ""
                return PlanRefusal(
                    code: "collision",
                    sentence: PathKey(inputs[0]) == PathKey(inputs[1])
                        ? "two outputs of \(inputs[0]) go to \(path); tell them apart with {size} or {format}"
                        : "\(inputs[0]) and \(inputs[1]) both go to \(path); tell them apart with {type} or "
                            + "{index} in --name")
            }
        }
    }

    /// An input of which nothing can be made.
    func unfit(_ file: InputFile, _ failures: [ItemResult.Failure]) -> InputRecord {
        guard file.isNamed || ContentCheck.looksLikePicture(file.path) else { return InputRecord(notAPicture: file) }
        return InputRecord(
            input: file.path, status: .failed, code: failures.first?.code,
            reason: failures.map(\.reason).joined(separator: "; "), inputBytes: Int(file.identity.size))
    }

    private func obstacle(_ candidate: OutputSurvey.Candidate) -> (code: String, reason: String)? {
        let format = specs[candidate.spec].settings.format ?? .written(forInputNamed: candidate.file.name)
        let count = candidate.path.systemByteCount
        if count > Self.maxPathBytes {
            return ("nameTooLong", "the path of its output has \(count) bytes; \(Self.maxPathBytes) are possible")
        }
        let slash = CChar(UInt8(ascii: "/"))
        let longest =
            count <= Self.maxNameBytes
            ? 0 : candidate.path.systemBytes.dropLast().split(separator: slash).map(\.count).max() ?? 0
        if longest > Self.maxNameBytes {
            return ("nameTooLong", "the name of its output has \(longest) bytes; \(Self.maxNameBytes) are possible")
        }
        if let need = specs[candidate.spec].need(for: format) {
            return ("needsBits", "\(need), and its output is \(format.rawValue)")
        }
        if specs[candidate.spec].settings.maxBytes != nil && !format.hasQuality {
            return (
                "needsQuality",
                "--max-bytes lowers the quality, and its output is \(format.rawValue), which has none"
            )
        }
        if specs[candidate.spec].settings.lossless && !format.canBeLossless {
            return (
                "needsLossless",
                "--lossless needs a format that can be, as --format webp or png, and its output is "
                    + format.rawValue
            )
        }
        return nil
    }

    /// A name that promises another format than what would be in the file, each ending once.
    private func misnamed(
        _ candidate: OutputSurvey.Candidate, _ naming: OutputNaming, _ promised: inout Set<[String]>
    ) -> PlanRefusal? {
        let (path, format) = (candidate.path, naming.format(of: candidate.spec, candidate.file))
        guard PictureNames.promisePicture(path), let ending = PictureNames.fileExtension(path),
            !format.endings.contains(ending), promised.insert([format.rawValue, ending]).inserted
        else { return nil }
        let other = try? OutputSpec.format(ending)
        let way = other.map { ", or ask for --format \($0.rawValue)" } ?? ""
        return PlanRefusal(
            code: "misnamed", sentence: "\(path) would hold \(format.name); end the name in .{ext}\(way)")
    }

    /// Outputs at whose path other outputs need a folder.
    func filesInTheWayOfFolders(_ survey: inout OutputSurvey) -> [PlanRefusal] {
        survey.filesInTheWay().map { path, output in
            PlanRefusal(
                code: "collision", sentence: "\(path) would be an output and also the folder of \(output)")
        }
    }
}

extension InputRecord {
    init(passedOver path: String, _ code: String, _ reason: String) {
        self.init(input: path, status: .skipped, code: code, reason: reason)
    }
}
