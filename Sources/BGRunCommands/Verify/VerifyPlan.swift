import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import SystemText
import TaskStore

/// Which pictures of a folder are to be looked at, and what is known without opening any.
struct VerifyPlan: WorkPlan {
    /// Pictures that are to be looked at, and what was recorded of each, by their places.
    private var files = InputFiles()
    private var recorded = CurrentOutputs()
    private var jobs: [UInt32] = []
    private(set) var settled: [InputRecord] = []
    /// Files that bgrun did not make.
    private(set) var passedOver: [InputRecord] = []
    /// As lines for a shell, by the places of their jobs.
    private let commands: [String?]
    private let journal: TaskStore

    let refusals: [PlanRefusal] = []
    /// Nothing is written.
    let outputFolders: Set<String> = []

    init(_ folder: String, _ scan: InputScan, _ journal: TaskStore) throws(StoreError) {
        self.journal = journal
        var (files, recorded, jobs) = (InputFiles(), CurrentOutputs(), [UInt32]())
        var missing: [(made: MadeRecord, job: Int)] = []
        var places: [Int64: Int] = [:]
        try journal.forEachPicture(below: folder) { made in
            let job = places[made.job] ?? places.count
            places[made.job] = job
            guard let file = InputFile(output: made.output.path) else { return missing.append((made, job)) }
            recorded.append(files.count, made)
            files.append(file)
            jobs.append(UInt32(job))
        }
        (self.files, self.recorded, self.jobs) = (files, recorded, jobs)
        let texts = try journal.commands(of: Set(places.keys))
        var commands = [String?](repeating: nil, count: places.count)
        for (job, place) in places { commands[place] = RecordedCommand(journaled: texts[job])?.shellText }
        self.commands = commands
        settled = missing.map { made, job in
            let stands = Self.whatStands(at: made.output.path)
            let isGone = Self.isGone(made.input)
            return InputRecord(
                input: made.output.path, status: .failed, code: "missing",
                reason: isGone
                    ? "\(stands ?? "it is not there"), and \(Self.absence(of: made.input))"
                    : "it was made from \(made.input), and \(stands ?? "is not there")",
                remedy: isGone ? nil : commands[job])
        }
        guard inputCount > 0 else { return }
        try passOverOthers(scan, gone: Set(missing.map { PathKey($0.made.output.path) }))
    }

    /// Notes what lies there and is none of the pictures.
    private mutating func passOverOthers(_ scan: InputScan, gone: Set<PathKey>) throws(StoreError) {
        var table = PlaceTable()
        for place in files.indices {
            let path = files.path(of: place)
            _ = table.insert(place, hash: PlaceTable.hash(path)) { [files] in
                PathKey(files.path(of: $0)) == PathKey(path)
            }
        }
        var others: [String] = []
        for place in scan.files.indices {
            let path = scan.files.path(of: place)
            let known = table.place(hash: PlaceTable.hash(path)) { [files] in
                PathKey(files.path(of: $0)) == PathKey(path)
            }
            if known == nil, !gone.contains(PathKey(path)) { others.append(path) }
        }
        let known = try journal.known(others)
        for path in others where known[PathKey(path)]?.made == nil {
            let wasBegun = known[PathKey(path)]?.intent != nil
            passedOver.append(
                InputRecord(
                    passedOver: path, wasBegun ? "unrecorded" : "unknown",
                    wasBegun ? "its job was killed before it was recorded" : "bgrun did not make it"))
        }
    }

    /// What stands at the path of an output in place of a file, in words; nil where nothing does.
    private static func whatStands(at path: String) -> String? {
        var status = stat()
        guard stat(path.systemBytes, &status) == 0 else {
            return lstat(path.systemBytes, &status) == 0 ? "a link that leads nowhere stands there" : nil
        }
        return "a \(InputScan.kind(status)) stands there"
    }

    /// Whether there is surely no file at the path of an input, so that no command makes anything of it. One that cannot be
    /// looked at may be there.
    private static func isGone(_ path: String) -> Bool {
        var status = stat()
        guard stat(path.systemBytes, &status) == 0 else { return [ENOENT, ENOTDIR, ELOOP].contains(errno) }
        return status.st_mode & S_IFMT != S_IFREG
    }

    private static func absence(of input: String) -> String { "its input \(input) is not there any more" }

    var itemCount: Int { files.count }
    var inputCount: Int { files.count + settled.count }
    var haveOneInput: Bool { true }

    var passedOverNote: String? {
        guard inputCount > 0 else { return "no export into it is known" }
        guard !passedOver.isEmpty else { return nil }
        let more = passedOver.count - JobLedger.maxListed
        return "not known as made by bgrun: "
            + passedOver.prefix(JobLedger.maxListed).map(\.input).joined(separator: ", ")
            + (more > 0 ? " and \(more) more; --report lists all" : "")
    }

    func inputs(of item: Int) -> [InputFile] { [files[item]] }

    func inputBytes(of item: Int) -> Int64 { files.identity(of: item).size }

    func intents(of item: Int) -> [PlannedOutput] { [] }

    func order(of item: Int, lane: LaneChoice, limits: DecodeLimits) -> WorkOrder {
        guard let output = recorded[item] else { preconditionFailure("a picture without what was recorded of it") }
        // It was made by whoever allowed so many.
        var limits = limits
        limits.maxPixels = max(limits.maxPixels, output.width * output.height)
        return .verify(
            VerifyItem(
                path: files.path(of: item), bytes: output.bytes, width: output.width, height: output.height,
                checksum: output.checksum, limits: limits))
    }

    func records(of item: Int, _ result: ItemResult, device: String, seconds: Double) -> [InputRecord] {
        let file = files[item]
        var record = InputRecord(file, result, current: [], device: device, seconds: seconds)
        guard record.isFailure else { return [record] }
        // What it was made from is not kept for those that pass. A journal that cannot be read now has no remedy.
        guard let made = (try? journal.known([file.path]))?[PathKey(file.path)]?.made else { return [record] }
        if Self.isGone(made.input) {
            let reasons = [record.reason, Self.absence(of: made.input)].compactMap(\.self)
            record.reason = reasons.joined(separator: "; ")
        } else {
            record.remedy = commands[Int(jobs[item])]
        }
        return [record]
    }
}

extension InputFile {
    /// A file that stands at the path of an output; nil where none does. A link counts as what it leads to.
    fileprivate init?(output path: String) {
        var status = stat()
        guard stat(path.systemBytes, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(
            path: path, folder: "", name: SystemFile.name(path), identity: FileIdentity(status),
            key: FileKey(status), isNamed: true)
    }
}
