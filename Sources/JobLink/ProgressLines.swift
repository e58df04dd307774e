import SystemText
import TaskModel

/// The line protocol by which any command tells its progress, on the descriptor that `BGRUN_PROGRESS_FD` names.
///
///     progress 12 100      12 of 100 units are done
///     progress 12          12 are done, of a number that is not known
///     phase loading model  alive, without countable progress
///     note 3 files skipped a sentence for the person
///
/// Lines end with a newline; others are passed over.
package struct ProgressLines: Sendable {
    /// What is longer is no line of this protocol.
    private static let maxLine = 4096

    private var rest: [UInt8] = []

    package init() {}

    /// - Returns: What the lines that are complete now say.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> [JobReport] {
        var reports: [JobReport] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                if rest.count < Self.maxLine { rest.append(byte) }
                continue
            }
            if rest.count < Self.maxLine, let report = Self.report(String(system: rest)) {
                reports.append(report)
            }
            rest = []
        }
        return reports
    }

    private static func report(_ line: String) -> JobReport? {
        let words = line.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let text = String(words[1])
        switch words[0] {
        case "progress":
            let numbers = text.split(separator: " ").map { Double($0) }
            guard let done = numbers.first ?? nil, done.isFinite, done >= 0, done < 1e15 else { return nil }
            let total = numbers.count > 1 ? numbers[1] : nil
            guard numbers.count == 1 || total.map({ $0.isFinite && $0 > 0 && $0 < 1e15 }) == true else { return nil }
            return .progress(
                ProgressSnapshot(
                    itemsDone: Int(done), itemsTotal: Int(total ?? 0), failures: 0,
                    fraction: total.map { min(done / $0, 1) } ?? 0, megapixelsPerSecond: 0, secondsLeft: nil),
                device: "")
        case "phase": return .phase(text)
        case "note": return .note(text)
        default: return nil
        }
    }
}
