import Foundation
import TaskModel

/// Prices of power, or grams of carbon, by the hour, and the limit above which work waits.
///
/// The file is JSON: `[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": 31.5}, ...]`.
package struct PriceFile: Hashable, Sendable {
    /// The spans whose value is above the limit, seconds since 1970. Times that no entry covers are allowed.
    package let blocked: [Range<Duration>]
    package let limit: Double
    /// When the last entry ends; nil for a file without entries.
    package let coveredUntil: Duration?

    /// One more than any sensible file has: a year of five-minute steps.
    private static let mostEntries = 200_000

    /// Reads the content of a file.
    ///
    /// - Throws: ``AllowedHoursError`` with code `priceFile` for what is no such file, or `priceEntry`, which names the
    ///   entry, counted from 1.
    package init(json: [UInt8], limit: Double) throws(AllowedHoursError) {
        guard limit.isFinite else {
            throw Self.mistake("priceFile", "The price limit is not a number.", "Give a limit such as 30.")
        }
        let parsed: Any
        do {
            parsed = try JSONSerialization.jsonObject(with: Data(json), options: [.fragmentsAllowed])
        } catch {
            throw Self.mistake("priceFile", "The price file is not JSON.")
        }
        guard let entries = parsed as? [Any] else { throw Self.mistake("priceFile", "The price file is not an array.") }
        guard entries.count <= Self.mostEntries else {
            throw Self.mistake(
                "priceFile", "The price file has \(entries.count) entries, more than \(Self.mostEntries).")
        }
        var blocked: [Range<Duration>] = []
        var coveredUntil: Duration?
        for (index, entry) in entries.enumerated() {
            let (span, value) = try Self.entry(entry, number: index + 1)
            if value > limit { blocked.append(span) }
            coveredUntil = max(coveredUntil ?? span.upperBound, span.upperBound)
        }
        self.blocked = blocked
        self.limit = limit
        self.coveredUntil = coveredUntil
    }

    /// Reads a file.
    ///
    /// - Throws: ``AllowedHoursError`` as for a content, and with code `priceFileMissing` for what cannot be read.
    package init(path: String, limit: Double) throws(AllowedHoursError) {
        // A file is read whole: 64 MiB is far more than the most entries take.
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        guard size <= 64 << 20 else { throw Self.mistake("priceFile", "The price file \(path) is larger than 64 MiB.") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Self.mistake(
                "priceFileMissing", "The price file \(path) cannot be read.",
                "Name a file that exists and is yours to read.")
        }
        try self.init(json: Array(data), limit: limit)
    }

    private static func entry(_ entry: Any, number: Int) throws(AllowedHoursError) -> (Range<Duration>, Double) {
        func mistake(_ reason: String) -> AllowedHoursError {
            Self.mistake("priceEntry", "Entry \(number) of the price file cannot be used: \(reason).")
        }

        guard let fields = entry as? [String: Any] else { throw mistake("it is not an object") }
        func date(_ name: String) throws(AllowedHoursError) -> Date {
            guard let field = fields[name] else { throw mistake("\"\(name)\" is missing") }
            guard let text = field as? String, let date = try? Date(text, strategy: .iso8601),
                abs(date.timeIntervalSince1970) < 1e11
            else {
                throw mistake("\"\(name)\" is not a time such as 2026-03-01T00:00:00Z")
            }
            return date
        }
        let start = try date("start")
        let end = try date("end")
        guard start < end else { throw mistake("it ends before it begins") }
        guard let field = fields["value"] else { throw mistake("\"value\" is missing") }
        // A number and a truth value are the same class; the latter is stored as a character.
        guard let number = field as? NSNumber, String(cString: number.objCType) != "c", number.doubleValue.isFinite
        else { throw mistake("\"value\" is not a number") }
        return (Duration(since1970: start)..<Duration(since1970: end), number.doubleValue)
    }

    private static func mistake(
        _ code: String, _ sentence: String,
        _ fix: String =
            "Write it as [{\"start\": \"2026-03-01T00:00:00Z\", \"end\": \"2026-03-01T01:00:00Z\", \"value\": 31.5}]."
    ) -> AllowedHoursError {
        AllowedHoursError(diagnostic: Diagnostic(code: code, sentence: sentence, fix: fix))
    }
}
