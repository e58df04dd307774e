import Foundation
import TaskModel

/// What a job did, told at its end.
struct WorkSummary: Encodable {
    private struct Problem: Encodable {
        var input: String
        var code: String?
        var reason: String?
        /// The command that makes it anew, where that is known.
        var remedy: String?
    }

    private var outcome: String
    private var counts: JobLedger.Counts
    /// Inputs without a result, left to the next run.
    private var left: Int
    /// Inputs that were in work when the grace time after a stop was over; they are among those left.
    private var abandoned: Int
    private var continued: Bool
    /// What ran the kernels: `cpu`, or the device that did at least one input.
    private var device: String
    private var outputs: Int
    private var outputBytes: Int
    private var seconds: Double
    private var megapixelsPerSecond: Double
    private var problems: [Problem]
    private var problemCount: Int
    /// Passed-over files by extension.
    private var passedOver: [String: Int]
    /// Files among the outputs that are none.
    private var unknown: [String]?

    /// Not told to programs.
    private var words: WorkWords

    private enum CodingKeys: CodingKey {
        case outcome, counts, left, abandoned, continued, device, outputs, outputBytes, seconds, megapixelsPerSecond
        case problems, problemCount, passedOver, unknown
    }

    init(
        _ words: WorkWords, outcome: TaskOutcome, ledger: JobLedger, left: Int, abandoned: Int, continued: Bool,
        unknown: [String], seconds: Double
    ) {
        self.words = words
        self.outcome = outcome.code
        self.left = left
        self.abandoned = abandoned
        device = ledger.device ?? "cpu"
        passedOver = ledger.strangers
        self.unknown = unknown.isEmpty ? nil : unknown
        self.continued = continued
        self.seconds = (seconds * 1000).rounded() / 1000
        counts = ledger.counts
        outputs = ledger.outputCount
        outputBytes = ledger.outputBytes
        megapixelsPerSecond = seconds > 0 ? (ledger.megapixels / seconds * 10).rounded() / 10 : 0
        problems = ledger.problems.map {
            Problem(input: $0.input, code: $0.code ?? $0.status.rawValue, reason: $0.reason, remedy: $0.remedy)
        }
        problemCount = ledger.problemCount
    }

    /// The same with fewer problems listed; all are counted.
    func listing(atMost count: Int) -> WorkSummary {
        var shorter = self
        shorter.problems = Array(problems.prefix(count))
        shorter.unknown = unknown.map { Array($0.prefix(count)) }
        return shorter
    }

    /// Some sentences for a person.
    func text(folder: String) -> String {
        let done = counts.good + counts.damaged
        var line =
            done == 0
            ? "No \(words.input) was \(words.done)"
            : "\(words.done.capitalized) \(Self.count(done, words.input)) \(words.place) \(folder.onOneLine)"
        line += " in \(seconds < 10 ? (seconds * 10).rounded() / 10 : seconds.rounded()) s"
        if megapixelsPerSecond > 0 {
            line += " (\(Int(megapixelsPerSecond.rounded())) MP/s)"
        } else if done > 0, seconds > 0 {
            let rate = Double(done) / seconds
            line += " (\(rate < 10 ? (rate * 10).rounded() / 10 : rate.rounded()) a second)"
        }
        var parts: [String] = []
        if counts.current > 0 {
            parts.append("\(counts.current) \(counts.current == 1 ? "was" : "were") there already")
        }
        if counts.notPictures > 0 {
            let were = counts.notPictures == 1 ? "was" : "were"
            parts.append("\(Self.count(counts.notPictures, "other file")) \(were) passed over (\(passedOverNames))")
        }
        if left > 0 { parts.append("\(left) \(left == 1 ? "is" : "are") left") }
        if abandoned > 0 {
            parts.append("\(Self.count(abandoned, words.input)) in work \(abandoned == 1 ? "was" : "were") given up")
        }
        var text = line + (parts.isEmpty ? "" : "; " + parts.joined(separator: ", ")) + ".\n"
        guard problemCount > 0 else { return text }
        let salvaged = counts.damaged
        let standing =
            salvaged == 0
            ? "" : ", of which \(salvaged) \(salvaged == 1 ? "was" : "were") \(words.done) as far as possible"
        text += "\(problemCount) with problems\(standing):\n"
        for problem in problems.prefix(JobLedger.maxListed) {
            text += "  \(problem.input): \(problem.code ?? ""): \(problem.reason ?? "")".onOneLine + "\n"
        }
        if problemCount > JobLedger.maxListed {
            text += "  and \(problemCount - JobLedger.maxListed) more; --report lists all\n"
        }
        let remedies = Set(problems.compactMap(\.remedy)).sorted()
        if !remedies.isEmpty {
            let them = problems.allSatisfy { $0.remedy != nil } ? "them" : "the others"
            text += "This makes \(them) anew, once what is damaged or changed is removed:\n"
            for remedy in remedies { text += "  \(remedy.onOneLine)\n" }
        }
        return text
    }

    /// The most frequent extensions of what was passed over.
    private var passedOverNames: String {
        let names = passedOver.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        return names.prefix(5).joined(separator: ", ").onOneLine + (names.count > 5 ? ", ..." : "")
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
