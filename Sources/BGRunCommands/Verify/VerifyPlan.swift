import ChunkedCompute
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import SystemText
import TaskStore

/// Which pictures of a folder are to be looked at, and what is known without opening any.
struct VerifyPlan: WorkPlan {
    private struct Item {
        var file: InputFile
        var made: MadeRecord
    }

    private var items: [Item] = []
    private(set) var settled: [InputRecord] = []
    /// Files that bgrun did not make.
    private(set) var passedOver: [InputRecord] = []
    /// By job, as lines for a shell.
    private let commands: [Int64: String]

    let refusals: [PlanRefusal] = []
    /// Nothing is written.
    let outputFolders: Set<String> = []

    init(_ folder: String, _ scan: InputScan, _ journal: TaskStore) throws(StoreError) {
        let made = try journal.pictures(below: folder)
        commands = try journal.commands(of: Set(made.map(\.job))).compactMapValues {
            RecordedCommand(journaled: $0)?.shellText
        }
        for made in made {
            if let file = InputFile(output: made.output.path) {
                items.append(Item(file: file, made: made))
            } else {
                let stands = Self.whatStands(at: made.output.path)
                let isGone = Self.isGone(made.input)
                settled.append(
                    InputRecord(
                        input: made.output.path, status: .failed, code: "missing",
                        reason: isGone
                            ? "\(stands ?? "it is not there"), and \(Self.absence(of: made.input))"
                            : "it was made from \(made.input), and \(stands ?? "is not there")",
                        remedy: isGone ? nil : commands[made.job]))
            }
        }
        guard !made.isEmpty else { return }
        let pictures = Set(made.map { PathKey($0.output.path) })
        let others = scan.files.map(\.path).filter { !pictures.contains(PathKey($0)) }
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

    var itemCount: Int { items.count }
    var inputCount: Int { items.count + settled.count }

    var passedOverNote: String? {
        guard inputCount > 0 else { return "no export into it is known" }
        guard !passedOver.isEmpty else { return nil }
        let more = passedOver.count - JobLedger.maxListed
        return "not known as made by bgrun: "
            + passedOver.prefix(JobLedger.maxListed).map(\.input).joined(separator: ", ")
            + (more > 0 ? " and \(more) more; --report lists all" : "")
    }

    func inputs(of item: Int) -> [InputFile] { [items[item].file] }

    func intents(of item: Int) -> [PlannedOutput] { [] }

    func order(of item: Int, lane: LaneChoice, limits: DecodeLimits) -> WorkOrder {
        let output = items[item].made.output
        // It was made by whoever allowed so many.
        var limits = limits
        limits.maxPixels = max(limits.maxPixels, output.width * output.height)
        return .verify(
            VerifyItem(
                path: output.path, bytes: Int(output.identity.size), width: output.width, height: output.height,
                checksum: output.checksum, limits: limits))
    }

    func records(of item: Int, _ result: ItemResult, device: String, seconds: Double) -> [InputRecord] {
        let item = items[item]
        var record = InputRecord(item.file, result, current: [], device: device, seconds: seconds)
        guard record.isFailure else { return [record] }
        if Self.isGone(item.made.input) {
            let reasons = [record.reason, Self.absence(of: item.made.input)].compactMap(\.self)
            record.reason = reasons.joined(separator: "; ")
        } else {
            record.remedy = commands[item.made.job]
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
