import Foundation
import Glibc
import TaskModel

/// What an export did, told at its end.
struct ExportSummary: Encodable {
    private struct Problem: Encodable {
        var input: String
        var code: String?
        var reason: String?
    }

    private var outcome: String
    private var counts: ExportLedger.Counts
    /// Inputs without a result, left to the next run.
    private var left: Int
    private var continued: Bool
    private var outputs: Int
    private var outputBytes: Int
    private var seconds: Double
    private var megapixelsPerSecond: Double
    private var problems: [Problem]
    private var problemCount: Int

    init(outcome: TaskOutcome, ledger: ExportLedger, left: Int, continued: Bool, seconds: Double) {
        self.outcome = outcome.code
        self.left = left
        self.continued = continued
        self.seconds = (seconds * 1000).rounded() / 1000
        counts = ledger.counts
        outputs = ledger.outputCount
        outputBytes = ledger.outputBytes
        megapixelsPerSecond = seconds > 0 ? (ledger.megapixels / seconds * 10).rounded() / 10 : 0
        problems = ledger.problems.map {
            Problem(input: $0.input, code: $0.code ?? $0.status.rawValue, reason: $0.reason)
        }
        problemCount = ledger.problemCount
    }

    func show(asJSON: Bool, folder: String) {
        if asJSON {
            print(JSONText.encode(self))
            return
        }
        StandardError.write(text(folder: folder))
    }

    private func text(folder: String) -> String {
        let done = counts.good + counts.damaged
        var line = "Exported \(done) \(done == 1 ? "picture" : "pictures") to \(folder)"
        line += " in \(seconds < 10 ? (seconds * 10).rounded() / 10 : seconds.rounded()) s"
        if megapixelsPerSecond > 0 { line += " (\(Int(megapixelsPerSecond.rounded())) MP/s)" }
        var parts: [String] = []
        if counts.current > 0 { parts.append("\(counts.current) were there already") }
        if counts.notPictures > 0 { parts.append("\(counts.notPictures) other files were passed over") }
        if left > 0 { parts.append("\(left) are left") }
        var text = line + (parts.isEmpty ? "" : "; " + parts.joined(separator: ", ")) + ".\n"
        guard problemCount > 0 else { return text }
        text += "\(problemCount) with problems:\n"
        for problem in problems.prefix(ExportLedger.maxListed) {
            text += "  \(problem.input): \(problem.code ?? ""): \(problem.reason ?? "")\n"
        }
        if problemCount > ExportLedger.maxListed {
            text += "  and \(problemCount - ExportLedger.maxListed) more; --report lists all\n"
        }
        return text
    }
}
