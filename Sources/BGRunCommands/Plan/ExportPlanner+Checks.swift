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
        _ scan: InputScan, _ journal: ([String]) throws(StoreError) -> [PathKey: KnownOutput],
        _ plan: inout ExportPlan
    ) throws(StoreError) -> [InputFile] {
        let known = try journal(scan.files.filter { !$0.isNamed }.map(\.path))
        guard !known.isEmpty else { return scan.files }
        var files: [InputFile] = []
        for file in scan.files {
            guard !file.isNamed, let output = known[PathKey(file.path)], output.wrote(file.identity),
                let source = output.input, scan.roots.contains(where: { CanonicalPath.isBelow(source, $0) })
            else {
                files.append(file)
                continue
            }
            plan.passedOver.append(
                InputRecord(passedOver: file.path, "ownOutput", "bgrun made it from \(source), which is an input"))
        }
        return files
    }

    /// Takes out what cannot be made, whatever is in the pictures.
    ///
    /// - Returns: By input, why.
    func withoutUnfit(_ candidates: inout [Candidate]) -> [Int: [ItemResult.Failure]] {
        var unfit: [Int: [ItemResult.Failure]] = [:]
        candidates.removeAll { candidate in
            guard let (code, reason) = obstacle(candidate) else { return false }
            let sentence = specs.count == 1 ? reason : "\(candidate.path) cannot be made: \(reason)"
            unfit[candidate.input, default: []].append(.init(code: code, reason: sentence))
            return true
        }
        return unfit
    }

    /// An input of which nothing can be made.
    func unfit(_ file: InputFile, _ failures: [ItemResult.Failure]) -> InputRecord {
        guard file.isNamed || ContentCheck.looksLikePicture(file.path) else { return InputRecord(notAPicture: file) }
        return InputRecord(
            input: file.path, status: .failed, code: failures.first?.code,
            reason: failures.map(\.reason).joined(separator: "; "), inputBytes: Int(file.identity.size))
    }

    private func obstacle(_ candidate: Candidate) -> (code: String, reason: String)? {
        let count = candidate.path.systemByteCount
        if count > Self.maxPathBytes {
            return ("nameTooLong", "the path of its output has \(count) bytes; \(Self.maxPathBytes) are possible")
        }
        let longest =
            count <= Self.maxNameBytes
            ? 0 : candidate.path.systemBytes.split(separator: CChar(UInt8(ascii: "/"))).map(\.count).max() ?? 0
        if longest > Self.maxNameBytes {
            return ("nameTooLong", "the name of its output has \(longest) bytes; \(Self.maxNameBytes) are possible")
        }
        if let need = specs[candidate.spec].need(for: candidate.format) {
            return ("needsBits", "\(need), and its output is \(candidate.format.rawValue)")
        }
        if specs[candidate.spec].settings.maxBytes != nil && !candidate.format.hasQuality {
            return (
                "needsQuality",
                "--max-bytes lowers the quality, and its output is \(candidate.format.rawValue), which has none"
            )
        }
        if specs[candidate.spec].settings.lossless && !candidate.format.canBeLossless {
            return (
                "needsLossless",
                "--lossless needs a format that can be, as --format webp or png, and its output is "
                    + candidate.format.rawValue
            )
        }
        return nil
    }

    /// Names that promise another format than what would be in the file, each ending once.
    func misnamed(_ candidates: [Candidate]) -> [PlanRefusal] {
        var seen: Set<[String]> = []
        return candidates.compactMap { candidate in
            let (path, format) = (candidate.path, candidate.format)
            guard PictureNames.promisePicture(path), let ending = PictureNames.fileExtension(path),
                !format.endings.contains(ending), seen.insert([format.rawValue, ending]).inserted
            else { return nil }
            let other = try? OutputSpec.format(ending)
            let way = other.map { ", or ask for --format \($0.rawValue)" } ?? ""
            return PlanRefusal(
                code: "misnamed",
                sentence: "\(path) would hold \(format.name); end the name in .{ext}\(way)")
        }
    }

    /// Outputs at whose path other outputs need a folder.
    func filesInTheWayOfFolders(_ candidates: [Candidate]) -> [PlanRefusal] {
        let paths = Set(candidates.map { PathKey($0.path) })
        var seen: Set<PathKey> = []
        var refusals: [PlanRefusal] = []
        for candidate in candidates {
            var parent = OutputFolderGuard.parent(candidate.path)
            while parent.utf8.count > folder.utf8.count, seen.insert(PathKey(parent)).inserted {
                if paths.contains(PathKey(parent)) {
                    refusals.append(
                        .init(
                            code: "collision",
                            sentence: "\(parent) would be an output and also the folder of \(candidate.path)"))
                }
                parent = OutputFolderGuard.parent(parent)
            }
        }
        return refusals
    }
}

extension ExportPlan {
    /// Looks at the first bytes of what is to be done, and settles what is no picture.
    mutating func checkContents() {
        items.removeAll { item in
            guard !ContentCheck.looksLikePicture(item.input.path) else { return false }
            settled.append(
                item.input.isNamed || PictureNames.promisePicture(item.input.name)
                    ? InputRecord(
                        input: item.input.path, status: .failed, code: "unknownFormat",
                        reason: "the file is not a picture that bgrun reads",
                        inputBytes: Int(item.input.identity.size))
                    : InputRecord(notAPicture: item.input))
            return true
        }
    }
}

extension InputRecord {
    init(passedOver path: String, _ code: String, _ reason: String) {
        self.init(input: path, status: .skipped, code: code, reason: reason)
    }
}
