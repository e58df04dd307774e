import Foundation
import SystemText
import TaskModel

/// Takes down how each input ended: counts, the report file, the list of failures, the live line.
final class JobLedger {
    struct Counts: Codable, Hashable, Sendable {
        var good = 0
        var damaged = 0
        var failed = 0
        /// Outputs were there already.
        var current = 0
        var notPictures = 0
    }

    private(set) var counts = Counts()
    private(set) var megapixels = 0.0
    private(set) var inputBytes = 0
    private(set) var outputBytes = 0
    private(set) var outputCount = 0
    /// Failed and damaged inputs, as far as they are listed.
    private(set) var problems: [InputRecord] = []
    private(set) var problemCount = 0
    /// Passed-over files by the extension of their names, with its dot.
    private(set) var strangers: [String: Int] = [:]
    /// The device that made pictures, where one other than the CPU did.
    private(set) var device: String?
    private let report: ReportFile?
    private(set) var audience: any JobAudience
    private let keepsAllProblems: Bool

    static let maxListed = 20

    init(report: ReportFile?, audience: any JobAudience, keepsAllProblems: Bool) {
        self.report = report
        self.audience = audience
        self.keepsAllProblems = keepsAllProblems
    }

    func add(_ record: InputRecord) {
        switch (record.status, record.code) {
        case (.good, _): counts.good += 1
        case (.damaged, _): counts.damaged += 1
        case (.failed, _): counts.failed += 1
        case (.skipped, "notAPicture"): counts.notPictures += 1
        case (.skipped, _): counts.current += 1
        }
        if record.status != .skipped {
            if record.status != .failed { megapixels += Double(record.inputPixels) / 1e6 }
            inputBytes += record.inputBytes
            outputCount += record.outputs.count
            outputBytes += record.outputs.reduce(0) { $0 + $1.bytes }
        }
        if record.isFailure {
            problemCount += 1
            if keepsAllProblems || problems.count < Self.maxListed { problems.append(record) }
        }
        if record.code == "notAPicture" {
            let name = PictureNames.fileExtension(SystemFile.name(record.input))
            strangers[name.map { "." + $0 } ?? "without extension", default: 0] += 1
        }
        if let used = record.device, used != "cpu", record.status != .failed { device = used }
        report?.add(record)
    }

    /// Whether anybody would see progress that is told now.
    var wantsProgress: Bool { audience.wantsProgress }

    func progress(_ snapshot: ProgressSnapshot, device: String, force: Bool) {
        audience.show(snapshot, device: device, force: force)
    }

    /// Tells that something begins which takes long and makes no countable progress.
    func phase(_ text: String) { audience.phase(text) }

    /// Tells the person something while the job runs.
    func note(_ text: String) { audience.note(text) }

    /// Tells that the job was asked to stop.
    func stopping(_ reason: StopReason, _ text: String) { audience.stopping(reason, text) }

    /// Tells how the job ended.
    func ended(_ outcome: TaskOutcome, _ summary: WorkSummary, text: String?) {
        audience.ended(outcome, summary, text: text)
    }
}
